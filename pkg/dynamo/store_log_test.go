package dynamo_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// A loggedChange is a change for the tests of the log, named by a letter.
type loggedChange struct {
	name  string
	event flags.Event
}

// loggedChanges are one minute apart, starting at at. Each is of a flag of its own unless it names one.
var loggedChanges = []loggedChange{
	{"a", flags.Event{Type: flags.ProjectCreated, Project: "shop", CreatedBy: "ann", UserID: 7}},
	{"b", flags.Event{Type: flags.FeatureCreated, Project: "shop", FeatureName: "basket", CreatedBy: "ann", UserID: 7}},
	{"c", flags.Event{Type: flags.UserCreated, CreatedBy: "ben", UserID: 17}},
	{"d", flags.Event{Type: flags.FeatureCreated, Project: "shopping", FeatureName: "other", CreatedBy: "ci"}},
	{"e", flags.Event{Type: flags.FeatureEnvironmentEnabled, Project: "shop", FeatureName: "basket", Environment: "production", CreatedBy: "ben", UserID: 17}},
	{"f", flags.Event{Type: flags.FeatureStrategyAdd, Project: "shop", FeatureName: "basket", Environment: "development", CreatedBy: "ci", Data: map[string]any{"title": `50 % "off" ü`}}},
	{"g", flags.Event{Type: flags.ProjectUserAdded, Project: "shop", CreatedBy: "ann", UserID: 7}},
	{"h", flags.Event{Type: flags.FeatureArchived, Project: "shop", FeatureName: "basket", CreatedBy: "7"}},
}

// minute returns the time of the nth logged change.
func minute(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }

// commitLoggedChanges commits the logged changes: those of the flag "basket" to that flag, the others to
// separate flags.
func (t *storeTest) commitLoggedChanges() {
	t.Helper()
	for i, h := range loggedChanges {
		h.event.ID, h.event.CreatedAt = eventID(minute(i)), minute(i)
		w := addition(flag("u1", "f-"+h.name))
		if h.event.FeatureName == "basket" {
			w = addition(flag("u1", "basket"))
			if before := flags.Find[*flags.Feature](t.mustLoad(flags.FeatureKey("basket")), flags.FeatureKey("basket")); before != nil {
				w = write(before, describe(h.name))
			}
		}
		t.mustCommit(flags.Change{Writes: []flags.Write{w}, Event: h.event})
	}
}

// eventID returns an event ID of that time.
func eventID(at time.Time) string {
	id := uuid.Must(uuid.NewV7())
	for i := range 6 {
		id[i] = byte(at.UnixMilli() >> (40 - 8*i)) // the low byte
	}
	return id.String()
}

// letters returns the letters of the logged changes that the events belong to.
func letters(events []flags.Event) string {
	var all strings.Builder
	for _, e := range events {
		i := slices.IndexFunc(loggedChanges, func(h loggedChange) bool {
			return h.event.Type == e.Type && h.event.FeatureName == e.FeatureName && h.event.Project == e.Project
		})
		if i < 0 {
			return fmt.Sprintf("an unknown %+v", e)
		}
		all.WriteString(loggedChanges[i].name)
	}
	return all.String()
}

// log reads all pages of a query and returns their events and number.
func (t *storeTest) log(q flags.LogQuery) (events []flags.Event, pages int) {
	t.Helper()
	for {
		page, err := t.store.Log(t.Context(), q)
		if err != nil {
			t.Fatalf("log %+v: %v", q, reason(err))
		}
		if page.Events == nil || len(page.Events) > q.Limit {
			t.Fatalf("log %+v: %d events (%v), want a list of up to the limit", q, len(page.Events), page.Events)
		}
		events, pages = append(events, page.Events...), pages+1
		if page.Next == "" {
			return events, pages
		}
		if page.Next == q.Cursor {
			t.Fatalf("log %+v: the cursor leads to the same page", q)
		}
		q.Cursor = page.Next
	}
}

