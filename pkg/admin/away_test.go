package admin_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A silent is a way to a store that does not answer some operations at all: no error, no refusal, nothing.
type silent struct {
	mu         sync.Mutex
	operations map[string]bool
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	s.mu.Lock()
	hangs := s.operations[operation]
	s.mu.Unlock()
	if hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (s *silent) about(operations ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations = map[string]bool{}
	for _, operation := range operations {
		s.operations[operation] = true
	}
}

// TestStoreDoesNotRespond asks every operation of a store that does not answer: the answer comes within the function's time less
// the second that it takes to give it, as a 503 that says when to try again; and when the store answers
// again, so does the service, without a start of anything.
func TestStoreDoesNotRespond(t *testing.T) {
	const within = 3500 * time.Millisecond // of which a second is left to answer; all ask at once, so a busy machine needs of it
	network := &silent{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = network })
	s.enabled(t, "f")
	id := s.strategy(t, "f", `{"name":"default"}`)
	before := s.must(t, "GET", features+"/f", "").body
	on := subject{project: "default", flag: "f", environment: "development", strategy: id}
	for _, c := range []struct {
		name       string
		operations []string
		asks       func(route string) bool
	}{
		{
			"nothing is answered",
			[]string{"BatchGetItem", "Query", "GetItem", "UpdateItem", "PutItem", "TransactWriteItems"},
			func(route string) bool { return route != "GET /health" },
		},
		{
			"writes are not answered",
			[]string{"TransactWriteItems"},
			func(route string) bool {
				path := strings.TrimPrefix(route, "POST ")
				return path == "/api/admin/projects/{projectId}/features" || path == "/api/admin/projects/{projectId}/archive" ||
					path == "/api/admin/projects/{projectId}/features/{featureName}/clone" || path == "/api/admin/environments" ||
					path == "/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off"
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			network.about(c.operations...)
			asked := 0
			var wg sync.WaitGroup
			for _, group := range admin.Groups() {
				for _, route := range group.Routes() {
					if !c.asks(route) {
						continue
					}
					asked++
					wg.Go(func() {
						one := on.call(route)
						ctx, cancel := context.WithTimeout(t.Context(), within)
						defer cancel()
						begun := time.Now()
						got := directIn(ctx, s.handler, one.method, one.path, one.body)
						took := time.Since(begun)
						if got.status != http.StatusServiceUnavailable || took > within {
							t.Errorf("%s: %d %s after %s, want a failure of the service within %s", route, got.status, got.body, took, within)
							return
						}
						after := got.header.Get("Retry-After")
						if !strings.Contains(got.body, "ServiceUnavailableError") || after == "" || detail.MatchString(got.body) {
							t.Errorf("%s: %d %s with Retry-After %q, want a 503 with nothing of what is inside", route, got.status, got.body, after)
						}
					})
				}
			}
			wg.Wait()
			t.Logf("%d operations asked", asked)
			if asked < 3 {
				t.Error("nothing was asked: this run has shown nothing")
			}
			network.about()
			if got := s.must(t, "GET", features+"/f", "").body; got != before {
				t.Errorf("the flag was %s and is %s", before, got)
			}
			s.must(t, "POST", in("f", "development")+"/off", "")
			s.must(t, "POST", in("f", "development")+"/on", "")
			dynamotest.Check(t, s.store)
		})
	}
	s.wantEvents(t, "f", flags.FeatureEnvironmentEnabled, 3)
}
