package dynamo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestLogIsOneQuery checks that a page of a long log is one Query, whatever the filter.
func TestLogIsOneQuery(t *testing.T) {
	transport := &dynamotest.Faults{}
	store := dynamotest.Open(t, transport)
	const n = 1100 // more than minFiltered
	for i := 0; i < n; i += 50 {
		c := flags.Change{Writes: []flags.Write{{After: newFlag(fmt.Sprint("f-", i))}}}
		for j := i; j < i+50; j++ {
			c.MoreEvents = append(c.MoreEvents, flags.Event{
				ID: uuid.Must(uuid.NewV7()).String(), Type: flags.FeatureCreated, Project: fmt.Sprint("p-", j%2), CreatedBy: "ann",
				FeatureName: fmt.Sprint("f-", j),
			})
		}
		c.Event, c.MoreEvents = c.MoreEvents[0], c.MoreEvents[1:]
		if err := store.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for name, q := range map[string]flags.LogQuery{
		"a page":       {Limit: 10},
		"a large page": {Limit: 1000},
		"of a project": {Limit: 10, Projects: []string{"p-1"}},
		"of a flag":    {Limit: 10, Features: []string{"f-3"}},
		"rare events":  {Limit: 10, Features: []string{"f-3", "f-4"}},
		"no events":    {Limit: 10, Actors: []string{"ben"}},
	} {
		transport.ResetCalls()
		if _, err := store.Log(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if calls := transport.Calls(); len(calls) != 1 || calls["Query"] != 1 {
			t.Errorf("%s: calls %v, want one Query", name, calls)
		}
	}
	q, found, pages := flags.LogQuery{Limit: 10, Features: []string{"f-3", "f-4"}}, 0, 0
	for {
		page, err := store.Log(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		found, pages = found+len(page.Events), pages+1
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if found != 2 || pages != 2 {
		t.Errorf("rare events: %d events in %d pages, want 2 in 2 pages", found, pages)
	}
}

// TestLargeEventsAreSmallInTheIndexes commits changes whose events have 60 KiB in Data and in PreData. Their entries in the
// indexes of the log must be small, because an index has one partition for the whole service; the log must show them
// completely.
func TestLargeEventsAreSmallInTheIndexes(t *testing.T) {
	transport := &dynamotest.Faults{}
	store := dynamotest.Open(t, transport)
	const n = 20 // more than a page may hold
	body := func(i int) map[string]any {
		return map[string]any{"text": strings.Repeat("x", 60<<10) + fmt.Sprintf(` "number" %03d`, i)}
	}
	var before *flags.Feature
	for i := range n {
		f := newFlag("f")
		if before != nil {
			f = before.Clone()
		}
		f.Description = new(fmt.Sprint(i))
		c := flags.Change{Writes: []flags.Write{{After: f}}, Event: flags.Event{
			ID: uuid.Must(uuid.NewV7()).String(), Type: flags.FeatureUpdated, Project: "p", CreatedBy: "ann",
			FeatureName: "f", Data: body(i),
		}}
		if before != nil {
			c.Writes[0].Before, c.Event.PreData = before, body(i-1)
		}
		if err := store.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		before = find(t, store, "f")
	}
	inIndex := 0
	for pages := json.NewDecoder(strings.NewReader(dynamotest.Scan(t, store))); pages.More(); {
		var page struct{ Items []map[string]map[string]any }
		if err := pages.Decode(&page); err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if item["log"] == nil {
				continue
			}
			inIndex++
			if size := len(fmt.Sprint(item)); size > 6<<10 {
				t.Errorf("%v %v takes %d bytes of each index, want at most 6 KiB", item["pk"], item["sk"], size)
			}
		}
	}
	if inIndex != n {
		t.Errorf("%d events are in an index, want %d", inIndex, n)
	}
	for name, tt := range map[string]struct {
		q    flags.LogQuery
		want int
	}{
		"all":             {flags.LogQuery{Limit: 100}, n},
		"of a project":    {flags.LogQuery{Limit: 100, Projects: []string{"p"}}, n},
		"of the flag":     {flags.LogQuery{Limit: 100, Features: []string{"f"}}, n},
		"a few at a time": {flags.LogQuery{Limit: 3}, n},
		"a text":          {flags.LogQuery{Limit: 100, Text: `"number" 007`}, 2}, // before and after
		"no such text":    {flags.LogQuery{Limit: 100, Text: `"number" 777`}, 0},
	} {
		var all []flags.Event
		for q := tt.q; ; {
			transport.ResetCalls()
			page, err := store.Log(t.Context(), q)
			if err != nil {
				t.Fatal(reason(err))
			}
			if calls := transport.Calls(); calls["Query"] != 1 || calls["BatchGetItem"] > 1 {
				t.Errorf("%s: calls %v, want a Query and a BatchGetItem", name, calls)
			}
			size := 0
			for _, e := range page.Events {
				size += len(fmt.Sprintf("%s%s", e.Data, e.PreData))
			}
			if size > 2<<20 {
				t.Errorf("%s: a page of %d bytes, want at most 2 MiB", name, size)
			}
			all = append(all, page.Events...)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		if len(all) != tt.want {
			t.Errorf("%s: %d events, want %d", name, len(all), tt.want)
		}
		if tt.want == n {
			for i, e := range all {
				want, _ := json.Marshal(body(n - 1 - i))
				if got := fmt.Sprintf("%s", e.Data); got != string(want) || (e.PreData == nil) != (i == n-1) {
					t.Errorf("%s: event %d has %.20q… of %d bytes and %.20q…, want the whole body", name, i, got, len(got), e.PreData)
				}
			}
		}
	}
	if list := events(t, store, "f"); len(list) != n || list[n-1].PreData == nil {
		t.Errorf("the flag has %d events, want %d with their bodies", len(list), n)
	}
}
