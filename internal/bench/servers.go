package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	temporary  bool                                            // whether the server and its flags are gone after the phase
	settle     func(context.Context) error                     // called after the flags of a phase were created
	remove     func(ctx context.Context, names []string) error // removes flags from the list
	log        func() string                                   // the end of what it printed
	usage      func() usage
	close      func()
}

// newTarget keeps a connection for each caller. Responses are compressed only in phases that ask for it, so that their sizes can be compared.
func newTarget(url, token string) *target {
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	t := &target{
		url:    strings.TrimSuffix(url, "/"),
		token:  token,
		client: &http.Client{Transport: transport, Timeout: time.Minute},
		settle: func(context.Context) error { return nil },
		log:    func() string { return "" },
		usage:  func() usage { return usage{} },
		close:  transport.CloseIdleConnections,
	}
	t.remove = t.archive
	return t
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

// archive archives flags of the project.
func (t *target) archive(ctx context.Context, names []string) error {
	return t.batches(ctx, "archive", names, http.StatusAccepted)
}

// batches applies an operation for many flags of the project.
func (t *target) batches(ctx context.Context, operation string, names []string, want int) error {
	const atOnce = 100
	for some := range slices.Chunk(names, atOnce) {
		body, err := json.Marshal(map[string]any{"features": some})
		if err != nil {
			return err
		}
		r := request{method: http.MethodPost, path: "/api/admin/projects/default/" + operation, body: string(body), want: want}
		if _, err := t.send(ctx, r, io.Discard); err != nil {
			return err
		}
	}
	return nil
}

// guidon starts a new server for each phase.
type guidon struct {
	root      string   // of the repository
	dir       string   // temporary, for the programs and the data
	functions []string // their names
	phases    int
	peaks     map[string]uint64 // the highest memory use of each process, in bytes
}

func newGuidon(ctx context.Context) (*guidon, error) {
	g := &guidon{peaks: map[string]uint64{}}
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
	if err := g.buildFunctions(ctx); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *guidon) close() { _ = os.RemoveAll(g.dir) }

// open starts a server with an empty data folder.
func (g *guidon) open(ctx context.Context) (*target, error) {
	return g.openWith(ctx, serverUsage)
}

// openFunctions is open, and the server runs the built functions as processes.
func (g *guidon) openFunctions(ctx context.Context) (*target, error) {
	return g.openWith(ctx, functionsUsage, "FUNCTIONS="+g.functionsFolder())
}

// openWith starts a server with an empty data folder, and its engine. Closing the target records its memory use, stops it and removes
// its data.
//
// The engine belongs to this program, not to the server: dynoxide speaks over its standard input and output, and what turns that into
// the HTTP of DynamoDB would otherwise count as the server's own processor time.
func (g *guidon) openWith(ctx context.Context, usageOf func(pid int) usage, variables ...string) (*target, error) {
	g.phases++
	data := filepath.Join(g.dir, fmt.Sprint(g.phases))
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	t := newTarget("http://127.0.0.1:"+port, defaultToken)
	t.temporary = true
	t.log = func() string {
		text, _ := os.ReadFile(data + ".log")
		return string(text[max(0, len(text)-4096):])
	}
	e, err := engine.Start(ctx, engine.Options{DataFile: filepath.Join(data, "bench.db")})
	if err != nil {
		return nil, err
	}
	variables = append(variables, "AWS_ENDPOINT_URL_DYNAMODB="+e.URL())
	p, err := g.start(ctx, port, data, variables...)
	if err != nil {
		e.Stop()
		return nil, fmt.Errorf("%w\n%s", err, t.log())
	}
	t.usage = func() usage { return usageOf(p.PID()) }
	disconnect := t.close
	stop := func() {
		if p != nil {
			if len(variables) == 1 { // no functions
				notePeaks(g.peaks, p.PID())
			}
			disconnect()
			p.Stop(syscall.SIGTERM, stopTimeout)
			p = nil
		}
	}
	t.close = func() {
		stop()
		e.Stop()
		_ = os.RemoveAll(data)
	}
	// The engine slows down as request tokens pile up, which happens while the flags are created. A restart removes them.
	t.settle = func(ctx context.Context) (err error) {
		stop()
		if err := e.Restart(ctx); err != nil {
			return err
		}
		p, err = g.start(ctx, port, data, variables...)
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
	cmd.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+data, "INIT_ADMIN_API_TOKENS="+defaultToken,
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
