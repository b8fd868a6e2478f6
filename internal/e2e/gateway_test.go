package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startTimeout is how long a server may take to start. The first one may have to download its engine.
const startTimeout = 2 * time.Minute

// A gateway is a running server, and a client of it (client_test.go).
type gateway struct {
	*process
	port, data string
	env        []string // further settings
	base       string   // before every path; "" where the interface is at the root
	token      string   // sent by the client; "" for none
	http       *http.Client
	engine     holder // its own engine; zero when it uses another
}

// A holder is the note beside the data that names its engine.
type holder struct {
	PID int
	URL string
}

// defaultToken is the default admin token, as in the README.
const defaultToken = "*:*.unleash-insecure-admin-api-token"

// start runs a server with its own port and data. At the end of the test it is stopped and checked.
func start(t *testing.T, env ...string) *gateway {
	t.Helper()
	return startOn(t, freePort(t), filepath.Join(t.TempDir(), "data"), env...)
}

func startOn(t *testing.T, port, data string, env ...string) *gateway {
	t.Helper()
	p := launch(t, append([]string{"PORT=" + port, "DATA_DIR=" + data}, env...)...)
	return serving(t, p, port, data, env)
}

// serving waits until a process serves, and returns it as a gateway.
func serving(t *testing.T, p *process, port, data string, env []string) *gateway {
	t.Helper()
	g := &gateway{process: p, port: port, data: data, env: env, token: defaultToken}
	g.http = &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 32},
		Timeout:   endTimeout,
	}
	g.awaitHealth(t)
	g.engine = g.holder()
	t.Cleanup(func() {
		select {
		case <-g.ended: // the test has seen to it
		default:
			g.stop(t)
		}
	})
	return g
}

// again starts a server on the port and the data of one that has ended.
func (g *gateway) again(t *testing.T) *gateway {
	t.Helper()
	return startOn(t, g.port, g.data, g.env...)
}

func (g *gateway) url() string { return "http://" + address(g.port) + g.base }

func address(port string) string { return net.JoinHostPort("127.0.0.1", port) }

// awaitHealth waits until the server is healthy and has printed its greeting.
func (g *gateway) awaitHealth(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		status, body, err := g.send(ctx, http.MethodGet, "/health", nil)
		if err == nil {
			if got, want := string(body), `{"health":"GOOD"}`; status != http.StatusOK || strings.TrimSpace(got) != want {
				t.Fatalf("GET /health: %d %s, want 200 %s", status, got, want)
			}
			if strings.Contains(g.stdout.String(), "/features\n") { // its greeting, which it prints as it begins to serve
				return
			}
			err = errors.New("it has not printed its greeting")
		}
		select {
		case <-g.ended:
			t.Fatalf("the server ended at once: %s", g.stderr.End())
		case <-ctx.Done():
			t.Fatalf("the server does not serve: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// holder returns the engine that uses the server's data, or zeros.
func (g *gateway) holder() holder { return holderOf(filepath.Join(g.data, "guidon.db")) }

// holderOf returns the engine that uses a data file.
func holderOf(data string) (h holder) {
	raw, err := os.ReadFile(data + ".engine")
	if err != nil || json.Unmarshal(raw, &h) != nil {
		return holder{}
	}
	return h
}

// stop ends the server as Ctrl-C does. It must exit with 0 and leave no process behind.
func (g *gateway) stop(t *testing.T) {
	t.Helper()
	g.endBy(t, os.Interrupt)
}

func (g *gateway) endBy(t *testing.T, s os.Signal) {
	t.Helper()
	g.signal(t, s)
	if got := g.wait(t); got != 0 {
		t.Errorf("exit code after %s is %d, want 0", s, got)
	}
	g.http.CloseIdleConnections()
	if listens(g.port) {
		t.Errorf("port %s is still in use", g.port)
	}
	if g.engine.PID != 0 {
		// The gateway waits for its engine's end, so nothing is left of it, not even a zombie.
		if err := syscall.Kill(g.engine.PID, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the engine, process %d, is still running (%v)", g.engine.PID, err)
		}
		if got := g.holder(); got != (holder{}) {
			t.Errorf("the data is still in use by %+v", got)
		}
	}
	for line := range strings.Lines(g.stderr.String()) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
			t.Errorf("the server logged: %s", strings.TrimSpace(line))
		}
	}
}

// kill ends the server as kill -9 does, but not its engine.
func (g *gateway) kill(t *testing.T) {
	t.Helper()
	g.signal(t, os.Kill)
	g.wait(t)
	g.http.CloseIdleConnections()
}

// portOf returns the port of an address.
func portOf(t *testing.T, address string) string {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return at.Port()
}

func listens(port string) bool {
	c, err := net.DialTimeout("tcp", address(port), time.Second)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// freePort returns a port that nothing listens on. It is outside the range for outgoing connections, so that no other test
// gets it between the end of a server and its next start.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20000 + rand.IntN(10000))
		if l, err := net.Listen("tcp", address(port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port in 100 tries")
	return ""
}
