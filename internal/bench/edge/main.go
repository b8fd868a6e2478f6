// Command edge measures Guidon Edge beside a handler that only writes the same bytes: `make bench-edge`. It prints a table with the goals.
//
// Edge runs offline, with the flags of a file. If EDGE is the program unleash-edge, it is measured as well. Callers wait for their responses; the two programs are measured in turn, and their processor
// time is compared, because the rate depends on other work on the machine. Streams use TLS.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"

	"guidon/internal/child"
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

// A program is a process that is measured.
type program struct {
	*child.Process
	url, tls string
}

func (p *program) stop() { p.Stop(syscall.SIGKILL, time.Second) }

// spent is the processor time of the process so far; resident is its memory in MB.
func (p *program) spent() time.Duration {
	stat, _ := p.proc().Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

func (p *program) resident() float64 {
	status, _ := p.proc().NewStatus()
	return float64(status.VmRSS) / (1 << 20)
}

func (p *program) proc() procfs.Proc {
	proc, err := procfs.NewProc(p.PID())
	if err != nil {
		panic(err) // the process is running
	}
	return proc
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
	var text bytes.Buffer
	text.WriteString(`{"version": 2, "features": [`)
	for i := range flags {
		if i > 0 {
			text.WriteString(",")
		}
		changed := 0
		if i == 0 {
			changed = version
		}
		fmt.Fprintf(&text, `{"name": "flag-%d", "type": "release", "enabled": true, "project": "default", "description": "version %d", "strategies": [{"name": "flexibleRollout",
			"parameters": {"rollout": "50", "stickiness": "default", "groupId": "flag-%d"}, "constraints": [{"contextName": "appName", "operator": "IN", "values": ["web", "bench"]}],
			"variants": [{"name": "blue", "weight": 500, "weightType": "variable", "stickiness": "default"}, {"name": "green", "weight": 500, "weightType": "variable", "stickiness": "default"}]}]}`, i, changed, i)
	}
	text.WriteString("]}")
	next := b.file + ".new"
	if err := os.WriteFile(next, text.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(next, b.file)
}

// certificate writes a certificate of 127.0.0.1.
func (b *bench) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	b.cert, b.key = filepath.Join(b.dir, "cert.pem"), filepath.Join(b.dir, "key.pem")
	if err := os.WriteFile(b.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(b.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}

// startEdge starts Edge, and waits until it is ready.
func (b *bench) startEdge(env ...string) (*program, error) {
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	secure, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.edge, "offline")
	cmd.Env = append(os.Environ(), "BOOTSTRAP_FILE="+b.file, "CLIENT_TOKENS="+client, "FRONTEND_TOKENS="+frontend, "INTERFACE=127.0.0.1", "PORT="+port,
		"TLS_ENABLE=true", "TLS_SERVER_CERT="+b.cert, "TLS_SERVER_KEY="+b.key, "TLS_SERVER_PORT="+secure, "MAX_STREAMS=100000")
	cmd.Env = append(cmd.Env, env...)
	p := &program{url: "http://127.0.0.1:" + port, tls: "127.0.0.1:" + secure}
	if p.Process, err = child.Start(cmd); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return p, p.Await(ctx, child.Serves(p.url+"/ready", http.StatusOK))
}

// requests measures polls beside the handler, and evaluations.
func (b *bench) requests(flags int) error {
	if err := b.write(flags, 0); err != nil {
		return err
	}
	edge, err := b.startEdge()
	if err != nil {
		return err
	}
	defer edge.stop()
	poll := http.Header{"Authorization": {client}, "Accept-Encoding": {"gzip"}, "Unleash-Client-Spec": {"5.2.0"}}
	answer, body, err := exchange(edge.url+"/api/client/features", poll)
	if err != nil {
		return err
	}
	same := filepath.Join(b.dir, "response")
	if err := os.WriteFile(same, body, 0o600); err != nil {
		return err
	}
	port, err := child.FreePort()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-hello", same)
	cmd.Env = append(os.Environ(), "ADDRESS=127.0.0.1:"+port)
	hello := &program{url: "http://127.0.0.1:" + port}
	if hello.Process, err = child.Start(cmd); err != nil {
		return err
	}
	defer hello.stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := hello.Await(ctx, child.Serves(hello.url, http.StatusOK)); err != nil {
		return err
	}
	known := poll.Clone()
	known.Set("If-None-Match", answer.Get("ETag"))
	for _, phase := range []struct {
		name   string
		header http.Header
	}{{"poll 304", known}, {fmt.Sprintf("poll 200 of %d KB", len(body)>>10), poll}} {
		var ratios []float64
		var last figure
		for range 5 {
			own, err := b.load(edge, func(int) string { return edge.url + "/api/client/features" }, phase.header)
			if err != nil {
				return err
			}
			other, err := b.load(hello, func(int) string { return hello.url }, phase.header)
			if err != nil {
				return err
			}
			ratios, last = append(ratios, other.own/own.own), own
		}
		slices.Sort(ratios)
		row(phase.name+", beside the handler", "0.8 ×", "%.2f × (%.2f to %.2f); %.0f a second, %.0f µs of processor time each", ratios[2], ratios[0], ratios[4], last.rate, last.own)
	}
	browser := http.Header{"Authorization": {frontend}, "Accept-Encoding": {"gzip"}}
	evaluate := func(p *program) (figure, error) {
		return b.load(p, func(i int) string { return fmt.Sprintf("%s/api/frontend?appName=web&userId=%d", p.url, i) }, browser)
	}
	f, err := evaluate(edge)
	if err != nil {
		return err
	}
	row("evaluation of all flags for a browser", "2,300 a core and second", "%.0f", 1e6/f.own)
	if os.Getenv("EDGE") == "" {
		return nil
	}
	other, err := b.startOther(os.Getenv("EDGE"))
	if err != nil {
		return err
	}
	defer other.stop()
	answer, _, err = exchange(other.url+"/api/client/features", poll)
	if err != nil {
		return err
	}
	knownToOther := poll.Clone()
	knownToOther.Set("If-None-Match", answer.Get("ETag"))
	for _, phase := range []struct {
		name, goal   string
		own, compare http.Header
	}{{"poll 304", "20 ×", known, knownToOther}, {"poll 200", "20 ×", poll, poll}} {
		polls := func(p *program, header http.Header) (figure, error) {
			return b.load(p, func(int) string { return p.url + "/api/client/features" }, header)
		}
		own, err := polls(edge, phase.own)
		if err != nil {
			return err
		}
		theirs, err := polls(other, phase.compare)
		if err != nil {
			return err
		}
		row(phase.name+", beside Unleash Edge", phase.goal, "%.0f ×; Unleash Edge %.0f a second, %.0f µs of processor time each", theirs.own/own.own, theirs.rate, theirs.own)
	}
	theirs, err := evaluate(other)
	if err != nil {
		return err
	}
	row("evaluation, beside Unleash Edge", "8 ×", "%.1f ×; Unleash Edge %.0f a core and second", theirs.own/f.own, 1e6/theirs.own)
	return nil
}

// startOther starts Unleash Edge with the same flags.
func (b *bench) startOther(path string) (*program, error) {
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "offline")
	cmd.Env = append(os.Environ(), "BOOTSTRAP_FILE="+b.file, "CLIENT_TOKENS="+client, "FRONTEND_TOKENS="+frontend, "INTERFACE=127.0.0.1", "PORT="+port)
	p := &program{url: "http://127.0.0.1:" + port}
	if p.Process, err = child.Start(cmd); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return p, p.Await(ctx, child.Serves(p.url+"/internal-backstage/health", http.StatusOK))
}

// A figure is the number of responses in a second, and the processor time of each in microseconds.
type figure struct{ rate, own float64 }

// load sends requests on all connections for a time, after a warm-up.
func (b *bench) load(p *program, url func(i int) string, header http.Header) (f figure, err error) {
	for _, spend := range []time.Duration{b.spend / 8, b.spend} {
		var sent atomic.Int64
		began, before := time.Now(), p.spent()
		var group errgroup.Group
		for range connections {
			group.Go(func() error {
				for time.Since(began) < spend {
					if _, _, err := exchange(url(int(sent.Add(1))), header); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return f, err
		}
		n := float64(sent.Load())
		f = figure{n / time.Since(began).Seconds(), float64((p.spent() - before).Microseconds()) / n}
	}
	return f, nil
}

var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}, Timeout: time.Minute}

// exchange sends a request, which must get a 200 or 304, and returns the header and the body of the response.
func exchange(url string, header http.Header) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header = header
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNotModified {
		err = fmt.Errorf("%s: %s %s", url, response.Status, body)
	}
	return response.Header, body, err
}

// fanOut opens streams, and measures their memory, and how long a change takes from the first stream to the others.
func (b *bench) fanOut(flags, streams int) error {
	if err := b.write(flags, 0); err != nil {
		return err
	}
	edge, err := b.startEdge("RELOAD_INTERVAL=200ms")
	if err != nil {
		return err
	}
	defer edge.stop()
	changes := make(chan time.Time, streams)
	var opened sync.WaitGroup
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	idle := edge.resident()
	for _, until := range []int{min(1000, streams), streams} {
		var mu sync.Mutex
		var group errgroup.Group
		group.SetLimit(connections)
		for range until - len(conns) {
			opened.Add(1)
			group.Go(func() error {
				c, err := listen(edge.tls, changes, opened.Done)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					conns = append(conns, c)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		opened.Wait()
		var slowest []float64
		for version := range 3 {
			if err := b.write(flags, until+version+1); err != nil {
				return err
			}
			var at []time.Time
			for range until {
				at = append(at, <-changes)
			}
			slices.SortFunc(at, time.Time.Compare)
			slowest = append(slowest, float64(at[until*99/100].Sub(at[0]).Microseconds())/1000)
		}
		slices.Sort(slowest)
		goal := "p99 100 ms"
		if until > 1000 {
			goal = "p99 300 ms"
		}
		row(fmt.Sprintf("a change to %d TLS streams", until), goal, "p99 %.0f ms (%.0f to %.0f)", slowest[1], slowest[0], slowest[2])
		if until == streams {
			time.Sleep(idleFor)
			row(fmt.Sprintf("%d idle TLS streams", until), "250 MB", "%.0f MB, %.0f of them without streams", edge.resident(), idle)
		}
	}
	return nil
}

// listen opens a stream, and tells when each change arrives.
func listen(address string, changes chan<- time.Time, opened func()) (net.Conn, error) {
	trust := &tls.Config{InsecureSkipVerify: true}
	conn, err := tls.Dial("tcp", address, trust)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET /api/client/streaming HTTP/1.1\r\nHost: edge\r\nAuthorization: %s\r\n\r\n", client); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewReaderSize(conn, 512)
		for {
			line, partial, err := lines.ReadLine()
			first := string(line[:min(len(line), 32)])
			for partial && err == nil {
				_, partial, err = lines.ReadLine()
			}
			switch {
			case err != nil:
				return
			case strings.HasPrefix(first, "event: unleash-updated"):
				changes <- time.Now()
			case strings.HasPrefix(first, "data: ") && opened != nil:
				opened()
				opened = nil
			}
		}
	}()
	return conn, nil
}

// start measures the start with many flags.
func (b *bench) start(flags int) error {
	if err := b.write(flags, 0); err != nil {
		return err
	}
	var times []float64
	memory := 0.0
	for range 5 {
		began := time.Now()
		edge, err := b.startEdge()
		if err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		memory = max(memory, edge.resident())
		edge.stop()
	}
	slices.Sort(times)
	row(fmt.Sprintf("start from disk with %d flags", flags), "0.5 s; 300 MB", "%.2f s (%.2f to %.2f); %.0f MB", times[2], times[0], times[4], memory)
	return nil
}
