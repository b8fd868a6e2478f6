package httpapi

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// Metrics has every request's log line carry CloudWatch metrics, in the embedded metric format: CloudWatch reads them
// out of the line, and no call is made for them.
//
//	namespace Guidon, always for one stack
//	Requests      by Stack, Operation (the route) and Status
//	Conflicts     by Stack: how often another writer was first, so that a request was decided again
//	ColdStarts    by Stack: how many processes began to serve
//
// CloudWatch bills $0.30 a month (list price, us-east-1, November 2026) for each combination of dimensions, and only
// for the hours in which it was sent; so those that are 0 are left out, and there is no Duration, which Lambda measures
// for nothing and the line has too (ms). 15 operations with 2 statuses each, used for 200 of the month's 730 hours, are
// 30 × 0.30 × 200/730 = $2.47 a month; 115 operations with 3 statuses each in every hour would be $103.50. An idle
// stage costs nothing. METRICS=none has none of it; the log lines stay, and CloudWatch Logs
// Insights counts them when somebody asks.
type Metrics struct {
	Stack string // tells the stages in one account apart
}

// namespace is where CloudWatch shows the metrics.
const namespace = "Guidon"

// newMetrics reads METRICS and STACK_NAME.
func newMetrics(getenv func(string) string) (*Metrics, error) {
	switch kind := getenv("METRICS"); kind {
	case "", "none":
		return nil, nil
	case "emf":
	default:
		return nil, fmt.Errorf("METRICS is %q; it can be none or emf", kind)
	}
	m := &Metrics{Stack: getenv("STACK_NAME")}
	if m.Stack == "" {
		return nil, fmt.Errorf("METRICS is emf, so STACK_NAME must be set: it tells the metrics of one stack from those of another")
	}
	return m, nil
}

// The embedded metric format (see its specification in the CloudWatch user guide): which members of the line are
// metrics, and by which others they are kept apart.
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

// noRoute is the Operation of paths that there is nothing at; CloudWatch takes no empty one.
const noRoute = "none"

// Attrs are the members of one request's line. A function serves one request at a time, so all of them are that request's.
func (m *Metrics) Attrs(at time.Time, route string, status int, cold bool, conflicts int64) []slog.Attr {
	if route == "" {
		route = noRoute
	}
	attrs := []slog.Attr{
		slog.String("Stack", m.Stack), slog.String("Operation", route), slog.String("Status", strconv.Itoa(status)), slog.Int("Requests", 1),
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
