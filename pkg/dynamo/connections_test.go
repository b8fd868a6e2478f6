package dynamo_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// TestConnectionsAreUsedAgain checks that calls one after the other share a connection, also when the engine responds at once. On AWS,
// a new connection begins with a TLS handshake.
func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	engine := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"Responses":{}}`))
	}))
	engine.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	engine.Start()
	t.Cleanup(engine.Close)
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "t", Endpoint: engine.URL})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("f")}); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n > 20 { // net/http gives one up if a goroutine gets no processor for 50 ms
		t.Errorf("1,000 calls opened %d connections, want hardly more than one", n)
	}
}
