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

// newLogger writes JSON, in the names that Lambda reads the time and level of a line by.
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

// log writes the line of a request, with its metrics if there are to be any: then it is written at every LOG_LEVEL.
// The id of the invocation is put into it by whoever knows it, see lambdahttp.Logger.
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
		line.AddAttrs(s.config.Metrics.Attrs(line.Time, o.route, status, cold, conflicts)...)
	}
	_ = logger.Handler().Handle(r.Context(), line) // where the log cannot be written, that cannot be told either
}

// causeOf is what is behind an error, without the messages to callers: those quote names.
func causeOf(err error) string {
	switch e := err.(type) { //nolint:errorlint // each link of the chain by itself
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

// panicked is the error of a panic, with the stack for the log.
func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// recover turns a panic into the 500. A defect in one request must not end the process that serves others.
func (s *service) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	cause := panicked(p)
	status, body := describe(cause)
	s.log(r, outcome{route: r.Pattern, err: cause}, status, body)
	document, _ := json.Marshal(body) // plain strings always marshal
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(document)
}
