package runtimeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"guidon/internal/child"
	"guidon/internal/guard"
)

// An environment is a process with a Runtime API of its own.
type environment struct {
	name   string
	server *guard.Server
	events chan *invocation // what the process gets when it asks
	begun  time.Time
	init   time.Duration // set before ready is closed
	ready  chan struct{} // closed when the process first asks for an event
	*child.Process

	mu      sync.Mutex
	current *invocation // the one that the process works on
	initErr error       // what it said of a failed start
}

// An invocation is an event on its way.
type invocation struct {
	id       string
	event    []byte
	deadline time.Time
	outcome  chan outcome // takes one without anybody waiting
}

type outcome struct {
	answer []byte
	err    error
}

// maxAnswer is how large an answer Lambda takes.
const maxAnswer = 6 << 20

// endTimeout is how long a process has after SIGTERM.
const endTimeout = 2 * time.Second

func newEnvironment(f *Function) (*environment, error) {
	e := &environment{
		name:   f.Name,
		events: make(chan *invocation),
		ready:  make(chan struct{}),
	}
	const api = "/2018-06-01/runtime"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api+"/invocation/next", e.next)
	mux.HandleFunc("POST "+api+"/invocation/{id}/response", e.response)
	mux.HandleFunc("POST "+api+"/invocation/{id}/error", e.failed)
	mux.HandleFunc("POST "+api+"/init/error", e.initFailed)
	var err error
	if e.server, err = guard.Serve("0", mux); err != nil {
		return nil, err
	}

	cmd := exec.Command(f.Command[0], f.Command[1:]...)
	cmd.Env = f.variables(strings.TrimPrefix(e.server.URL, "http://"))
	if f.Log == nil {
		f.Log = io.Discard
	}
	cmd.Stdout, cmd.Stderr = f.Log, f.Log
	e.mu.Lock() // the Runtime API is served already
	e.begun = time.Now()
	e.mu.Unlock()
	if e.Process, err = child.Start(cmd); err != nil {
		_ = e.server.Close()
		return nil, err
	}
	return e, nil
}

// invoke hands the process an event and waits for its answer.
func (e *environment) invoke(event []byte, timeout time.Duration) ([]byte, error) {
	in := &invocation{id: uuid.NewString(), event: event, deadline: time.Now().Add(timeout), outcome: make(chan outcome, 1)}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case e.events <- in:
	case <-e.Ended():
		return nil, errors.New("the process ended by itself between two events")
	case <-late.C:
		return nil, fmt.Errorf("the process did not ask for an event in %s", timeout)
	}
	select {
	case out := <-in.outcome:
		return out.answer, out.err
	case <-e.Ended():
		return nil, errors.New("the process ended while it worked on an event")
	case <-late.C:
		return nil, fmt.Errorf("timed out after %s", timeout)
	}
}

// next gives the process its next event, once there is one.
func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	if e.init == 0 {
		e.init = time.Since(e.begun)
		close(e.ready)
	}
	e.mu.Unlock()
	var in *invocation
	select {
	case in = <-e.events:
	case <-r.Context().Done():
		return
	}
	e.mu.Lock()
	e.current = in
	e.mu.Unlock()
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Lambda-Runtime-Aws-Request-Id", in.id)
	header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(in.deadline.UnixMilli(), 10))
	header.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:000000000000:function:"+e.name)
	_, _ = w.Write(in.event) // a process that has gone cannot be told
}

func (e *environment) response(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = &Error{Type: "Function.ResponseSizeTooLarge", Message: "the answer is larger than Lambda takes"}
	}
	e.finish(w, r, outcome{answer: body, err: err})
}

func (e *environment) failed(w http.ResponseWriter, r *http.Request) {
	e.finish(w, r, outcome{err: readError(r.Body)})
}

func (e *environment) initFailed(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.initErr = readError(r.Body)
	e.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
}

func (e *environment) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.initErr
}

// finish takes the outcome of the current event. One of another event is late, and nobody waits for it.
func (e *environment) finish(w http.ResponseWriter, r *http.Request, out outcome) {
	e.mu.Lock()
	in := e.current
	known := in != nil && in.id == r.PathValue("id")
	if known {
		e.current = nil
	}
	e.mu.Unlock()
	if !known {
		http.Error(w, `{"errorType":"InvalidRequestID","errorMessage":"this is not the event that was given out"}`, http.StatusBadRequest)
		return
	}
	in.outcome <- out
	w.WriteHeader(http.StatusAccepted)
}

func readError(body io.Reader) error {
	failure := &Error{}
	if err := json.NewDecoder(body).Decode(failure); err != nil {
		return fmt.Errorf("the function's error cannot be read: %w", err)
	}
	return failure
}

// stop ends the process and its Runtime API.
func (e *environment) stop() {
	e.Stop(os.Interrupt, endTimeout)
	_ = e.server.Close()
}

// peakRSS is the most memory that a process has held, in bytes, as Linux tells it; 0 elsewhere.
func peakRSS(pid int) int64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kB << 10
		}
	}
	return 0
}
