package edge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"guidon/pkg/jsonbody"
)

// metrics are what Prometheus reads.
type metrics struct {
	requests sync.Map     // by route and status: *atomic.Int64
	reads    atomic.Int64 // of upstreams
	failures atomic.Int64
	dropped  atomic.Int64 // reports of usage
}

type requestKey struct {
	route  string
	status int
}

func (m *metrics) count(route string, status int) {
	key := requestKey{route, status}
	n, ok := m.requests.Load(key)
	if !ok {
		n, _ = m.requests.LoadOrStore(key, &atomic.Int64{})
	}
	n.(*atomic.Int64).Add(1)
}

// maxNamed is how many flags and segments that are left out the metrics name, for each source.
const maxNamed = 20

// label returns a text, or its beginning, as the value of a label.
func label(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(jsonbody.Shorten(text)) + `"`
}

// oddLabels returns the labels of the first flags and segments that are left out.
func (s *state) oddLabels() []string {
	all := make([]string, 0, len(s.odd))
	for of := range s.odd {
		all = append(all, "kind="+label(of.kind)+",name="+label(of.name))
	}
	slices.Sort(all)
	all = slices.Compact(all) // names are shortened
	return all[:min(len(all), maxNamed)]
}

// metricsPage returns the metrics in the text format of Prometheus.
func (e *Edge) metricsPage() string {
	var page strings.Builder
	head := func(name, kind, help string) {
		fmt.Fprintf(&page, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	one := func(name, kind, help string, value int64) {
		head(name, kind, help)
		fmt.Fprintf(&page, "%s %d\n", name, value)
	}
	head("guidon_edge_requests_total", "counter", "Requests of applications.")
	e.metrics.requests.Range(func(key, n any) bool {
		k := key.(requestKey)
		fmt.Fprintf(&page, "guidon_edge_requests_total{route=%q,status=%q} %d\n", k.route, strconv.Itoa(k.status), n.(*atomic.Int64).Load())
		return true
	})
	sources := e.all()
	head("guidon_edge_flags", "gauge", "Flags of an environment.")
	for i, s := range sources {
		if now := s.state.Load(); now != nil {
			fmt.Fprintf(&page, "guidon_edge_flags{environment=%q,source=\"%d\"} %d\n", s.environment, i, len(now.flags))
		}
	}
	head("guidon_edge_left_out", "gauge", "Flags and segments that the upstream has and Edge cannot read.")
	for i, s := range sources {
		if now := s.state.Load(); now != nil {
			fmt.Fprintf(&page, "guidon_edge_left_out{environment=%s,source=\"%d\"} %d\n", label(s.environment), i, len(now.odd))
		}
	}
	head("guidon_edge_left_out_info", "gauge", "One of these, by name; at most 20 of an environment.")
	for i, s := range sources {
		if now := s.state.Load(); now != nil {
			for _, labels := range now.oddLabels() {
				fmt.Fprintf(&page, "guidon_edge_left_out_info{environment=%s,source=\"%d\",%s} 1\n", label(s.environment), i, labels)
			}
		}
	}
	head("guidon_edge_age_seconds", "gauge", "How long ago the upstream said that the flags of an environment are current.")
	for i, s := range sources {
		if s.state.Load() != nil {
			fmt.Fprintf(&page, "guidon_edge_age_seconds{environment=%q,source=\"%d\"} %.1f\n", s.environment, i, s.age().Seconds())
		}
	}
	one("guidon_edge_upstream_reads_total", "counter", "Reads of flags that an upstream answered.", e.metrics.reads.Load())
	one("guidon_edge_upstream_failures_total", "counter", "Reads of flags that no upstream answered.", e.metrics.failures.Load())
	e.tokens.mu.Lock()
	known, refused := len(e.tokens.known), len(e.tokens.refused)
	e.tokens.mu.Unlock()
	one("guidon_edge_tokens", "gauge", "Valid tokens that Edge knows.", int64(known))
	one("guidon_edge_refused_tokens", "gauge", "Tokens that were refused in the last 30 seconds.", int64(refused))
	one("guidon_edge_streams", "gauge", "Open streams.", int64(e.streams.count()))
	one("guidon_edge_usage_waiting", "gauge", "Reports of usage that the upstream has not taken yet.", int64(e.usage.waiting()))
	one("guidon_edge_usage_dropped_total", "counter", "Usage that was dropped, because there was too much of it or the upstream refused it.", e.metrics.dropped.Load())
	return page.String()
}
