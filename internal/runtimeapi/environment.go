package runtimeapi

import (
	"cmp"
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
	"github.com/prometheus/procfs"

	"guidon/internal/child"
	"guidon/internal/guard"
)

// An environment is a process with its own Runtime API.
type environment struct {
	name   string
	server *guard.Server
	events chan *invocation // to the process
	begun  time.Time
	init   time.Duration // set before ready is closed
	ready  chan struct{} // closed when the process first requests an event
	*child.Process

	extensions   []*extension
	freeze, thaw os.Signal

	mu      sync.Mutex
	current *invocation // the event that the process is working on
	initErr error       // reported by the process
}

// An invocation is an event that was sent.
type invocation struct {
	id       string
	event    []byte
	deadline time.Time
	outcome  chan outcome // buffered: the caller may have given up
}

type outcome struct {
	answer []byte
	err    error
}

// maxAnswer is the largest response that Lambda accepts, in bytes.
const maxAnswer = 6 << 20

// functionARN is the ARN of a function, without its name.
const functionARN = "arn:aws:lambda:local:000000000000:function:"

// endTimeout is how long a process may take to end after the interrupt.
const endTimeout = 2 * time.Second

func newEnvironment(f *Function) (*environment, error) {
	e := &environment{
		name: f.Name, freeze: f.Freeze, thaw: f.Thaw,
		events: make(chan *invocation),
		ready:  make(chan struct{}),
	}
	const api = "/2018-06-01/runtime"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api+"/invocation/next", e.next)
	mux.HandleFunc("POST "+api+"/invocation/{id}/response", e.response)
	mux.HandleFunc("POST "+api+"/invocation/{id}/error", e.failed)
	mux.HandleFunc("POST "+api+"/init/error", e.initFailed)
	mux.HandleFunc("POST /2020-01-01/extension/register", e.register)
	mux.HandleFunc("GET /2020-01-01/extension/event/next", e.nextForExtension)
	var err error
	if e.server, err = guard.Serve("0", mux); err != nil {
		return nil, err
	}
	if f.Log == nil {
		f.Log = io.Discard
	}
	for _, command := range f.Extensions {
		if _, err := e.startExtension(f, command); err != nil {
			e.stop()
			return nil, err
		}
	}

	cmd := exec.Command(f.Command[0], f.Command[1:]...)
	cmd.Env = f.variables(e.address())
	cmd.Stdout, cmd.Stderr = f.Log, f.Log
	e.mu.Lock() // the Runtime API is already running
	e.begun = time.Now()
	e.mu.Unlock()
	if e.Process, err = child.Start(cmd); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

// address is that of the Runtime API.
func (e *environment) address() string { return strings.TrimPrefix(e.server.URL, "http://") }

// invoke sends an event to the process and waits for the response, and until the extensions have done their work.
func (e *environment) invoke(event []byte, timeout time.Duration) ([]byte, error) {
	in := &invocation{id: uuid.NewString(), event: event, deadline: time.Now().Add(timeout), outcome: make(chan outcome, 1)}
	late := time.NewTimer(timeout)
	defer late.Stop()
	e.signal(e.thaw)
	for _, x := range e.invoked() {
		event := extensionEvent{Type: "INVOKE", Deadline: in.deadline.UnixMilli(), RequestID: in.id, FunctionARN: functionARN + e.name}
		if err := x.send(event, timeout); err != nil {
			return nil, err
		}
	}
	answer, err := e.exchange(in, late.C, timeout)
	if _, failed := errors.AsType[*Error](err); err == nil || failed {
		err = cmp.Or(e.settle(e.invoked(), late.C), err)
	}
	e.signal(e.freeze)
	return answer, err
}

// exchange sends an event to the process and waits for the response.
func (e *environment) exchange(in *invocation, late <-chan time.Time, timeout time.Duration) ([]byte, error) {
	select {
	case e.events <- in:
	case <-e.Ended():
		return nil, errors.New("the process ended between two events")
	case <-late:
		return nil, fmt.Errorf("the process did not request an event within %s", timeout)
	}
	select {
	case out := <-in.outcome:
		return out.answer, out.err
	case <-e.Ended():
		return nil, errors.New("the process ended while processing an event")
	case <-late:
		return nil, fmt.Errorf("timed out after %s", timeout)
	}
}

// next waits for an event and sends it to the process.
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
	header.Set("Lambda-Runtime-Invoked-Function-Arn", functionARN+e.name)
	_, _ = w.Write(in.event) // an error means that the process has ended
}

func (e *environment) response(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = &Error{Type: "Function.ResponseSizeTooLarge", Message: "the response is larger than Lambda accepts (6 MB)"}
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

// finish receives the outcome of the current event. An outcome of another event is late and ignored.
func (e *environment) finish(w http.ResponseWriter, r *http.Request, out outcome) {
	e.mu.Lock()
	in := e.current
	known := in != nil && in.id == r.PathValue("id")
	if known {
		e.current = nil
	}
	e.mu.Unlock()
	if !known {
		http.Error(w, `{"errorType":"InvalidRequestID","errorMessage":"the request id is not that of the current event"}`, http.StatusBadRequest)
		return
	}
	in.outcome <- out
	w.WriteHeader(http.StatusAccepted)
}

func readError(body io.Reader) error {
	failure := &Error{}
	if err := json.NewDecoder(body).Decode(failure); err != nil {
		return fmt.Errorf("parsing the error of the function: %w", err)
	}
	return failure
}

// stop stops the process, the extensions and the Runtime API.
func (e *environment) stop() {
	e.signal(e.thaw)
	if e.Process != nil {
		e.Stop(os.Interrupt, endTimeout)
	}
	e.shutDown()
	_ = e.server.Close()
}

// measure returns the peak memory of a process in bytes and its processor time so far, on Linux; 0 elsewhere.
func measure(pid int) (peakRSS int64, cpu time.Duration) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0
	}
	status, statusErr := p.NewStatus()
	stat, statErr := p.Stat()
	if statusErr != nil || statErr != nil {
		return 0, 0
	}
	return int64(status.VmHWM), time.Duration(stat.CPUTime() * float64(time.Second))
}
