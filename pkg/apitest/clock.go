package apitest

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/httpapi"
)

// Clock is a clock that tests move.
type Clock struct{ now atomic.Pointer[time.Time] }

// NewClock returns a clock that shows noon of 5 January 2026.
func NewClock() *Clock {
	c := &Clock{}
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	c.now.Store(&start)
	return c
}

// Time returns what the clock shows.
func (c *Clock) Time() time.Time { return *c.now.Load() }

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	later := c.Time().Add(d)
	c.now.Store(&later)
}

// ServeAt starts a server with a clock, and changes its configuration.
func ServeAt(t *testing.T, c *Clock, changes ...func(*httpapi.Config)) *Server {
	t.Helper()
	return Serve(t, func(config *httpapi.Config, _ *http.RoundTripper) {
		config.Now = c.Time
		for _, change := range changes {
			change(config)
		}
	})
}
