package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"guidon/internal/dynoxide"
)

// A process is an engine that was started. The methods of a nil one, which is stopped, do nothing.
type process struct {
	cmd  *exec.Cmd
	tail *tail
	done chan struct{} // closed when it has ended

	stdin, stdout *os.File // of an engine on pipes; else nil
	port          string   // of an engine on a port; else empty
}

// launchOnPipes starts an engine that is called over its standard input and output.
func launchOnPipes(cmd *exec.Cmd, log io.Writer) (*process, error) {
	fromUs, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, toUs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, fromUs.Close(), stdin.Close())
	}
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout}
	cmd.Stdin, cmd.Stdout = fromUs, toUs
	err = p.launch(log)
	_, _ = fromUs.Close(), toUs.Close() // the engine has copies
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	return p, nil
}

// launchOnPort starts an engine that listens on a port of the loopback address.
func launchOnPort(cmd *exec.Cmd, port string, log io.Writer) (*process, error) {
	p := &process{cmd: cmd, port: port}
	return p, p.launch(log)
}

// launch starts the process so that it ends with this one where the system can see to that, and so that Ctrl-C in the
// terminal reaches this process alone: the engine must answer until the last request is finished.
func (p *process) launch(log io.Writer) error {
	p.tail, p.done = &tail{}, make(chan struct{})
	out := io.MultiWriter(p.tail, log)
	p.cmd.Stderr = out
	if p.cmd.Stdout == nil {
		p.cmd.Stdout = out
	}
	p.cmd.SysProcAttr = detached()
	started := make(chan error)
	go func() {
		// Linux sends the death signal when the *thread* that forked ends, so this one stays until the engine does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in its output
		}
	}()
	return <-started
}

// connect waits until the engine answers, and returns the handler that calls it.
func (p *process) connect(ctx context.Context) (http.Handler, error) {
	if p.port != "" {
		return p.awaitPort(ctx)
	}
	client, err := dynoxide.NewClient(ctx, p.stdin, p.stdout)
	if err != nil {
		p.kill() // then its output is complete
		return nil, fmt.Errorf("does not answer: %w; it printed: %s", err, p.tail)
	}
	return client, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// awaitPort polls until something answers HTTP on the process's port.
func (p *process) awaitPort(ctx context.Context) (http.Handler, error) {
	at := &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", p.port)}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for !answers(ctx, client, at.String()) {
		select {
		case <-p.done:
			return nil, errors.New("ended at once: " + p.tail.String())
		case <-ctx.Done():
			return nil, fmt.Errorf("does not answer at %s: %w; it printed: %s", at, ctx.Err(), p.tail)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Header.Del("Origin") // else DynamoDB Local adds CORS headers
		},
		Transport:    &http.Transport{MaxIdleConnsPerHost: 256},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}, nil
}

// freePort is a port of the loopback address that nothing listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
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
	if p.end() == nil {
		select {
		case <-p.done:
			return
		case <-time.After(stopTimeout):
		}
	}
	p.kill()
}

// end asks the process to end: an engine on pipes ends when its input does.
func (p *process) end() error {
	if p.stdin != nil {
		return p.stdin.Close()
	}
	return interrupt(p.cmd.Process)
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
