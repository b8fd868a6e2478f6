//go:build unix

package edge

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"guidon/internal/child"
	"guidon/internal/runtimeapi"
	"guidon/pkg/dynamo/dynamotest"
)

// A relayed is a request that the function of a test sends to the extension beside it.
type relayed struct{ Method, Path, Token, Body string }

// A relayedAnswer is the response; Status is 0 if nobody listens.
type relayedAnswer struct {
	Status int
	Body   string
}

// relay is that function.
func relay(ctx context.Context, in relayed) (relayedAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, in.Method, "http://127.0.0.1:"+os.Getenv("GUIDON_EDGE_PORT")+in.Path, strings.NewReader(in.Body))
	if err != nil {
		return relayedAnswer{}, err
	}
	req.Header = http.Header{"Authorization": {in.Token}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return relayedAnswer{Body: err.Error()}, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return relayedAnswer{resp.StatusCode, string(body)}, err
}

// An extended is a function with the extension beside it, in an environment of Lambda that is frozen between invocations.
type extended struct {
	t testing.TB
	*runtimeapi.Function
	logs *child.Output
}

// guidonEdge builds the program.
var guidonEdge = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "guidon-edge")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "guidon-edge")
	return program, exec.Command("go", "build", "-o", program, "guidon/cmd/guidon-edge").Run()
})

// extend returns a function with the extension, whose settings are without their prefix. Its limits are those of a busy machine.
func extend(t testing.TB, settings map[string]string) *extended {
	t.Helper()
	program, err := guidonEdge()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	all := map[string]string{
		"PORT": port, "FEATURES_REFRESH_INTERVAL_SECONDS": "1ms", "METRICS_INTERVAL_SECONDS": "1h",
		"EXTENSION_START_TIMEOUT": "20s", "EXTENSION_REFRESH_TIMEOUT": "20s",
	}
	maps.Copy(all, settings)
	x := &extended{t: t, logs: &child.Output{}}
	x.Function = &runtimeapi.Function{
		Name: "Shop", Command: []string{self}, Extensions: [][]string{{program}}, Timeout: patience, Memory: 256, Log: x.logs,
		Freeze: syscall.SIGSTOP, Thaw: syscall.SIGCONT, Env: map[string]string{},
	}
	for name, value := range all {
		x.Env[extensionPrefix+name] = value
	}
	t.Cleanup(x.Stop)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the function and the extension logged:\n%s", x.logs.String())
		}
	})
	return x
}

// ask invokes the function, which sends a request to the extension.
func (x *extended) ask(method, path, token, body string) answer {
	x.t.Helper()
	event, _ := json.Marshal(relayed{method, path, token, body})
	text, err := x.Invoke(x.t.Context(), event)
	if err != nil {
		x.t.Fatal(err)
	}
	var got relayedAnswer
	if err := json.Unmarshal(text, &got); err != nil {
		x.t.Fatal(err)
	}
	return answer{status: got.Status, body: got.Body}
}

const featuresPath = "/api/client/features"

// A proxy forwards connections to an upstream, and counts those that are open.
type proxy struct {
	url  string
	open atomic.Int64
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &proxy{url: "http://" + listener.Addr().String()}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
			if err != nil {
				_ = from.Close()
				continue
			}
			p.open.Add(1)
			go func() {
				_, _ = io.Copy(from, upstream)
				_ = from.Close()
			}()
			go func() {
				_, _ = io.Copy(upstream, from)
				_, _ = upstream.Close(), from.Close()
				p.open.Add(-1)
			}()
		}
	}()
	return p
}

