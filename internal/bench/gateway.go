package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// startTimeout allows for a first start, which fetches the engine.
const startTimeout = 3 * time.Minute

// guidon opens a server for each phase: the one at GUIDON_URL, or a new
// gateway over an empty data folder.
type guidon struct {
	url    string // of a running one; empty: start them
	token  string
	root   string // the module, where template.yaml is
	dir    string // temporary: the binary, and a folder a phase
	phases int
	peaks  []peak // of the gateways so far, the highest of each process
}

// openGuidon builds the gateway once, unless one is already running.
func openGuidon(ctx context.Context) (*guidon, error) {
	g := &guidon{url: os.Getenv("GUIDON_URL"), token: env("GUIDON_TOKEN", defaultToken)}
	if g.url != "" {
		return g, nil
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for the module: %w", err)
	}
	g.root = strings.TrimSpace(string(root))
	if g.dir, err = os.MkdirTemp("", "guidon-bench-"); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", g.binary(), "./cmd/guidon")
	build.Dir = g.root
	if out, err := build.CombinedOutput(); err != nil {
		g.close()
		return nil, fmt.Errorf("building the gateway: %w\n%s", err, out)
	}
	return g, nil
}

func (g *guidon) binary() string { return filepath.Join(g.dir, "gateway") }

func (g *guidon) close() {
	if g.dir != "" {
		_ = os.RemoveAll(g.dir)
	}
}

// open starts a gateway and waits until it serves. Closing the target notes
// the memory it took, stops it and removes its data.
func (g *guidon) open(ctx context.Context) (*target, error) {
	if g.url != "" {
		return newTarget(g.url, g.token), nil
	}
	g.phases++
	data := filepath.Join(g.dir, fmt.Sprint(g.phases))
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p, err := g.start(ctx, port, data)
	if err != nil {
		return nil, err
	}
	t := newTarget("http://127.0.0.1:"+port, g.token)
	t.temporary, t.printed = true, p.printed
	disconnect := t.close
	end := func() {
		g.peaks = highest(g.peaks, peaksOf(p.cmd.Process.Pid, "the gateway"))
		disconnect()
		p.stop()
	}
	t.close = func() {
		end()
		_ = os.RemoveAll(data)
	}
	// The engine slows as request tokens pile up, which filling it has done, and forgets them when it ends.
	t.settle = func(ctx context.Context) (err error) {
		end()
		if p, err = g.start(ctx, port, data); err != nil {
			return err
		}
		t.printed = p.printed
		return p.awaitHealth(ctx, t)
	}
	if err := p.awaitHealth(ctx, t); err != nil {
		t.close()
		return nil, fmt.Errorf("%w\n%s", err, p.printed())
	}
	return t, nil
}

// process is a started gateway.
type process struct {
	cmd   *exec.Cmd
	stop  func()        // asks it to end and waits until it has
	ended chan struct{} // closed once it has
	log   string        // the file it prints to
}

// start runs the gateway in a process group of its own: a Ctrl-C is then one
// signal to it, ours, and cannot cut its clean end short. It prints to a file,
// since a pipe would have the benchmark work while it measures.
func (g *guidon) start(ctx context.Context, port, data string) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{cmd: exec.CommandContext(ctx, g.binary(), "serve"), ended: make(chan struct{}), log: data + ".log"}
	log, err := os.Create(p.log)
	if err != nil {
		cancel()
		return nil, err
	}
	defer func() { _ = log.Close() }() // the gateway has its own handle
	p.cmd.Dir = g.root
	p.cmd.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+data, "INIT_ADMIN_API_TOKENS="+g.token,
		"LOG_LEVEL="+env("LOG_LEVEL", "warn")) // as quiet as the server it is measured beside
	p.cmd.Stdout, p.cmd.Stderr = log, log
	ownGroup(p.cmd)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 10 * time.Second // then it is killed
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // it always ends by our signal or before its time; awaitHealth reports the latter
		close(p.ended)
	}()
	p.stop = func() { cancel(); <-p.ended }
	return p, nil
}

// awaitHealth returns once GET /health answers, or with an error when the
// gateway ends or takes too long.
func (p *process) awaitHealth(ctx context.Context, t *target) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, err := t.send(ctx, request{method: http.MethodGet, path: "/health", want: http.StatusOK})
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New("the gateway ended at once")
		case <-ctx.Done():
			return fmt.Errorf("the gateway does not serve: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// printed gives the end of what the gateway printed.
func (p *process) printed() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-4096):])
}

// freePort gives a port that was free just now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
