// Package runtimeapi runs a Lambda function's own binary, the bootstrap that ships, as a process over the Runtime API of
// AWS Lambda: it serves that API, hands the process one event after the other, and takes its answers. It is for tests and
// measurements where there is no Docker, and so no `sam local`.
package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// A Function is a Lambda function with at most one process, which the first event starts, and the next one after its
// end. Its fields are set before the first call; its methods may be called by several goroutines.
type Function struct {
	Name    string            // as in the template: "FeaturesFunction"
	Command []string          // the bootstrap, after whatever runs it when it is for another architecture
	Env     map[string]string // and no other variables but those that Lambda sets
	Timeout time.Duration     // of an event; then the process is killed, as Lambda does
	Memory  int               // MB, for the process to know; nothing holds it to them
	Log     io.Writer         // what the process prints; nil for nowhere

	mu     sync.Mutex // one event at a time, as in one environment of Lambda
	env    *environment
	report Report
}

// A Report is what became of a function's processes.
type Report struct {
	Events   int           // that were answered
	Starts   int           // of processes
	Init     time.Duration // from the first one's start to its first call for an event
	PeakRSS  int64         // bytes, the most that any process held; 0 where the system does not tell
	Longest  time.Duration // that an event took
	Duration time.Duration // of all of them
}

// An Error is what a function says when it fails: its handler's error, or a panic.
type Error struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// initTimeout is how long Lambda lets a process take until it asks for an event.
const initTimeout = 10 * time.Second

// Invoke has the function answer an event. The error is an *Error when the function itself says that it failed.
func (f *Function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.env == nil {
		if err := f.start(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	begun := time.Now()
	answer, err := f.env.invoke(event, f.Timeout)
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		f.end()
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	took := time.Since(begun)
	f.report.Events++
	f.report.Duration += took
	f.report.Longest = max(f.report.Longest, took)
	return answer, err
}

// Stop ends the process. The next event would start another.
func (f *Function) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

// Report is what there is to say until now.
func (f *Function) Report() Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look()
	return f.report
}

func (f *Function) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	env, err := newEnvironment(f)
	if err != nil {
		return err
	}
	f.env = env
	f.report.Starts++
	select {
	case <-env.ready:
	case <-env.Ended():
		err = errors.Join(errors.New("the process ended before it asked for an event"), env.failure())
	case <-ctx.Done():
		err = fmt.Errorf("the process has not asked for an event: %w", ctx.Err())
	}
	if err != nil {
		f.end()
		return err
	}
	if f.report.Starts == 1 {
		f.report.Init = env.init
	}
	return nil
}

func (f *Function) end() {
	if f.env == nil {
		return
	}
	f.look()
	f.env.stop()
	f.env = nil
}

// look brings the report's memory up to date, while there is a process to look at.
func (f *Function) look() {
	if f.env != nil {
		f.report.PeakRSS = max(f.report.PeakRSS, peakRSS(f.env.PID()))
	}
}

// variables are those of the process: the function's, and what Lambda sets.
func (f *Function) variables(address string) []string {
	all := map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          address,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_LOG_FORMAT":           "JSON",
		"_HANDLER":                        "bootstrap",
		"LAMBDA_TASK_ROOT":                "/var/task",
		"TZ":                              ":UTC",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
	}
	for name, value := range f.Env {
		all[name] = value
	}
	list := make([]string, 0, len(all))
	for name, value := range all {
		list = append(list, name+"="+value)
	}
	return list
}
