package dynamo_test

import (
	"fmt"
	"strings"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// eventLimit is the maximum size of an event's Data and of its PreData, in bytes.
const eventLimit = 64 << 10

var eventCases = []testCase{
	{"no events of an unknown aggregate", func(t *storeTest) {
		if events := t.mustEvents(flag("u1", "ghost")); events == nil || len(events) > 0 {
			t.Errorf("got %#v, want an empty list", events)
		}
	}},
	{"an event with all fields", func(t *storeTest) {
		c := flags.Change{Writes: []flags.Write{addition(flag("u1", "f"))}, Event: dynamo.FullEvent()}
		t.mustCommit(c)
		events := t.mustEvents(flag("u1", "f"))
		if len(events) != 1 {
			t.Fatalf("got %d events, want 1", len(events))
		}
		t.wantEvent(events[0], dynamo.FullEvent())
	}},
	{"one event per commit, oldest first", func(t *storeTest) {
		t.mustAdd(flag("u1", "f"))
		const n = 12 // more than 9, to find numbers that are sorted as text
		for i := 2; i <= n; i++ {
			read := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
			c := change("changed", write(read, describe(fmt.Sprint(i))))
			c.Event.Data = map[string]any{"version": i}
			t.mustCommit(c)
		}
		events := t.mustEvents(flag("u1", "f"))
		if len(events) != n {
			t.Fatalf("got %d events, want %d", len(events), n)
		}
		for i, e := range events[1:] {
			if got, want := asJSON(e.Data), fmt.Sprintf(`{"version":%d}`, i+2); got != want {
				t.Errorf("event %d is of %s, want %s", i+1, got, want)
			}
		}
	}},
	{"several events of one change", func(t *storeTest) {
		several := func(name string, w ...flags.Write) flags.Change {
			c := change("first "+flags.EventType(name), w...)
			c.MoreEvents = []flags.Event{change("second").Event, change("third").Event}
			return c
		}
		t.mustCommit(several("made", addition(flag("u1", "f"))))
		read := mustFind[*flags.Feature](t, flags.FeatureKey("f"))
		other := flag("u1", "g")
		t.mustCommit(several("changed", flags.Write{Before: read, After: read}, write(read, describe("d")), addition(other)))
		t.wantKind(t.commit(several("late", write(read, describe("e")))), flags.VersionConflict)
		t.mustCommit(several("no change", write(mustFind[*flags.Feature](t, flags.FeatureKey("f")), describe("d"))))
		var got []string
		for _, e := range t.mustEvents(flag("u1", "f")) {
			got = append(got, string(e.Type))
		}
		if want := "first made, second, third, first changed, second, third"; strings.Join(got, ", ") != want {
			t.Errorf("events %s, want %s", strings.Join(got, ", "), want)
		}
		if n := len(t.mustEvents(other)); n > 0 {
			t.Errorf("%d events of the second aggregate, want none", n)
		}
		page, err := t.store.Log(t.Context(), flags.LogQuery{Features: []string{"f"}, Limit: 4})
		if err != nil || len(page.Events) != 4 || page.Events[3].Type != "third" {
			t.Fatalf("%v, events %v, want a page that ends between two events of one change", err, page.Events)
		}
		page, err = t.store.Log(t.Context(), flags.LogQuery{Features: []string{"f"}, Limit: 4, Cursor: page.Next})
		if err != nil || len(page.Events) != 2 || page.Events[0].Type != "second" {
			t.Errorf("%v, events %v, want the rest on the next page", err, page.Events)
		}
	}},
	{"each aggregate has its own events", func(t *storeTest) {
		again := dynamo.FullProject()
		again.ID, again.UID = "0f1e2d3c", "77777777" // the ID of one project is the UID of another
		all := []flags.Aggregate{
			flag("0f1e2d3c", "f"), flag("0f1e2d3c", "f2"), dynamo.FullProject(), again, dynamo.FullEnvironments(), dynamo.FullToken(),
		}
		for i, a := range all {
			c := change("added", addition(a))
			c.Event.Data = i
			t.mustCommit(c)
		}
		for i, a := range all {
			events := t.mustEvents(a)
			if len(events) != 1 || asJSON(events[0].Data) != fmt.Sprint(i) {
				t.Errorf("%v has the events %+v, want its own one", a.Key(), events)
			}
		}
	}},
	{"one event for a change of several aggregates", func(t *storeTest) {
		a, b := flag("u1", "a"), flag("u1", "b")
		t.mustCommit(change("added", addition(a), addition(b)))
		if n := len(t.mustEvents(a)) + len(t.mustEvents(b)); n != 1 {
			t.Errorf("got %d events, want 1", n)
		}
	}},
	{"data over the limit is replaced by a note", func(t *storeTest) {
		fits := strings.Repeat("f", eventLimit-2) // exactly the limit, with its quotes
		long := strings.Repeat("l", 1<<20)
		f := flag("u1", "f")
		c := change("added", addition(f))
		c.Event.Data, c.Event.PreData = fits, long
		t.mustCommit(c)
		read := mustFind[*flags.Feature](t, f.Key())
		c = change("changed", write(read, describe("d")))
		c.Event.Data, c.Event.PreData = fits+"f", fits
		t.mustCommit(c)
		events := t.mustEvents(f)
		for i, data := range []struct {
			name string
			got  any
			kept bool
		}{
			{"data at the limit", events[0].Data, true}, {"data far past it", events[0].PreData, false},
			{"data one byte past it", events[1].Data, false}, {"both at the limit", events[1].PreData, true},
		} {
			got := asJSON(data.got)
			if kept := got == asJSON(fits); kept != data.kept {
				t.Errorf("%d: %s: kept is %t, want %t", i, data.name, kept, data.kept)
			}
			if !data.kept && (len(got) > eventLimit || !strings.Contains(got, "omitted")) {
				t.Errorf("%d: %s: %d bytes that begin with %.80s", i, data.name, len(got), got)
			}
		}
	}},
}
