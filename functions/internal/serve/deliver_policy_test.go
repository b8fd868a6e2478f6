package serve

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/webhook"
)

// TestPolicyOfDeliver sends an event that arrives, one that is refused, and one that is tried again. It checks that Deliver uses
// exactly the actions that template.yaml allows it, and writes and deletes only in the partitions that it lists.
func TestPolicyOfDeliver(t *testing.T) {
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(receiver.Close)
	addons := &flags.Addons{}
	for id, target := range []string{"/accept", "/refuse", "/again"} {
		addons.List = append(addons.List, flags.Addon{
			ID: int64(id), Provider: flags.AddonWebhook, Enabled: true, Parameters: map[string]string{flags.AddonURL: receiver.URL + target},
		})
		entry := flags.OutboxEntry{Addon: int64(id), ID: "01944a2e-2c00-7fff-bfff-ffffffffffff", Subject: "FLAG#gone", Version: 1}
		if target != "/again" { // an event that is not found
			entry.Test = &flags.Event{ID: entry.ID, Type: flags.FeatureCreated}
		}
		if err := store.PutOutbox(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	change := flags.Change{Writes: []flags.Write{{After: addons}}, Event: flags.Event{ID: "01944a2e-2c00-7fff-bfff-fffffffffffe", Type: flags.ProjectUpdated}}
	if err := store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	networks, err := webhook.ParseNetworks("127.0.0.1/32")
	if err != nil {
		t.Fatal(err)
	}
	watch := &watch{actions: map[string]bool{}, written: map[string]bool{}}
	watched := dynamotest.OpenOn(t, dynamotest.Engine(), store.Table(), watch)
	deliverer := webhook.NewDeliverer(watched, dynamotest.Sealer, webhook.NewSender(webhook.Options{Networks: networks}), slog.New(slog.DiscardHandler))
	report, err := deliverer.Run(t.Context(), time.Now().Add(time.Second))
	if want := (webhook.Report{Delivered: 1, Parked: 1, Failed: 1, Oldest: report.Oldest}); report.Oldest <= 0 || err != nil || report != want {
		t.Fatalf("%+v, %v; want %+v", report, err, want)
	}
	watch.check(t, "Deliver")
}
