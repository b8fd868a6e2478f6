package httpapi

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Metrics adds CloudWatch metrics to the log line of every request, in the embedded metric format. CloudWatch reads them from
// the line, so they take no call. Successful requests of applications have no line of their own: once a minute, an instance writes one
// for all with the same route and status.
//
//	namespace Guidon
//	Requests      by Stack, Operation (the route) and Status
//	Conflicts     by Stack: how often an operation ran again because another writer was first
//	ColdStarts    by Stack: how many processes served their first request
//
// CloudWatch bills $0.30 a month (list price, us-east-1, November 2026) for each combination of dimensions, only for the hours
// in which it is sent. So metrics that are 0 are omitted, and there is no duration, which Lambda measures for free and the line
// has as ms. 15 operations with 2 statuses each, used in 200 of the 730 hours of a month, cost 30 × 0.30 × 200/730 = $2.47; 115
// operations with 3 statuses each in every hour would cost $103.50. An idle stage costs nothing. METRICS=none sends none; the
// log lines stay, and CloudWatch Logs Insights can count them.
type Metrics struct {
	Stack string // distinguishes the stages of an account
}

// namespace is the CloudWatch namespace of the metrics.
const namespace = "Guidon"

// newMetrics reads METRICS and STACK_NAME.
func newMetrics(getenv func(string) string) (*Metrics, error) {
	switch kind := getenv("METRICS"); kind {
	case "", "none":
		return nil, nil
	case "emf":
	default:
		return nil, fmt.Errorf("METRICS is %q; use none or emf", kind)
	}
	m := &Metrics{Stack: getenv("STACK_NAME")}
	if m.Stack == "" {
		return nil, fmt.Errorf("METRICS is emf, so STACK_NAME must be set: it distinguishes the metrics of stacks")
	}
	return m, nil
}

// The embedded metric format (specified in the CloudWatch user guide): which fields of the line are metrics, and which are their
// dimensions.
type (
	embedded struct {
		Timestamp         int64 // milliseconds
		CloudWatchMetrics []directive
	}
	directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []metric
	}
	metric struct{ Name, Unit string }
)

// noRoute is the Operation of unknown paths. CloudWatch does not accept an empty one.
const noRoute = "none"

// Attrs returns the fields of the log line of requests with the same route and status, usually of one. A function serves one
// request at a time, so the other counts are those of this request.
func (m *Metrics) Attrs(at time.Time, route string, status, requests int, cold bool, conflicts int64) []slog.Attr {
	if route == "" {
		route = noRoute
	}
	attrs := []slog.Attr{
		slog.String("Stack", m.Stack), slog.String("Operation", route), slog.String("Status", strconv.Itoa(status)), slog.Int("Requests", requests),
	}
	count := func(name string) metric { return metric{Name: name, Unit: "Count"} }
	directives := []directive{{namespace, [][]string{{"Stack", "Operation", "Status"}}, []metric{count("Requests")}}}
	var ofStack []metric
	if cold {
		attrs, ofStack = append(attrs, slog.Int("ColdStarts", 1)), append(ofStack, count("ColdStarts"))
	}
	if conflicts > 0 {
		attrs, ofStack = append(attrs, slog.Int64("Conflicts", conflicts)), append(ofStack, count("Conflicts"))
	}
	if len(ofStack) > 0 {
		directives = append(directives, directive{namespace, [][]string{{"Stack"}}, ofStack})
	}
	return append(attrs, slog.Any("_aws", embedded{at.UnixMilli(), directives}))
}

// countEvery is how often an instance writes lines for the successful requests of applications.
const countEvery = time.Minute

// counts are the requests of applications since the last lines that have none of their own: those that succeeded, or were refused because
// there are too many. Their lines would cost a third of a poll.
type counts struct {
	mu    sync.Mutex
	next  time.Time
	kinds map[requestKind]requestCount

	refused map[requestKind]bool // those that have a line of their own already, see logRefusal
}

type requestKind struct {
	route  string
	status int
}

type requestCount struct {
	requests      int
	took, longest time.Duration
}

// add counts a request. At most once in countEvery, it returns what was counted.
func (c *counts) add(o outcome, now time.Time) map[requestKind]requestCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds = map[requestKind]requestCount{}
	}
	kind := requestKind{o.route, o.status}
	n := c.kinds[kind]
	c.kinds[kind] = requestCount{n.requests + 1, n.took + o.took, max(n.longest, o.took)}
	if now.Before(c.next) {
		return nil
	}
	kinds := c.kinds
	c.kinds, c.refused, c.next = nil, nil, now.Add(countEvery)
	return kinds
}

// isFirst reports whether it has not been asked for this kind of requests since the counts were returned.
func (c *counts) isFirst(kind requestKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused[kind] {
		return false
	}
	if c.refused == nil {
		c.refused = map[requestKind]bool{}
	}
	c.refused[kind] = true
	return true
}
