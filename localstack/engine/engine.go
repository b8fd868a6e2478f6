// Package engine finds, fetches and runs the DynamoDB that Guidon uses on a developer's machine and in tests, so that
// neither needs an account, Docker or anything installed by hand.
//
// The default engine is dynoxide, one static binary over SQLite that npm carries for each platform; with
// ENGINE=dynamodb-local in the environment it is Amazon's own DynamoDB Local, which wants Java 17 and Maven. Both are
// fetched once, at a pinned version, into LocalDir.
//
// An engine never outlives the process that started it: on Linux the kernel ends it with its parent; elsewhere one
// left behind by a parent that was killed is found by the lock file beside its data, and ended at the next start.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
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
	portTries    = 20
)

// An Engine is a running DynamoDB. Its methods may be called by several goroutines.
type Engine struct {
	program program
	data    string // absolute; empty for in memory
	log     io.Writer
	lock    *lock // nil in memory

	mu      sync.Mutex
	port    int
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
	e := &Engine{program: p, port: o.Port, log: o.Log}
	if o.DataFile != "" {
		if e.data, err = filepath.Abs(o.DataFile); err != nil {
			return nil, err
		}
		if e.lock, err = takeLock(e.data, p.mark, o.Log); err != nil {
			return nil, err
		}
		if o.Begins {
			if err := begin(e.data); err != nil {
				e.lock.release()
				return nil, err
			}
		}
	}
	if err := e.start(ctx); err != nil {
		e.lock.release()
		return nil, err
	}
	return e, nil
}

// URL is the engine's address, the same after a Restart.
func (e *Engine) URL() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return "http://" + address(e.port)
}

// Stop ends the engine and gives its data free. A stopped one may be stopped again.
func (e *Engine) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
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
	e.process.kill()
	e.process = nil
}

// Restart ends the engine, if it runs, and starts it again on the same port and data. One in memory comes back empty,
// and request tokens are forgotten by either.
func (e *Engine) Restart(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data != "" && e.lock == nil {
		return errors.New("the engine was stopped for good")
	}
	e.process.stop()
	e.process = nil
	return e.startLocked(ctx)
}

func (e *Engine) start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.startLocked(ctx)
}

// startLocked tries again when the port is taken: a free one may be gone by the time the engine listens, and the own
// one, between the two halves of a restart, may serve somebody's outgoing connection for a moment.
func (e *Engine) startLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for try := 1; ; try++ {
		port, err := free(e.port)
		var p *process
		if err == nil {
			p, err = e.run(ctx, port)
		}
		if err == nil {
			e.port, e.process = port, p
			return nil
		}
		if try == portTries || ctx.Err() != nil || !strings.Contains(err.Error(), "in use") {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// run starts the engine on a port and waits until it answers there.
func (e *Engine) run(ctx context.Context, port int) (*process, error) {
	p, err := launch(e.program.command(port, e.data), e.log)
	if err != nil {
		return nil, err
	}
	// The note comes before the wait, so that an engine is never long without one.
	err = e.lock.note(p.pid(), port)
	if err == nil {
		err = p.waitReady(ctx, "http://"+address(port), e.program.ready)
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("%s: %w", e.program.name, err)
	}
	return p, nil
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// free is the port if nobody listens there, or any free one for 0.
func free(port int) (int, error) {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
