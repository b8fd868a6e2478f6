package overload

import "time"

// A Kind is an SDK. How each polls is from its source, under the MIT license: the versions that internal/clients runs.
type Kind int

// The SDKs.
const (
	// Node repeats a 408, 429 or 5xx, and a request without a response in 10 s, twice: after 1 s and 2 s. Each poll that fails adds an
	// interval before the next one, up to ten, and each that succeeds takes one away.
	Node Kind = iota

	// Python repeats a 503 or 429 three times if it has a Retry-After, which it obeys. It waits 30 s for a response. Its interval stays the
	// same, but a poll is left out while the one before it runs.
	Python

	// Go repeats nothing. A poll that fails adds an interval before the next one, up to ten; only a 200 takes one away, which a 304 does
	// not. It waits for a response as long as API Gateway does.
	Go

	// Java repeats nothing. A poll that fails adds an interval before the next one, up to twenty, and one that succeeds takes one away.
	Java
)

const (
	pollEvery = 15 * time.Second
	network   = 50 * time.Millisecond // the longest time until a request arrives
)

// timeouts is how long an SDK waits for a response. API Gateway ends a request after 30 s.
var timeouts = map[Kind]time.Duration{Node: 10 * time.Second, Python: 30 * time.Second, Go: 30 * time.Second, Java: 10 * time.Second}

type sdk struct {
	*stage
	kind     Kind
	stopped  bool
	failures int
	skips    int
	running  bool // a poll
	served   int  // when the last poll succeeded
}

// add starts SDKs that make so many polls a second, as a multiple of Capacity, in an interval.
func (s *stage) add(load float64) (added []*sdk) {
	for i := range int(load * Capacity / tenth * pollEvery.Seconds()) {
		one := &sdk{stage: s, kind: s.Mix[i%len(s.Mix)], served: s.now}
		added = append(added, one)
		begin := one.tick
		if one.kind == Node {
			begin = one.fetch
		}
		s.at(time.Duration(s.random.Int64N(int64(pollEvery))), begin)
	}
	return added
}

// tick is called each interval.
func (c *sdk) tick() {
	if c.stopped {
		return
	}
	c.at(pollEvery, c.tick)
	switch {
	case c.running:
	case c.skips > 0:
		c.skips--
	default:
		c.fetch()
	}
}

// fetch polls once, with the retries of the SDK.
func (c *sdk) fetch() {
	c.running = true
	var try func(n int)
	try = func(n int) {
		if c.stopped {
			return
		}
		c.request(func(a answer, timeout bool) {
			wait := time.Duration(-1)
			switch {
			case a.ok:
			case c.kind == Node && n <= 2:
				wait = time.Second << (n - 1)
			case c.kind == Python && n <= 3 && timeout:
				wait = 0
			case c.kind == Python && n <= 3 && a.retryAfter > 0:
				wait = a.retryAfter
			}
			if wait >= 0 {
				c.at(wait, func() { try(n + 1) })
				return
			}
			c.fetched(a.ok, timeout)
		})
	}
	try(1)
}

// request sends one request. It returns once, with the answer or when the time is over.
func (c *sdk) request(done func(a answer, timeout bool)) {
	over := false
	c.at(timeouts[c.kind], func() {
		if !over {
			over = true
			done(answer{}, true)
		}
	})
	respond := func(a answer) {
		switch {
		case over && a.ok:
			c.second().Wasted++
		case over:
		case a.ok:
			c.second().Served++
			c.served = c.now
		}
		if !over {
			over = true
			done(a, false)
		}
	}
	c.at(time.Duration(c.random.Int64N(int64(network))), func() { c.poll(respond) })
}

// fetched is called when a poll has ended.
func (c *sdk) fetched(ok, timeout bool) {
	c.running = false
	switch c.kind {
	case Node:
		switch {
		case ok:
			c.failures = max(c.failures-1, 0)
		case !timeout:
			c.failures = min(c.failures+1, 10)
		}
		next := pollEvery * time.Duration(1+c.failures)
		if timeout {
			next = pollEvery
		}
		c.at(next, c.fetch)
	case Go:
		if !ok && !timeout {
			c.failures = min(c.failures+1, 10)
			c.skips = c.failures
		}
	case Java:
		switch {
		case ok:
			c.failures = max(c.failures-1, 0)
			c.skips = c.failures
		case !timeout:
			c.failures++
			c.skips = min(c.failures, 20)
		}
	case Python:
	}
}
