package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
)

// newLogger writes JSON with the field names from which Lambda reads the time and level of a line.
func newLogger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			switch {
			case len(groups) > 0:
			case a.Key == slog.TimeKey:
				a.Key = "timestamp"
			case a.Key == slog.MessageKey:
				a.Key = "message"
			}
			return a
		},
	}))
}

// log writes the log line of a request. With metrics, it is written at every LOG_LEVEL. lambdahttp.Logger adds the id of the
// invocation.
func (s *service) log(r *http.Request, o outcome, status int, failure errorBody) {
	logger := s.config.Logger
	if logger == nil {
		return
	}
	cold, conflicts := !s.warm.Swap(true), s.conflicts.Swap(0)
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if s.config.Metrics == nil && !logger.Enabled(r.Context(), level) {
		return
	}
	line := slog.NewRecord(time.Now(), level, "request", 0)
	line.AddAttrs(slog.String("method", r.Method), slog.String("route", o.route), slog.Int("status", status),
		slog.Float64("ms", float64(o.took.Microseconds())/1000), slog.Int("rounds", o.rounds))
	if agent := AgentOf(r); agent != "" {
		line.AddAttrs(slog.String("agent", agent))
	}
	if o.path != "" {
		line.AddAttrs(slog.String("path", o.path))
	}
	if s.config.Version != "" {
		line.AddAttrs(slog.String("functionVersion", s.config.Version), slog.Bool("coldStart", cold))
	}
	if o.err != nil {
		line.AddAttrs(slog.String("errorId", failure.ID), slog.String("error", failure.Name))
		if cause := causeOf(o.err); cause != "" && status >= http.StatusInternalServerError {
			line.AddAttrs(slog.String("cause", cause))
		}
	}
	if s.config.Metrics != nil {
		line.AddAttrs(s.config.Metrics.Attrs(line.Time, o.route, status, 1, cold, conflicts)...)
	}
	_ = logger.Handler().Handle(r.Context(), line) // nothing can be done if the log cannot be written
}

// count counts a successful request of an application. It writes a line for it only at LOG_LEVEL=DEBUG. With metrics, it writes
// lines for all that were counted, at most once a minute: what an instance counts after its last lines is lost with it.
func (s *service) count(r *http.Request, o outcome) {
	logger := s.config.Logger
	switch {
	case logger == nil:
		return
	case logger.Enabled(r.Context(), slog.LevelDebug):
		s.log(r, o, o.status, errorBody{})
		return
	case s.config.Metrics == nil:
		return
	}
	now := s.config.Now()
	for kind, n := range s.counts.add(o, now) {
		cold := !s.warm.Swap(true)
		line := slog.NewRecord(now, slog.LevelInfo, "requests", 0)
		line.AddAttrs(slog.String("route", kind.route), slog.Int("status", kind.status),
			slog.Float64("meanMs", float64((n.took/time.Duration(n.requests)).Microseconds())/1000),
			slog.Float64("longestMs", float64(n.longest.Microseconds())/1000))
		if s.config.Version != "" {
			line.AddAttrs(slog.String("functionVersion", s.config.Version), slog.Bool("coldStart", cold))
		}
		line.AddAttrs(s.config.Metrics.Attrs(now, kind.route, kind.status, n.requests, cold, 0)...)
		_ = logger.Handler().Handle(r.Context(), line)
	}
}

// logRefusal logs a request of an application that was refused because there are too many, or because the store does not answer. With
// metrics, it writes a line for the first of a route, and counts the others: under overload, lines would cost more than the requests.
func (s *service) logRefusal(r *http.Request, o outcome, status int, failure errorBody) {
	if s.config.Metrics == nil || s.counts.isFirst(requestKind{o.route, status}) {
		s.log(r, o, status, failure)
		return
	}
	o.status = status
	s.count(r, o)
}

// causeOf returns the cause of an error, without the messages for callers, because those can contain names.
func causeOf(err error) string {
	switch e := err.(type) { //nolint:errorlint // this walks the chain itself
	case nil:
		return ""
	case *flags.Error:
		return causeOf(e.Err)
	case interface{ Unwrap() []error }:
		var causes []string
		for _, one := range e.Unwrap() {
			if cause := causeOf(one); cause != "" && !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
		return strings.Join(causes, "; ")
	}
	return err.Error()
}

// PanicError returns the error of a panic, with the stack for the log.
func PanicError(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// recover returns 500 after a panic, so that a defect in one request does not end the process.
func (s *service) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	cause := PanicError(p)
	status, body := describe(cause)
	s.log(r, outcome{route: r.Pattern, err: cause}, status, body)
	document, _ := json.Marshal(body) // plain strings always marshal
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(document)
}
