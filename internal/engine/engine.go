// Package engine downloads and runs the DynamoDB that Guidon uses on a developer's machine and in tests. It needs no AWS
// account, no Docker and no installation by hand.
//
// The default engine is dynoxide, a static binary over SQLite that npm has for each platform. With ENGINE=dynamodb-local
// it is Amazon's own DynamoDB Local, which needs Java 17 and Maven. Each is downloaded once, at a pinned version, into
// LocalDir. If ENGINE is an absolute path, it is a dynoxide program, and nothing is downloaded.
//
// Neither engine authenticates its callers. Guidon calls it in this process (ServeHTTP); others call it through a server that requires a
// secret in the path (package guard), which is in the URL of an engine. Dynoxide opens no port (package dynoxide). DynamoDB
// Local opens one that any process on the machine can call, so it is for tests only. Tests of the packages that use a store
// call dynoxide's own HTTP server (Options.Direct), which takes a quarter less processor time. `guidon serve` does not:
// that server answers every web page that a developer opens, with CORS headers.
//
// Dynoxide never outlives the process that started it: it ends when its input is closed. DynamoDB Local ends with its
// parent on Linux; on other systems it has to be ended by hand when its parent was killed.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"guidon/internal/child"
	"guidon/internal/guard"
)

// Options configure an engine.
type Options struct {
	DataFile string    // empty to keep the data in memory
	Port     int       // on 127.0.0.1; 0 for any free port
	Log      io.Writer // for downloads and the engine's output; may be nil
	Begins   bool      // new data is discarded at the next start unless Finish was called
	Direct   bool      // for tests: callers use the engine's own HTTP server, which is faster and asks for no secret
}

// An Engine is a running DynamoDB. Its methods may be called by several goroutines.
type Engine struct {
	program program
	data    string // absolute path; empty in memory
	log     io.Writer
	direct  string // port of the engine's own server with Options.Direct
	server  *guard.Server
	handler atomic.Pointer[http.Handler] // calls the running engine; nil while none runs

	mu      sync.Mutex
	lock    *lock     // nil in memory, and after Stop
	running *instance // nil while stopped
}

// Start runs an engine and returns when it answers. The context limits the start only; the caller stops the engine.
func Start(ctx context.Context, o Options) (*Engine, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	p, err := find(ctx, os.Getenv("ENGINE"), o.Log)
	if err != nil {
		return nil, err
	}
	e := &Engine{program: p, log: o.Log}
	if o.DataFile != "" {
		if err := e.openData(o); err != nil {
			return nil, err
		}
	}
	if o.Direct {
		err = e.startDirect(ctx)
	} else if e.server, err = guard.Serve(strconv.Itoa(o.Port), e); err == nil {
		err = e.start(ctx)
	}
	if err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// startDirect starts the engine on a free port, and on another one if a different process has taken it first.
func (e *Engine) startDirect(ctx context.Context) (err error) {
	for range 3 {
		if e.direct, err = child.FreePort(); err != nil {
			return err
		}
		if err = e.start(ctx); err == nil {
			return nil
		}
	}
	return err
}

// openData locks the data, and makes its files readable by this user only.
func (e *Engine) openData(o Options) (err error) {
	if e.data, err = filepath.Abs(o.DataFile); err != nil {
		return err
	}
	if err := privateFolder(filepath.Dir(e.data)); err != nil {
		return err
	}
	if e.lock, err = lockData(e.data); err != nil {
		return err
	}
	if o.Begins {
		err = begin(e.data)
	}
	if err == nil {
		err = privateFiles(e.data)
	}
	if err != nil {
		return errors.Join(err, e.lock.release())
	}
	return nil
}

// URL returns the address of the engine, which contains the secret unless the engine is Direct. A Restart does not change it.
func (e *Engine) URL() string {
	if e.direct != "" {
		return "http://" + net.JoinHostPort("127.0.0.1", e.direct)
	}
	return e.server.URL
}

// ServeHTTP passes a request to the engine. Without an answer it closes the connection.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler := e.handler.Load()
	if handler == nil {
		panic(http.ErrAbortHandler)
	}
	(*handler).ServeHTTP(w, r)
}

// Stop stops the engine and unlocks its data. It may be called again.
func (e *Engine) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		_ = e.server.Close()
	}
	e.stopLocked()
	if e.lock != nil {
		_ = e.lock.release() // the system releases it with the process
		e.lock = nil
	}
}

// Ended is closed when the running engine has ended, by itself or by Stop.
func (e *Engine) Ended() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	return e.running.Ended()
}

// Kill ends the engine as a power failure would (SIGKILL). Restart starts it again.
func (e *Engine) Kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handler.Store(nil)
	if e.running != nil {
		e.running.Kill()
		e.running = nil
	}
}

// Restart stops the engine, if it runs, and starts it on the same address and data. Data in memory is lost, and so are
// the request tokens of earlier transactions.
func (e *Engine) Restart(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data != "" && e.lock == nil {
		return errors.New("the engine was stopped, and cannot be started again")
	}
	e.stopLocked()
	return e.startLocked(ctx)
}

func (e *Engine) start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.startLocked(ctx)
}

// startLocked starts the engine and waits until it answers.
func (e *Engine) startLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	i, err := e.program.launch(e.data, e.direct, e.log)
	if err != nil {
		return fmt.Errorf("%s: %w", e.program.name, err)
	}
	if e.lock != nil {
		err = e.lock.writeNote(i.PID(), e.URL())
	}
	var handler http.Handler
	if err == nil {
		handler, err = i.connect(ctx)
	}
	if err != nil {
		i.Kill()
		return fmt.Errorf("%s: %w", e.program.name, err)
	}
	e.handler.Store(&handler)
	e.running = i
	return nil
}

func (e *Engine) stopLocked() {
	e.handler.Store(nil)
	if e.running != nil {
		e.running.end()
		e.running = nil
	}
}
