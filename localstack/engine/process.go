package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A process is an engine that was started. The methods of a nil one, which is stopped, do nothing.
type process struct {
	cmd  *exec.Cmd
	tail *tail
	done chan struct{} // closed when it has ended
}

// launch starts cmd so that it ends with this process where the system can see to that, and so that Ctrl-C in the
// terminal reaches this process alone: the engine must answer until the last request is finished.
func launch(cmd *exec.Cmd, log io.Writer) (*process, error) {
	p := &process{cmd: cmd, tail: &tail{}, done: make(chan struct{})}
	out := io.MultiWriter(p.tail, log)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = detached()
	started := make(chan error)
	go func() {
		// Linux sends the death signal when the *thread* that forked ends, so this one stays until the engine does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its output
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// waitReady polls until the process has printed the word, if any, and something answers HTTP at url. Without the word
// it might be somebody else's engine that answers, on a port that both were after.
func (p *process) waitReady(ctx context.Context, url, word string) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		if strings.Contains(p.tail.String(), word) && answers(ctx, client, url) {
			select {
			case <-p.done: // then somebody else has answered
			default:
				return nil
			}
		}
		select {
		case <-p.done:
			return errors.New("ended at once: " + p.tail.String())
		case <-ctx.Done():
			return fmt.Errorf("does not answer at %s: %w; it printed: %s", url, ctx.Err(), p.tail)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}

// stop asks the process to end, and kills it if it takes too long.
func (p *process) stop() {
	if p == nil {
		return
	}
	if err := interrupt(p.cmd.Process); err == nil {
		select {
		case <-p.done:
			return
		case <-time.After(stopTimeout):
		}
	}
	p.kill()
}

func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // fails only when it has ended already
	<-p.done
}

// A tail keeps the end of what is written to it, for error messages.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if n := len(t.buf) - tailSize; n > 0 {
		t.buf = bytes.Clone(t.buf[n:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