// TestExtension runs the program beside a function, as Lambda does: it has flags before the first invocation, follows changes with
// the next ones although it is frozen in between, and leaves no connection open.
func TestExtension(t *testing.T) {
	g := newGuidon(t)
	g.flag("a")
	own, other, web := g.token("client", "*", "development"), g.token("client", "default", "development"), g.token("frontend", "default", "development")
	p := newProxy(t, g.URL)
	x := extend(t, map[string]string{"UPSTREAM_URL": p.url, "TOKENS": own})
	if err := x.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "connections that are open before the first invocation", 0, p.open.Load)
	if read := g.served("GET /api/client/delta"); read != 1 {
		t.Errorf("it has read the flags %d times before the first invocation, want once", read)
	}
	for _, token := range []string{own, other} {
		x.ask("GET", featuresPath, token, "").want(t, 200, `"a"`, `"enabled":true`)
	}
	x.ask("GET", "/api/frontend", web, "").want(t, 200, `"a"`)
	x.ask("POST", "/ofrep/v1/evaluate/flags/a", own, `{"context": {"targetingKey": "1"}}`).want(t, 200, `"value":true`)
	x.ask("GET", featuresPath, "*:development.unknown", "").want(t, 401)

	g.turnA("off")
	x.ask("GET", featuresPath, own, "").want(t, 200) // with either state: it asks for the other one beside it
	x.ask("GET", featuresPath, own, "").want(t, 200, `"enabled":false`)
	await(t, "connections that are open between invocations", 0, p.open.Load)
}

// TestExtensionRefreshesWhenDue checks that an invocation asks Guidon nothing while the flags are new enough.
func TestExtensionRefreshesWhenDue(t *testing.T) {
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	x := extend(t, map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "FEATURES_REFRESH_INTERVAL_SECONDS": "1h"})
	for range 5 {
		x.ask("GET", featuresPath, own, "").want(t, 200, `"a"`)
	}
	if read, checked := g.served("GET /api/client/delta"), g.served("POST /edge/validate"); read != 1 || checked != 1 {
		t.Errorf("it has read the flags %d times and asked about tokens %d times, want once each", read, checked)
	}
}

// hangForGood keeps a request open until the caller closes the connection. The server notices that once it has read the body.
func hangForGood(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestExtensionWithoutUpstream lets an upstream hang: the function is invoked all the same, gets 503, and nothing is left open when
// it is frozen. Flags come with an invocation after the upstream responds again.
func TestExtensionWithoutUpstream(t *testing.T) {
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	var open atomic.Int64
	g.fails(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		open.Add(1)
		hangForGood(w, r, next)
		open.Add(-1)
	})
	x := extend(t, map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "EXTENSION_START_TIMEOUT": "500ms", "EXTENSION_REFRESH_TIMEOUT": "200ms",
		"UPSTREAM_SOCKET_TIMEOUT": "10m", "UPSTREAM_REQUEST_TIMEOUT": "10m", "FEATURES_REFRESH_INTERVAL_SECONDS": "1h"})
	for range 3 {
		x.ask("GET", featuresPath, own, "").want(t, 503)
		await(t, "requests that are open between invocations", 0, open.Load)
	}
	x.ask("GET", featuresPath, "*:development.unknown", "").want(t, 503)
	g.fails(nil)
	await(t, "the status once the upstream responds", 200, func() int { return x.ask("GET", featuresPath, own, "").status })
	if starts := x.Report().Starts; starts != 1 {
		t.Errorf("the environment was started %d times, want once", starts)
	}
}

// TestExtensionFailsOver has a first upstream that hangs.
func TestExtensionFailsOver(t *testing.T) {
	g := newGuidon(t)
	g.flag("a")
	own := g.token("client", "*", "development")
	hangs := newGuidon(t)
	hangs.fails(hangForGood)
	x := extend(t, map[string]string{
		"UPSTREAM_URL": hangs.URL + "," + g.URL, "TOKENS": own, "EXTENSION_START_TIMEOUT": "2s", "EXTENSION_REFRESH_TIMEOUT": "200ms",
	})
	await(t, "the status", 200, func() int { return x.ask("GET", featuresPath, own, "").status })
}

