// Package child starts child processes for the local server, tests and measurements: it waits until they are ready,
// keeps what they print, and stops them.
//
// A process runs in a group of its own, so that Ctrl-C in the terminal reaches only the parent, which then stops its
// children in order. On Linux, the kernel kills the process when its parent is killed.
package child

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// A Process is a command that is started once.
type Process struct {
	Cmd    *exec.Cmd
	Output Output // what it printed, where Cmd has no Stdout or Stderr of its own

	ended chan struct{}
}

// Start starts a command. Its Stdout and Stderr, where they are not set, go to Output.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd}
	return p, p.Start()
}

// Start starts p.Cmd.
func (p *Process) Start() error {
	p.ended = make(chan struct{})
	if p.Cmd.Stdout == nil {
		p.Cmd.Stdout = &p.Output
	}
	if p.Cmd.Stderr == nil {
		p.Cmd.Stderr = &p.Output
	}
	if p.Cmd.WaitDelay == 0 {
		p.Cmd.WaitDelay = 5 * time.Second // grandchildren may hold the output open
	}
	if p.Cmd.SysProcAttr == nil {
		p.Cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	ownGroup(p.Cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		// Linux kills the child when the thread that started it ends, so this goroutine keeps its thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := p.Cmd.Start()
		started <- err
		if err == nil {
			_ = p.Cmd.Wait() // the result is in Cmd.ProcessState
		}
	}()
	return <-started
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Await returns when ready returns no error. It fails when the process ends or ctx does.
func (p *Process) Await(ctx context.Context, ready func(context.Context) error) error {
	name := filepath.Base(p.Cmd.Path)
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it was ready (%s): %w; it printed:\n%s", name, p.Cmd.ProcessState, err, p.Output.End())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; it printed:\n%s", name, err, p.Output.End())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Serves returns a check for Await: whether a GET of the URL is answered with the status, or with any for 0.
func Serves(url string, status int) func(context.Context) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		if _ = resp.Body.Close(); status != 0 && resp.StatusCode != status {
			return fmt.Errorf("GET %s: %s, want %d", url, resp.Status, status)
		}
		return nil
	}
}

// Stop sends the process a signal, and kills it if it has not ended after patience. On Windows, which has no such
// signals, it kills the process.
func (p *Process) Stop(signal os.Signal, patience time.Duration) {
	if p.Cmd.Process.Signal(signal) == nil {
		select {
		case <-p.ended:
			return
		case <-time.After(patience):
		}
	}
	p.Kill()
}

// Kill kills the process, on Unix with its group, and waits for its end.
func (p *Process) Kill() {
	select {
	case <-p.ended:
	default:
		kill(p.Cmd.Process)
		<-p.ended
	}
}

// FreePort returns a port of 127.0.0.1 that nothing listens on.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
