// Package engine finds, fetches and runs the DynamoDB that Guidon uses on a developer's machine and in tests, so that
// neither needs an account, Docker or anything installed by hand.
//
// The default engine is dynoxide, one static binary over SQLite that npm carries for each platform; with
// ENGINE=dynamodb-local in the environment it is Amazon's own DynamoDB Local, which wants Java 17 and Maven. Both are
// fetched once, at a pinned version, into LocalDir.
//
// Neither engine checks who calls it, so callers reach it through a server in this process that requires a secret in the
// path (package guard): the secret is part of URL. Dynoxide itself opens no port (package dynoxide). DynamoDB Local
// must: any process on the machine can call it directly, so it is for tests only.
//
// An engine never outlives the process that started it: dynoxide ends when its input is closed, and on Linux the kernel
// ends either with its parent. A DynamoDB Local that was left behind elsewhere is found by the lock file beside its data,
// and ended at the next start.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"guidon/internal/guard"
)

// Options say how to run an engine.
type Options struct {
	DataFile string    // where the data is kept; empty for in memory
	Port     int       // on 127.0.0.1; 0 for a free one
	Log      io.Writer // what is fetched, and what the engine prints; nil for nowhere
	Begins   bool      // new data counts only once Finish was called: until then a start begins again without it
}

const (
	readyTimeout = 30 * time.Second // DynamoDB Local needs a few seconds on a slow machine, dynoxide some milliseconds
	stopTimeout  = 5 * time.Second  // then it is killed; the data of both engines survives that
)

// An Engine is a running DynamoDB. Its methods may be called by several goroutines.
type Engine struct {
	program program
	data    string // absolute; empty for in memory
	log     io.Writer
	lock    *lock // nil in memory
	server  *guard.Server
	handler atomic.Pointer[http.Handler] // calls the running process; nil while none runs

	mu      sync.Mutex
	process *process // nil while stopped
}

// Start runs an engine and returns once it answers. The caller stops it; the context bounds the start alone.
func Start(ctx context.Context, o Options) (*Engine, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	local, err := LocalDir()
	if err != nil {
		return nil, err
	}
	p, err := find(ctx, os.Getenv("ENGINE"), local, o.Log)
	if err != nil {
		return nil, err
	}
	e := &Engine{program: p, log: o.Log}
	if o.DataFile != "" {
		if err := e.openData(o); err != nil {
			return nil, err
		}
	}
	if e.server, err = guard.Serve(strconv.Itoa(o.Port), e); err == nil {
		err = e.start(ctx)
	}
	if err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// openData takes the lock of the data, and makes its files readable by this user only.
func (e *Engine) openData(o Options) (err error) {
	if e.data, err = filepath.Abs(o.DataFile); err != nil {
		return err
	}
	if err := privateFolder(filepath.Dir(e.data)); err != nil {
		return err
	}
	if e.lock, err = takeLock(e.data, e.program.mark, o.Log); err != nil {
		return err
	}
	if o.Begins {
		err = begin(e.data)
	}
	if err == nil {
		err = privateFiles(e.data)
	}
	if err != nil {
		e.lock.release()
	}
	return err
}

// URL is the engine's address, the same after a Restart. It contains the secret without which nothing is served.
func (e *Engine) URL() string { return e.server.URL }

// ServeHTTP passes a request to the running process. While there is none, and when it gives no answer, the connection is
// closed without an answer.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler := e.handler.Load()
	if handler == nil {
		panic(http.ErrAbortHandler)
	}
	(*handler).ServeHTTP(w, r)
}

// Stop ends the engine and gives its data free. A stopped one may be stopped again.
func (e *Engine) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		_ = e.server.Close()
	}
	e.handler.Store(nil)
	e.process.stop()
	e.process = nil
	e.lock.release()
	e.lock = nil
}

// Ended is closed when the running engine has ended, by itself or because it was told to.
func (e *Engine) Ended() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	return e.process.done
}

// Kill ends the engine as a power failure would (SIGKILL). Restart brings it back.
func (e *Engine) Kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handler.Store(nil)
	e.process.kill()
	e.process = nil
}

// Restart ends the engine, if it runs, and starts it again on the same address and data. One in memory comes back empty,
// and request tokens are forgotten by either.
func (e *Engine) Restart(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data != "" && e.lock == nil {
		return errors.New("the engine was stopped for good")
	}
	e.handler.Store(nil)
	e.process.stop()
	e.process = nil
	return e.startLocked(ctx)
}

func (e *Engine) start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.startLocked(ctx)
}

// startLocked runs the engine and waits until it answers.
func (e *Engine) startLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	p, err := e.program.launch(e.data, e.log)
	if err != nil {
		return fmt.Errorf("%s: %w", e.program.name, err)
	}
	// The note comes before the wait, so that an engine is never long without one.
	err = e.lock.note(p.pid(), e.server.URL)
	var handler http.Handler
	if err == nil {
		handler, err = p.connect(ctx)
	}
	if err != nil {
		p.kill()
		return fmt.Errorf("%s: %w", e.program.name, err)
	}
	e.handler.Store(&handler)
	e.process = p
	return nil
}
