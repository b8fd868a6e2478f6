package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// checkAllSent checks that each event of the log after a number is in the outbox of the addon of sendAll exactly once, and no other.
// Together, these events have all types but those that only happen at the first start.
func checkAllSent(t *testing.T, s *apitest.Server, after int64) {
	t.Helper()
	entries := s.Outbox(t)
	sent, err := s.Store.OutboxEvents(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	types := map[string]bool{}
	for _, entry := range entries {
		e, found := sent[entry.ID]
		if !found || e.ID != entry.ID {
			t.Errorf("the event %s of the outbox is not stored", entry.ID)
		}
		if e.Number() > after {
			got = append(got, fmt.Sprint(e.Number(), e.Type))
			types[string(e.Type)] = true
		}
	}
	for _, e := range eventsAfter(t, s, after) {
		want = append(want, fmt.Sprint(e.ID, e.Type))
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("the outbox has %d events, the log %d:\n%s\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range eventTypes(t) {
		if seeded := strings.HasSuffix(name, "-seeded"); !types[name] != seeded {
			t.Errorf("the outbox has an event %s: %t, want %t", name, types[name], !seeded)
		}
	}
}
