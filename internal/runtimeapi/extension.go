package runtimeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"guidon/internal/child"
)

// An extension is an external extension: a process beside that of the function, which gets the same events.
type extension struct {
	name       string // of its file
	id         string
	events     []string // that it registered for; set before registered is closed
	registered chan struct{}
	idle       chan struct{} // gets a value each time the extension asks for an event
	next       chan extensionEvent
	*child.Process
}

// An extensionEvent is what extensions get.
type extensionEvent struct {
	Type           string `json:"eventType"`
	Deadline       int64  `json:"deadlineMs"`
	RequestID      string `json:"requestId,omitzero"`
	FunctionARN    string `json:"invokedFunctionArn,omitzero"`
	ShutdownReason string `json:"shutdownReason,omitzero"`
}

// errCrash is what Lambda reports if an extension has ended.
var errCrash = errors.New("Extension.Crash: an extension has ended")

// startExtension starts an extension. It has to register before the function is started.
func (e *environment) startExtension(f *Function, command []string) (*extension, error) {
	x := &extension{
		name: filepath.Base(command[0]), id: uuid.NewString(),
		registered: make(chan struct{}), idle: make(chan struct{}, 1), next: make(chan extensionEvent),
	}
	e.mu.Lock()
	e.extensions = append(e.extensions, x)
	e.mu.Unlock()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = f.variables(e.address()), f.Log, f.Log
	var err error
	if x.Process, err = child.Start(cmd); err != nil {
		return nil, err
	}
	select {
	case <-x.registered:
		return x, nil
	case <-x.Ended():
		return nil, fmt.Errorf("the extension %s ended before it registered", x.name)
	case <-time.After(initTimeout):
		return nil, fmt.Errorf("the extension %s did not register", x.name)
	}
}

// extension returns the first extension that is as wanted; nil for none.
func (e *environment) extension(is func(*extension) bool) *extension {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.IndexFunc(e.extensions, is); i >= 0 {
		return e.extensions[i]
	}
	return nil
}

func (e *environment) register(w http.ResponseWriter, r *http.Request) {
	var body struct{ Events []string }
	x := e.extension(func(x *extension) bool { return x.name == r.Header.Get("Lambda-Extension-Name") })
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || x == nil {
		http.Error(w, `{"errorType":"Extension.InvalidExtensionName","errorMessage":"the name is not that of a file"}`, http.StatusForbidden)
		return
	}
	x.events = body.Events
	close(x.registered)
	w.Header().Set("Lambda-Extension-Identifier", x.id)
	_, _ = fmt.Fprintf(w, `{"functionName": %q, "functionVersion": "$LATEST", "handler": "bootstrap"}`, e.name)
}

func (e *environment) nextForExtension(w http.ResponseWriter, r *http.Request) {
	x := e.extension(func(x *extension) bool { return x.id == r.Header.Get("Lambda-Extension-Identifier") })
	if x == nil {
		http.Error(w, `{"errorType":"Extension.UnknownExtensionIdentifier","errorMessage":"the identifier is unknown"}`, http.StatusForbidden)
		return
	}
	select {
	case x.idle <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	select {
	case event := <-x.next:
		_ = json.NewEncoder(w).Encode(event) // an error means that the process has ended
	case <-r.Context().Done():
	}
}

// send sends an event to an extension that is idle.
func (x *extension) send(event extensionEvent, patience time.Duration) error {
	select {
	case x.next <- event:
		return nil
	case <-x.Ended():
		return errCrash
	case <-time.After(patience):
		return fmt.Errorf("the extension %s does not take an event", x.name)
	}
}

// settle waits until extensions have asked for the next event, which means that they have done their work.
func (e *environment) settle(extensions []*extension, late <-chan time.Time) error {
	for _, x := range extensions {
		select {
		case <-x.idle:
		case <-x.Ended():
			return errCrash
		case <-late:
			return errors.New("the extension " + x.name + " did not ask for the next event in time")
		}
	}
	return nil
}

// invoked returns the extensions that get invocations.
func (e *environment) invoked() (list []*extension) {
	for _, x := range e.extensions {
		if slices.Contains(x.events, "INVOKE") {
			list = append(list, x)
		}
	}
	return list
}

// signal sends a signal to all processes; nil for none.
func (e *environment) signal(s os.Signal) {
	if s == nil {
		return
	}
	for _, x := range e.extensions {
		if x.Process != nil {
			_ = x.Cmd.Process.Signal(s) // fails if it has ended
		}
	}
	if e.Process != nil {
		_ = e.Cmd.Process.Signal(s)
	}
}

// shutDown tells extensions about the end, and kills those that do not end in time.
func (e *environment) shutDown() {
	deadline := time.Now().Add(endTimeout)
	for _, x := range e.extensions {
		if x.Process == nil {
			continue
		}
		err := x.send(extensionEvent{Type: "SHUTDOWN", Deadline: deadline.UnixMilli(), ShutdownReason: "spindown"}, time.Until(deadline))
		if err == nil {
			select {
			case <-x.Ended():
			case <-time.After(time.Until(deadline)):
			}
		}
		x.Kill()
	}
}
