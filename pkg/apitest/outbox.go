package apitest

import (
	"encoding/json"
	"fmt"
	"testing"

	"guidon/pkg/flags"
)

// SendsAll is the description of the addon of sendAll.
const SendsAll = "sends all events"

// SendAll creates an addon that sends all events. It must be the first addon of the server: its ID is 1.
func (s *Server) SendAll(t *testing.T) {
	t.Helper()
	types, err := json.Marshal(flags.AddonEvents())
	if err != nil {
		t.Fatal(err)
	}
	id := s.ID(t, Addons, fmt.Sprintf(`{"provider":"webhook","enabled":true,"description":%q,"events":%s,"parameters":{"url":"https://example.com/all"}}`, SendsAll, types))
	if id != "1" {
		t.Fatalf("the addon that sends all events has the id %s, want 1", id)
	}
}

// Outbox returns the entries in the outbox of the addon that sends all events, without those of tests.
func (s *Server) Outbox(t *testing.T) (all []flags.OutboxEntry) {
	t.Helper()
	after := ""
	for more := true; more; {
		var page []flags.OutboxEntry
		var err error
		if page, more, err = s.Store.Outbox(t.Context(), 1, after, 7); err != nil {
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