var logCases = []testCase{
	{"empty store", func(t *storeTest) {
		for _, q := range []flags.LogQuery{{Limit: 1}, {Limit: 1, Features: []string{"f"}}, {Limit: 1, Projects: []string{"p"}}} {
			if events, _ := t.log(q); len(events) > 0 {
				t.Errorf("%+v has %d events, want none", q, len(events))
			}
		}
	}},
	{"an event with all fields", func(t *storeTest) {
		want := dynamo.FullEvent()
		t.mustCommit(flags.Change{Writes: []flags.Write{addition(flag("u1", "checkout"))}, Event: want})
		for _, q := range []flags.LogQuery{{}, {Features: []string{"checkout"}}, {Projects: []string{"shop"}}} {
			q.Limit = 10
			events, _ := t.log(q)
			if len(events) != 1 {
				t.Fatalf("%+v has %d events, want 1", q, len(events))
			}
			t.wantEvent(events[0], want)
		}
	}},
	{"filters and page sizes, newest first", func(t *storeTest) {
		t.commitLoggedChanges()
		for name, tt := range map[string]struct {
			query flags.LogQuery
			want  string
		}{
			"everything":                        {flags.LogQuery{IncludeReserved: true}, "hgfedcba"},
			"without reserved events":           {flags.LogQuery{}, "hfedba"},
			"a project":                         {flags.LogQuery{IncludeReserved: true, Projects: []string{"shop"}}, "hgfeba"},
			"a project without reserved events": {flags.LogQuery{Projects: []string{"shop"}}, "hfeba"},
			"two projects":                      {flags.LogQuery{Projects: []string{"shop", "shopping"}}, "hfedba"},
			"unknown project":                   {flags.LogQuery{Projects: []string{"sho"}}, ""},
			"a flag":                            {flags.LogQuery{Features: []string{"basket"}}, "hfeb"},
			"two flags":                         {flags.LogQuery{Features: []string{"basket", "other"}}, "hfedb"},
			"a flag of another project":         {flags.LogQuery{Features: []string{"basket"}, Projects: []string{"shopping"}}, ""},
			"a type":                            {flags.LogQuery{Types: []flags.EventType{flags.FeatureCreated}}, "db"},
			"two types":                         {flags.LogQuery{Types: []flags.EventType{flags.FeatureCreated, flags.FeatureArchived}}, "hdb"},
			"a reserved type":                   {flags.LogQuery{Types: []flags.EventType{flags.UserCreated}}, ""},
			"a type in a project":               {flags.LogQuery{Projects: []string{"shop"}, Types: []flags.EventType{flags.FeatureCreated}}, "b"},
			"an environment":                    {flags.LogQuery{Environments: []string{"production"}}, "e"},
			"a name":                            {flags.LogQuery{Actors: []string{"ann"}}, "ba"},
			"a user ID or name":                 {flags.LogQuery{Actors: []string{"7"}}, "hba"},
			"two actors":                        {flags.LogQuery{Actors: []string{"ann", "ci"}}, "fdba"},
			"a text":                            {flags.LogQuery{Text: `"off" ü`}, "f"},
			"another case":                      {flags.LogQuery{Text: "OFF"}, ""},
			"from":                              {flags.LogQuery{From: minute(4)}, "hfe"},
			"to":                                {flags.LogQuery{To: minute(4)}, "edba"},
			"one moment":                        {flags.LogQuery{From: minute(4), To: minute(4)}, "e"},
			"just before":                       {flags.LogQuery{To: minute(4).Add(-time.Millisecond)}, "dba"},
			"just after":                        {flags.LogQuery{From: minute(4).Add(time.Millisecond)}, "hf"},
			"from after to":                     {flags.LogQuery{From: minute(4), To: minute(3)}, ""},
			"before time":                       {flags.LogQuery{From: time.Unix(-5, 0)}, "hfedba"},
			"a flag from":                       {flags.LogQuery{Features: []string{"basket"}, From: minute(4)}, "hfe"},
			"a flag to":                         {flags.LogQuery{Features: []string{"basket"}, To: minute(4)}, "eb"},
			"a flag in an environment":          {flags.LogQuery{Features: []string{"basket"}, Environments: []string{"production"}}, "e"},
			"a project from and to":             {flags.LogQuery{Projects: []string{"shop"}, From: minute(1), To: minute(5)}, "feb"},
		} {
			for _, limit := range []int{1, 2, 3, 100} {
				tt.query.Limit = limit
				events, pages := t.log(tt.query)
				if got := letters(events); got != tt.want {
					t.Errorf("%s, %d at a time: %q, want %q", name, limit, got, tt.want)
				}
				if limit == 100 && pages != 1 {
					t.Errorf("%s: %d pages, want 1", name, pages)
				}
			}
		}
	}},
	{"a full last page has no cursor", func(t *storeTest) {
		t.commitLoggedChanges()
		for _, q := range []flags.LogQuery{{IncludeReserved: true, Limit: 8}, {IncludeReserved: true, Limit: 4, Features: []string{"basket"}}} {
			q.Features = slices.Clone(q.Features)
			if events, pages := t.log(q); pages != 1 || len(events) != q.Limit {
				t.Errorf("%+v: %d events in %d pages, want %d in one", q, len(events), pages, q.Limit)
			}
		}
	}},
	{"events added between pages", func(t *storeTest) {
		t.commitLoggedChanges()
		page, err := t.store.Log(t.Context(), flags.LogQuery{Limit: 3})
		if err != nil {
			t.Fatal(reason(err))
		}
		c := change(flags.FeatureCreated, addition(flag("u1", "later")))
		c.Event.ID = eventID(minute(60))
		t.mustCommit(c)
		rest, _ := t.log(flags.LogQuery{Limit: 3, Cursor: page.Next})
		if got := letters(page.Events) + letters(rest); got != "hfedba" {
			t.Errorf("the pages have %q, want %q", got, "hfedba")
		}
	}},
	{"one entry for a change of several aggregates", func(t *storeTest) {
		t.mustCommit(change(flags.FeatureCreated, addition(flag("u1", "a")), addition(flag("u1", "b"))))
		if events, _ := t.log(flags.LogQuery{Limit: 5}); len(events) != 1 {
			t.Errorf("got %d events, want 1", len(events))
		}
	}},
	{"refused and empty changes are not logged", func(t *storeTest) {
		t.mustAdd(flag("u1", "f"))
		if err := t.commit(change(flags.FeatureCreated, addition(flag("u1", "f")))); err == nil {
			t.Error("a flag was created twice")
		}
		read := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		t.mustCommit(change(flags.FeatureArchived, flags.Write{Before: read, After: read.Clone()}))
		if events, _ := t.log(flags.LogQuery{Limit: 5}); len(events) != 1 {
			t.Errorf("got %d events, want 1", len(events))
		}
	}},
	{"cursors of other queries", func(t *storeTest) {
		t.commitLoggedChanges()
		one := func(q flags.LogQuery) string {
			q.Limit = 1
			page, err := t.store.Log(t.Context(), q)
			if err != nil {
				t.Fatal(reason(err))
			}
			return page.Next
		}
		ofFlag, ofLog := one(flags.LogQuery{Features: []string{"basket"}}), one(flags.LogQuery{IncludeReserved: true})
		events, _ := t.log(flags.LogQuery{Projects: []string{"shopping"}, Limit: 9, Cursor: ofLog})
		if diff := cmp.Diff("d", letters(events)); diff != "" {
			t.Errorf("a cursor of the log in a project (-want +got):\n%s", diff)
		}
		events, _ = t.log(flags.LogQuery{To: minute(3), Limit: 9, Cursor: ofLog})
		if got := letters(events); got != "dba" {
			t.Errorf("a cursor after the last moment: %q, want %q", got, "dba")
		}
		for name, q := range map[string]flags.LogQuery{
			"one of a flag":   {Cursor: ofFlag},
			"one of the log":  {Cursor: ofLog, Features: []string{"basket"}},
			"words":           {Cursor: "next"},
			"too short":       {Cursor: ofLog[:len(ofLog)-1]},
			"too long":        {Cursor: ofLog + "A"},
			"a line end":      {Cursor: ofLog + "\n"},
			"another version": {Cursor: "AAAAAAAAAAAAAAAAAAAAAA"},
			"version 0":       {Cursor: "AAAAAAAAAAA", Features: []string{"basket"}},
			"a great version": {Cursor: "__________8", Features: []string{"basket"}},
			"a key":           {Cursor: `{"pk":"TOKENS"}`, Projects: []string{"shop"}},
		} {
			q.Limit = 5
			_, err := t.store.Log(t.Context(), q)
			if err == nil {
				t.Errorf("%s: no error, want one", name)
				continue
			}
			t.wantKind(err, flags.Invalid)
		}
	}},
}
