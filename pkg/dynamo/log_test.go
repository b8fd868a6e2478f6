package dynamo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestLogIsOneQuery counts what a page of a long log costs: one Query, whatever is asked for.
func TestLogIsOneQuery(t *testing.T) {
	transport := &dynamotest.Faults{}
	store := dynamotest.Open(t, transport)
	const n = 1100 // more than a page is filtered from
	for i := range n {
		c := flags.Change{Writes: []flags.Write{{After: newFlag(fmt.Sprint("f-", i))}}, Event: flags.Event{
			ID: uuid.Must(uuid.NewV7()).String(), Type: flags.FeatureCreated, Project: fmt.Sprint("p-", i%2), CreatedBy: "ann",
			FeatureName: fmt.Sprint("f-", i),
		}}
		if err := store.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for name, q := range map[string]flags.LogQuery{
		"a page":          {Limit: 10},
		"a large page":    {Limit: 1000},
		"of a project":    {Limit: 10, Projects: []string{"p-1"}},
		"of a flag":       {Limit: 10, Features: []string{"f-3"}},
		"what is rare":    {Limit: 10, Features: []string{"f-3", "f-4"}},
		"what is nowhere": {Limit: 10, Actors: []string{"ben"}},
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
		t.Errorf("what is rare: %d events in %d pages, want both of them behind an empty page", found, pages)
	}
}

// TestIndexesAreAdded sees a table of an earlier version, which has none, get its indexes, with the events in it.
func TestIndexesAreAdded(t *testing.T) {
	old, err := dynamo.Open(t.Context(), dynamo.Options{Table: newTable(), Endpoint: dynamotest.Engine().URL()})
	if err != nil {
		t.Fatal(err)
	}
	schema := dynamotest.Schema()
	if err := old.CreateTable(t.Context(), dynamo.TableSchema{Attributes: schema.Attributes[:2], Key: schema.Key}); err != nil {
		t.Fatal(err)
	}
	if err := old.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{{After: newFlag("f")}},
		Event:  flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.FeatureCreated, CreatedAt: time.Now(), Project: "p"},
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		if err := old.CreateTable(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []flags.LogQuery{{Limit: 5}, {Limit: 5, Projects: []string{"p"}}} {
		page, err := old.Log(t.Context(), q)
		if err != nil || len(page.Events) != 1 {
			t.Errorf("%+v: %d events (%v), want 1", q, len(page.Events), err)
		}
	}
}
