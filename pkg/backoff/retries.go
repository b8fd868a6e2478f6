package backoff

import (
	"context"
	"time"
)

// Retries bound the attempts of one call to the store. Conflicts with other writers are no failures, so they do not count.
type Retries struct {
	Attempts  int             // that may fail: the last failure is that of the call
	Throttled int             // of these, the attempts that the store may refuse because of load
	Timeouts  []time.Duration // of the attempts, in this order; none for the timeout of the client
}

// Patient is for calls on behalf of people and scripts, which make few. If every second response is lost, one call in a thousand fails,
// as with the SDK of AWS for Go 1. The waits between the attempts take about a second together, so callers soon learn that the store is
// down.
var Patient = Retries{Attempts: 10, Throttled: 10}

// Polls is for the read of the feed that every poll of an application makes. A store that refuses reads because of load gets no further
// read from a refused poll: with retries, each poll above its capacity would cost it many. A read without a response is repeated once,
// since connections are dead after an instance was frozen; both take 1.5 s at most.
var Polls = Retries{Attempts: 2, Throttled: 1, Timeouts: []time.Duration{500 * time.Millisecond, time.Second}}

// Timeout is that of an attempt, which count from 1; 0 for the client's.
func (r Retries) Timeout(attempt int) time.Duration {
	if len(r.Timeouts) == 0 {
		return 0
	}
	return r.Timeouts[min(max(attempt, 1), len(r.Timeouts))-1]
}

// Longest is the longest wait before an attempt is repeated: 10 ms after the first, doubled after each further one, at most 500 ms.
func (r Retries) Longest(attempt int) time.Duration {
	return min(500*time.Millisecond, 5*time.Millisecond<<min(attempt, 7))
}

type retriesKey struct{}

// WithRetries returns a context whose calls to the store have these bounds.
func WithRetries(ctx context.Context, r Retries) context.Context {
	return context.WithValue(ctx, retriesKey{}, r)
}

// RetriesOf returns the bounds for calls with a context: Patient, unless WithRetries has set others.
func RetriesOf(ctx context.Context) Retries {
	if r, ok := ctx.Value(retriesKey{}).(Retries); ok {
		return r
	}
	return Patient
}

// PollAfter are the bounds of the Retry-After header, in seconds, with which an application's request is refused while the store is
// busy. It differs from response to response, so that those that obey it do not come back together.
const (
	PollAfterLeast = 20
	PollAfterMost  = 40
)
