package serving

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"guidon/pkg/backoff"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestOverload polls and evaluates over HTTP while the store throttles, hangs or fails. Each request is refused with 503 after as many
// reads as backoff.Polls allows, with a Retry-After that differs; and each succeeds once the store does.
func TestOverload(t *testing.T) {
	t.Parallel()
	a := administer(t)
	a.flag("f")
	var hangs atomic.Bool
	faults := &dynamotest.Faults{}
	faults.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
		if hangs.Load() {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	store := a.another(faults)
	config := httpapi.Config{}
	reader := NewReader(store, ReaderOptions{})
	server := httptest.NewServer(httpapi.New(store, httpapi.Join(ClientGroup(reader, nil, config), FrontendGroup(reader, nil, config)), config))
	defer server.Close()
	send := func(path, token string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", token)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return response
	}
	requests := map[string]string{
		"/api/client/features": dynamotest.ClientToken, "/api/client/delta": dynamotest.ClientToken,
		"/api/client/features/f": dynamotest.ClientToken, "/api/frontend": dynamotest.FrontendToken,
	}
	succeed := func() {
		t.Helper()
		for path, token := range requests {
			if response := send(path, token); response.StatusCode != http.StatusOK {
				t.Errorf("%s: %d while the store answers, want 200", path, response.StatusCode)
			}
		}
	}
	succeed()

	always := func(fault dynamotest.Fault) func(*dynamotest.Faults) {
		return func(f *dynamotest.Faults) { f.Script = func(string, int) dynamotest.Fault { return fault } }
	}
	for _, c := range []struct {
		name  string
		begin func()
		reads int
		times int
	}{
		{"throttled", func() { faults.Change(always(dynamotest.Throttle)) }, 1, 3},
		{"hangs", func() { hangs.Store(true) }, 2, 1},
		{"fails", func() { faults.Change(always(dynamotest.FailBefore)) }, 2, 1},
		{"loses responses", func() { faults.Change(always(dynamotest.LoseResponse)) }, 2, 1},
		{"rejects", func() { faults.Change(always(dynamotest.ExpireCredentials)) }, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := map[int]bool{}
			c.begin()
			for range c.times {
				for path, token := range requests {
					faults.ResetCalls()
					response := send(path, token)
					reads := 0
					for _, n := range faults.Calls() {
						reads += n
					}
					seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
					if response.StatusCode != http.StatusServiceUnavailable || reads != c.reads || err != nil || seconds < backoff.PollAfterLeast || seconds > backoff.PollAfterMost {
						t.Errorf("%s: %d after %d reads, Retry-After %q; want 503 after %d reads, and %d to %d s", path, response.StatusCode, reads,
							response.Header.Get("Retry-After"), c.reads, backoff.PollAfterLeast, backoff.PollAfterMost)
					}
					after[seconds] = true
				}
			}
			if c.times > 1 && len(after) < 3 {
				t.Errorf("%d different values of Retry-After in %d responses", len(after), c.times*len(requests))
			}
			hangs.Store(false)
			faults.Change(func(f *dynamotest.Faults) { f.Script = nil })
			succeed()
		})
	}
}
