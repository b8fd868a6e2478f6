package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"guidon/internal/child"
	"guidon/internal/engine"
)

const (
	startTimeout = 3 * time.Minute // the first start downloads the engine
	stopTimeout  = 10 * time.Second
)

// A target is a server under load.
type target struct {
	url, token string
	client     *http.Client
	temporary  bool                        // whether the server and its flags are gone after the phase
	settle     func(context.Context) error // called after the flags of a phase were created
	log        func() string               // the end of what it printed
	pids       func() []int                // of its processes, without their children; none if they are not known
	close      func()
}

// newTarget keeps a connection for each caller. Responses are compressed only in phases that ask for it, so that their sizes can be compared.
func newTarget(url, token string) *target {
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	return &target{
		url:    strings.TrimSuffix(url, "/"),
		token:  token,
		client: &http.Client{Transport: transport, Timeout: time.Minute},
		settle: func(context.Context) error { return nil },
		log:    func() string { return "" },
		pids:   func() []int { return nil },
		close:  transport.CloseIdleConnections,
	}
}

// running opens a server that is already running, with processes that may be unknown. settle is a shell command, or empty.
func running(url, token, settle string, pids []int) func(context.Context) (*target, error) {
	return func(context.Context) (*target, error) {
		t := newTarget(url, token)
		t.pids = func() []int { return pids }
		t.settle = func(ctx context.Context) error {
			if out, err := exec.CommandContext(ctx, "sh", "-c", settle).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", settle, err, out)
			}
			return nil
		}
		return t, nil
	}
}

// send sends a request, writes the response and returns its size. A status other than the expected one is an error.
func (t *target) send(ctx context.Context, r request, into io.Writer) (int64, error) {
	_, size, err := t.exchange(ctx, r, into)
	return size, err
}

// exchange is send, and also returns the header of the response.
func (t *target) exchange(ctx context.Context, r request, into io.Writer) (http.Header, int64, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, t.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", t.token)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	res, err := t.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != r.want {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
		if res.Header.Get("Content-Encoding") != "" {
			text = []byte("(compressed)")
		}
		return nil, 0, fmt.Errorf("%s %s: got status %d, expected %d: %s", r.method, r.path, res.StatusCode, r.want, text)
	}
	size, err := io.Copy(into, res.Body)
	return res.Header, size, err
}

// guidon opens the server at GUIDON_URL, or starts a new one for each phase.
type guidon struct {
	url, token string
	root       string // of the repository
	dir        string // temporary, for the program and the data
	phases     int
	peaks      map[string]uint64 // the highest memory use of each process, in bytes
}

func newGuidon(ctx context.Context) (*guidon, error) {
	g := &guidon{url: os.Getenv("GUIDON_URL"), token: cmp.Or(os.Getenv("GUIDON_TOKEN"), defaultToken), peaks: map[string]uint64{}}
	if g.url != "" {
		return g, nil
	}
	var err error
	if g.root, err = engine.Root(); err != nil {
		return nil, err
	}
	if g.dir, err = os.MkdirTemp("", "guidon-bench-"); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(g.dir, "guidon"), "./cmd/guidon")
	build.Dir = g.root
	if out, err := build.CombinedOutput(); err != nil {
		g.close()
		return nil, fmt.Errorf("building Guidon: %w\n%s", err, out)
	}
	return g, nil
}

func (g *guidon) close() {
	if g.dir != "" {
		_ = os.RemoveAll(g.dir)
	}
}

// open starts a server with an empty data folder. Closing the target records its memory use, stops it and removes its data.
func (g *guidon) open(ctx context.Context) (*target, error) {
	if g.url != "" {
		return newTarget(g.url, g.token), nil
	}
	g.phases++
	data := filepath.Join(g.dir, fmt.Sprint(g.phases))
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	t := newTarget("http://127.0.0.1:"+port, g.token)
	t.temporary = true
	t.log = func() string {
		text, _ := os.ReadFile(data + ".log")
		return string(text[max(0, len(text)-4096):])
	}
	p, err := g.start(ctx, port, data)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, t.log())
	}
	t.pids = func() []int { return []int{p.PID()} }
	disconnect := t.close
	stop := func() {
		if p != nil {
			notePeaks(g.peaks, p.PID())
			disconnect()
			p.Stop(syscall.SIGTERM, stopTimeout)
			p = nil
		}
	}
	t.close = func() {
		stop()
		_ = os.RemoveAll(data)
	}
	// The engine slows down as request tokens pile up, which happens while the flags are created. A restart removes them.
	t.settle = func(ctx context.Context) (err error) {
		stop()
		p, err = g.start(ctx, port, data)
		return err
	}
	return t, nil
}

// start starts Guidon and waits until it serves. It logs to a file: reading a pipe would take time from the measurement.
func (g *guidon) start(ctx context.Context, port, data string, variables ...string) (*child.Process, error) {
	log, err := os.Create(data + ".log")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	cmd := exec.Command(filepath.Join(g.dir, "guidon"), "serve")
	cmd.Dir, cmd.Stdout, cmd.Stderr = g.root, log, log
	cmd.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+data, "INIT_ADMIN_API_TOKENS="+g.token,
		"LOG_LEVEL="+cmp.Or(os.Getenv("LOG_LEVEL"), "warn")) // as in Unleash
	cmd.Env = append(cmd.Env, variables...)
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.Await(ctx, child.Serves("http://127.0.0.1:"+port+"/health", http.StatusOK)); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}