// TestExtensionCopy starts without an upstream, with a copy of the flags in a layer. The extension only reads it.
func TestExtensionCopy(t *testing.T) {
	g, own, _ := following(t)
	folder := t.TempDir()
	e := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "BACKUP_FOLDER": folder})
	e.awaitOn(own, "a")
	e.stop()
	before := listing(t, folder)
	g.fails(status(http.StatusBadGateway))
	x := extend(t, map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "BACKUP_FOLDER": folder, "KEEP_TOKENS": "0"})
	x.ask("GET", featuresPath, own, "").want(t, 200, `"enabled":true`)
	g.fails(nil)
	g.turnA("off")
	await(t, "the change arrives", true, func() bool {
		return strings.Contains(x.ask("GET", featuresPath, own, "").want(t, 200).body, `"enabled":false`)
	})
	x.Stop()
	if after := listing(t, folder); after != before {
		t.Errorf("the copy has become %s, from %s", after, before)
	}
}

// listing returns the names, sizes and times of files.
func listing(t testing.TB, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	var list strings.Builder
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		list.WriteString(info.Name() + " " + info.ModTime().String() + "\n")
	}
	return list.String()
}

// TestExtensionUsage reports usage beside an invocation when it is due, and the rest when the environment ends.
func TestExtensionUsage(t *testing.T) {
	for name, interval := range map[string]string{"at the end": "1h", "when it is due": "1ms"} {
		t.Run(name, func(t *testing.T) {
			g := newGuidon(t)
			g.flag("a")
			own := g.token("client", "*", "development")
			x := extend(t, map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": own, "METRICS_INTERVAL_SECONDS": interval})
			const used = `{"appName": "shop", "instanceId": "1", "bucket": {"start": "2026-01-01T00:00:00Z", "stop": "2026-01-01T00:01:00Z", "toggles": {"a": {"yes": 3, "no": 1}}}}`
			x.ask("POST", "/api/client/metrics", own, used).want(t, 202)
			if interval == "1h" {
				if got := g.counted(); got != 0 {
					t.Errorf("%d evaluations were reported before it was due", got)
				}
				x.Stop()
			} else {
				x.ask("GET", featuresPath, own, "").want(t, 200)
			}
			if got := g.counted(); got != 4 {
				t.Errorf("%d evaluations were reported, want 4", got)
			}
		})
	}
}

// counted returns how many evaluations were reported.
func (g *guidon) counted() (n int64) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	for _, post := range g.store.posts {
		for _, c := range post.Counts {
			n += c.Yes + c.No
		}
	}
	return n
}

// TestExtensionWithWrongSettings checks that the function works nevertheless, and that the log names the setting.
func TestExtensionWithWrongSettings(t *testing.T) {
	for _, settings := range []map[string]string{{}, {"UPSTREAM_URL": "http://127.0.0.1:1", "PORT": "70000"}, {"UPSTREAM_URL": "http://127.0.0.1:1", "INTERFACE": "192.0.2.1"}} {
		x := extend(t, settings)
		for range 2 {
			if got := x.ask("GET", featuresPath, dynamotest.AdminToken, ""); got.status != 0 {
				t.Errorf("with %v: %s, want no response", settings, got)
			}
		}
		x.Stop()
		if log := x.logs.String(); !strings.Contains(log, "because of its settings: ") || !strings.Contains(log, "UPSTREAM_URL") && !strings.Contains(log, "PORT") {
			t.Errorf("with %v it logs %s", settings, log)
		}
	}
}

// TestExtensionGoesOnAfterPanic: a process that ends would fail the invocation.
func TestExtensionGoesOnAfterPanic(t *testing.T) {
	var logs child.Output
	x := &extension{logger: slog.New(slog.NewJSONHandler(&logs, nil))}
	x.within(t.Context(), time.Minute, func(context.Context) { panic("unexpected") })
	if !strings.Contains(logs.String(), "unexpected") {
		t.Errorf("it logs %s", logs.String())
	}
}
