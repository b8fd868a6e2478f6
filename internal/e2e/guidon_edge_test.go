package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// A guidonEdge is a running Guidon Edge. It and its clients have short intervals.
type guidonEdge struct {
	*process
	port    string
	env     []string
	command func() *exec.Cmd // another one than guidon edge; nil for that
}

// startGuidonEdge starts Guidon Edge for the flags of development. Its upstream is the server, unless env has another.
func startGuidonEdge(t *testing.T, g *gateway, env ...string) *guidonEdge {
	t.Helper()
	return startGuidonEdgeOn(t, g, freePort(t), env...)
}

func startGuidonEdgeOn(t *testing.T, g *gateway, port string, env ...string) *guidonEdge {
	t.Helper()
	token := g.createToken(t, "guidon-edge-"+port, "client", "*", "development")
	e := &guidonEdge{port: port}
	e.env = append([]string{"UPSTREAM_URL=" + g.url(), "TOKENS=" + token, "STRICT=true", "INTERFACE=127.0.0.1", "PORT=" + e.port,
		"FEATURES_REFRESH_INTERVAL_SECONDS=1", "METRICS_INTERVAL_SECONDS=1"}, env...)
	e.run(t)
	return e
}

func (e *guidonEdge) url() string { return "http://" + address(e.port) }

// run starts the process, and waits until it has flags.
func (e *guidonEdge) run(t *testing.T) {
	t.Helper()
	cmd := exec.Command(binary, "edge")
	if e.command != nil {
		cmd = e.command()
	}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), e.env...)
	e.process = follow(t, cmd, e.env)
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		status, err := statusAt(ctx, e.url()+"/ready")
		if err == nil && status == http.StatusOK {
			return
		}
		select {
		case <-e.ended:
			t.Fatalf("Guidon Edge ended at once: %s", e.stderr.End())
		case <-ctx.Done():
			t.Fatalf("Guidon Edge is not ready: %d, %v", status, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// get returns the body of a response of Guidon Edge, which must be a 200.
func (e *guidonEdge) get(t *testing.T, path, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %s, %v", path, resp.Status, body, err)
	}
	return string(body)
}

// statusAt returns the status of a response to GET.
func statusAt(ctx context.Context, url string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// awaitThat waits until something is so.
func awaitThat(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > usageTimeout {
			t.Fatalf("%s: not after %s", what, usageTimeout)
		}
	}
}
