// Command edge measures Guidon Edge beside a handler that only writes the same bytes: `go run ./internal/bench/edge`. It prints a table with the goals.
//
// Edge runs offline, with the flags of a file. Callers wait for their responses; the two programs are measured in turn, and their processor time
// is compared, because the rate depends on other work on the machine. Streams use TLS.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

const (
	client   = "*:development.client"
	frontend = "*:development.frontend"

	connections = 16

	// idleFor is longer than Go waits for its next garbage collection.
	idleFor = 150 * time.Second
)

func main() {
	hello := flag.String("hello", "", "serve this `file` on ADDRESS, as the handler to compare with")
	flags := flag.Int("flags", 1000, "flags for requests and streams")
	streams := flag.Int("streams", 10_000, "TLS streams; the limit of open files must allow them")
	spend := flag.Duration("time", 3*time.Second, "measured time of each phase")
	flag.Parse()
	var err error
	if *hello != "" {
		err = serveHello(*hello)
	} else {
		err = run(*flags, *streams, *spend)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-edge:", err)
		os.Exit(1)
	}
}

// serveHello writes a file, or a 304 to a request that has an ETag.
func serveHello(file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: os.Getenv("ADDRESS"), ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Etag"] = []string{`"hello"`}
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header()["Content-Type"] = []string{"application/json"}
		w.Header()["Content-Encoding"] = []string{"gzip"}
		_, _ = w.Write(body)
	})}
	return server.ListenAndServe()
}

// A bench has what the measurements share.
type bench struct {
	dir, edge, file, cert, key string
	spend                      time.Duration
}

func run(flags, streams int, spend time.Duration) error {
	dir, err := os.MkdirTemp("", "bench-edge-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{dir: dir, edge: filepath.Join(dir, "guidon-edge"), file: filepath.Join(dir, "flags.json"), spend: spend}
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.edge, "./cmd/guidon-edge").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := b.certificate(); err != nil {
		return err
	}
	fmt.Printf("%s, %s/%s, %d cores, %s; %d connections, %d flags, %s for each phase\n\n", time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), runtime.Version(), connections, flags, spend)
	fmt.Println("| | goal | measured |\n|---|---|---|")
	for _, measure := range []func() error{
		func() error { return b.requests(flags) },
		func() error { return b.fanOut(flags, streams) },
		func() error { return b.start(10 * flags) },
	} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

func row(name, goal, format string, args ...any) {
	fmt.Printf("| %s | %s | %s |\n", name, goal, fmt.Sprintf(format, args...))
}

// write writes the file with flags, each with a constraint, a rollout and two variants. version changes the first one.
func (b *bench) write(flags, version int) error {
	type object map[string]any
	variant := func(name string) object {
		return object{"name": name, "weight": 500, "weightType": "variable", "stickiness": "default"}
	}
	features := make([]object, flags)
	for i := range features {
		name := fmt.Sprintf("flag-%d", i)
		features[i] = object{"name": name, "type": "release", "enabled": true, "project": "default", "description": "version 0", "strategies": []object{{
			"name": "flexibleRollout", "parameters": object{"rollout": "50", "stickiness": "default", "groupId": name},
			"constraints": []object{{"contextName": "appName", "operator": "IN", "values": []string{"web", "bench"}}},
			"variants":    []object{variant("blue"), variant("green")},
		}}}
	}
	features[0]["description"] = fmt.Sprintf("version %d", version)
	text, err := json.Marshal(object{"version": 2, "features": features})
	if err != nil {
		return err
	}
	next := b.file + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, b.file)
}
