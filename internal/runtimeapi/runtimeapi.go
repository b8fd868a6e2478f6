// Package runtimeapi runs the built binary of a Lambda function as a process. It serves the Runtime API of AWS Lambda to
// the process, sends it events one after another and receives its responses. It runs the functions without Docker, and extensions
// beside them.
package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"
)

// A Function is a Lambda function with at most one process. An event starts the process if it is not running. Set the
// fields before the first call; the methods may be called by several goroutines.
type Function struct {
	Name    string            // as in the template: "FeaturesFunction"
	Command []string          // the binary, after an emulator if it is for another architecture
	Env     map[string]string // in addition to the variables that Lambda sets
	Timeout time.Duration     // of an event; then the process is killed, as on Lambda
	Memory  int               // in MB; the process is told, but not limited
	Log     io.Writer         // for the output of the process; may be nil

	Extensions [][]string // the commands of external extensions, which run beside the process, with its environment

	// Lambda freezes all processes of an environment between two events. These signals, SIGSTOP and SIGCONT, do that here; nil for none.
	Freeze, Thaw os.Signal

	mu     sync.Mutex // one event at a time, as in one environment of Lambda
	env    *environment
	report Report
}

// A Report summarizes the processes of a function.
type Report struct {
	Events   int           // answered
	Starts   int           // of processes
	Init     time.Duration // of the first process, from its start to its first request for an event
	PeakRSS  int64         // in bytes, the maximum of all processes; 0 where it is not known
	CPU      time.Duration // the processor time of the last process; 0 where it is not known
	Longest  time.Duration // of an event
	Duration time.Duration // of all events
}

// An Error is a failure that the function reported: an error of its handler, or a panic.
type Error struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// initTimeout is how long Lambda waits for the first request for an event.
const initTimeout = 10 * time.Second

// Invoke sends an event and returns the response. The error is an *Error if the function reported it.
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

// Start starts the process if it is not running, and waits until it requests an event.
func (f *Function) Start(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.env != nil {
		return nil
	}
	if err := f.start(ctx); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// Stop stops the process. The next event starts a new one.
func (f *Function) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

// Report returns the summary so far.
func (f *Function) Report() Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.measure()
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
		err = errors.Join(errors.New("the process ended before it requested an event"), env.failure())
	case <-ctx.Done():
		err = fmt.Errorf("the process did not request an event: %w", ctx.Err())
	}
	if err == nil {
		err = env.settle(env.extensions, time.After(initTimeout))
	}
	if err != nil {
		f.end()
		return err
	}
	env.signal(f.Freeze)
	if f.report.Starts == 1 {
		f.report.Init = env.init
	}
	return nil
}

func (f *Function) end() {
	if f.env == nil {
		return
	}
	f.measure()
	f.env.stop()
	if state := f.env.Cmd.ProcessState; state != nil {
		f.report.CPU = state.UserTime() + state.SystemTime()
	}
	f.env = nil
}

// measure updates the memory and the processor time in the report.
func (f *Function) measure() {
	if f.env == nil {
		return
	}
	peak, cpu := measure(f.env.PID())
	f.report.PeakRSS, f.report.CPU = max(f.report.PeakRSS, peak), cpu
}

// variables returns the environment of the process: the variables of the function, and those that Lambda sets.
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
