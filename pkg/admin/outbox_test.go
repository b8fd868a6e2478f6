package admin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

// sendsAll is the description of the addon of sendAll.
const sendsAll = "sends all events"

// sendAll creates an addon that sends all events. It must be the first addon of the server: its ID is 1.
func (s *server) sendAll(t *testing.T) {
	t.Helper()
	types, err := json.Marshal(flags.AddonEvents())
	if err != nil {
		t.Fatal(err)
	}
	id := s.id(t, addons, fmt.Sprintf(`{"provider":"webhook","enabled":true,"description":%q,"events":%s,"parameters":{"url":"https://example.com/all"}}`, sendsAll, types))
	if id != "1" {
		t.Fatalf("the addon that sends all events has the id %s, want 1", id)
	}
}

// outboxOf returns the entries in the outbox of the addon that sends all events, without those of tests.
func (s *server) outboxOf(t *testing.T) (all []flags.OutboxEntry) {
	t.Helper()
	after := ""
	for more := true; more; {
		var page []flags.OutboxEntry
		var err error
		if page, more, err = s.store.Outbox(t.Context(), 1, after, 7); err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if after = e.ID; e.Test == nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// checkAllSent checks that each event of the log after a number is in the outbox of the addon of sendAll exactly once, and no other.
// Together, these events have all types but those that only happen at the first start.
func (s *server) checkAllSent(t *testing.T, after int64) {
	t.Helper()
	entries := s.outboxOf(t)
	sent, err := s.store.OutboxEvents(t.Context(), entries)
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
	for _, e := range s.eventsAfter(t, after) {
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
