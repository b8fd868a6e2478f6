package admin_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// TestPanicsOfWorkers causes panics in goroutines of a list and of a bulk operation. The request is a 500, the process keeps
// running, and the error says what other goroutines did.
func TestPanicsOfWorkers(t *testing.T) {
	t.Parallel()
	network := &panicking{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = network })
	s.Create(t, "f")
	s.Create(t, "g")
	const list, stale = "/api/admin/projects", apitest.Project + "/stale"
	both := `{"features":["f","g"],"stale":true}`
	for _, tt := range []struct {
		operation, contains      string // of the request that panics
		method, path, body, want string
	}{
		{"Query", "GUARD#", "GET", list, "", "internal error"},
		{"TransactWriteItems", "FLAG#f", "POST", stale, both, "1 of 2 flags could not be marked; the others were"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			network.in.Store(&[2]string{tt.operation, tt.contains})
			got := s.Do(t, tt.method, tt.path, tt.body)
			network.in.Store(nil)
			if got.Status != 500 || !strings.Contains(got.Body, tt.want) || detail.MatchString(got.Body) {
				t.Errorf("%d %s, want a 500 that says %q", got.Status, got.Body, tt.want)
			}
			s.Must(t, tt.method, tt.path, tt.body)
		})
	}
}

// A panicking transport panics in requests of one operation whose body contains a text.
type panicking struct{ in atomic.Pointer[[2]string] }

func (p *panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	in := p.in.Load()
	if in != nil && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+in[0]) && bytes.Contains(body, []byte(in[1])) {
		panic("TOKEN#secret in table test-1")
	}
	return http.DefaultTransport.RoundTrip(r)
}
