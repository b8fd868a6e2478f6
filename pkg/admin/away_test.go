package admin_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// An unresponsive is a transport to a store that never answers certain operations.
type unresponsive struct {
	mu         sync.Mutex
	operations map[string]bool
}

func (s *unresponsive) RoundTrip(r *http.Request) (*http.Response, error) {
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

// hang makes the operations hang from now on, and all others work.
func (s *unresponsive) hang(operations ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations = map[string]bool{}
	for _, operation := range operations {
		s.operations[operation] = true
	}
}

// TestStoreDoesNotRespond calls every operation while the store does not respond. Each gets a 503 with Retry-After before the
// function's deadline, one second of which is left for the response. When the store responds again, so does the
// service, without a restart.
func TestStoreDoesNotRespond(t *testing.T) {
	const within = 3500 * time.Millisecond // the last second is for the response; all calls run at once, which takes time on a busy machine
	network := &unresponsive{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = network })
	s.CreateEnabled(t, "f")
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	before := s.Must(t, "GET", apitest.Features+"/f", "").Body
	on := subject{project: "default", flag: "f", environment: "development", strategy: id, secret: s.SignInLink(t, 1)}
	for _, c := range []struct {
		name       string
		operations []string
		calls      func(route string) bool
	}{
		{
			"no operation responds",
			[]string{"BatchGetItem", "Query", "GetItem", "UpdateItem", "PutItem", "TransactWriteItems"},
			func(route string) bool { // those without a provider read nothing, nor does what is no secret of a signal
				return !slices.Contains([]string{"GET /health", "GET /ready", "GET /auth/methods", "GET /auth/oidc/login", "GET /auth/oidc/callback", "POST /api/signals/{signalName}"}, route)
			},
		},
		{
			"writes do not respond",
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
			network.hang(c.operations...)
			called := 0
			var wg sync.WaitGroup
			for _, group := range admin.Groups() {
				for _, route := range group.Routes() {
					if !c.calls(route) {
						continue
					}
					called++
					wg.Go(func() {
						one := on.call(route)
						ctx, cancel := context.WithTimeout(t.Context(), within)
						defer cancel()
						started := time.Now()
						got := apitest.DirectIn(ctx, s.Handler, one.Method, one.Path, one.Body)
						took := time.Since(started)
						if got.Status != http.StatusServiceUnavailable || took > within {
							t.Errorf("%s: %d %s after %s, want a 503 within %s", route, got.Status, got.Body, took, within)
							return
						}
						after := got.Header.Get("Retry-After")
						named := strings.Contains(got.Body, "ServiceUnavailableError") || strings.Contains(route, "/openfeature/") && strings.Contains(got.Body, `"status":503`)
						if !named || after == "" || detail.MatchString(got.Body) {
							t.Errorf("%s: %d %s with Retry-After %q, want a 503 with no internals", route, got.Status, got.Body, after)
						}
					})
				}
			}
			wg.Wait()
			t.Logf("%d operations called", called)
			if called < 3 {
				t.Errorf("%d operations were called, want at least 3", called)
			}
			network.hang()
			if got := s.Must(t, "GET", apitest.Features+"/f", "").Body; got != before {
				t.Errorf("the flag changed from %s to %s", before, got)
			}
			s.Must(t, "POST", apitest.In("f", "development")+"/off", "")
			s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
			dynamotest.Check(t, s.Store)
		})
	}
	s.WantEvents(t, "f", flags.FeatureEnvironmentEnabled, 3)
}
