package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestRestart checks that flags are the same, byte for byte, after Ctrl-C and after SIGTERM.
func TestRestart(t *testing.T) {
	g := start(t)
	flag := project + "/features/kept"
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "kept"}, nil)
	g.do(t, 200, "POST", flag+"/environments/production/strategies", `{"name": "flexibleRollout", "parameters": {"rollout": 12.0}}`, nil)
	g.do(t, 200, "PUT", flag+"/environments/production/variants", `[{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]`, nil)
	g.do(t, 200, "POST", flag+"/environments/production/on", nil, nil)
	before := g.get(t, flag)

	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		g.endBy(t, s)
		g = g.again(t)
		if got := g.get(t, flag); got != before {
			t.Errorf("after %s and a new start the flag is\n%s\nwant\n%s", s, got, before)
		}
	}
}

// get returns the body of a response that must be a 200.
func (g *gateway) get(t *testing.T, path string) string {
	t.Helper()
	status, body, err := g.send(t.Context(), http.MethodGet, path, nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: %d %v: %s", path, status, err, body)
	}
	return string(body)
}

// TestEndedUnderLoad ends the server at random moments of writes, with kill -9 and with Ctrl-C. The next start works,
// acknowledged changes are stored, and every other change is stored completely or not at all.
func TestEndedUnderLoad(t *testing.T) {
	const writers = 8
	g := start(t)
	w := &writes{steps: map[string]int{}}
	ends := []struct {
		name string
		end  func(g *gateway, t *testing.T)
	}{
		{"kill -9", (*gateway).kill}, {"kill -9", (*gateway).kill}, {"kill -9", (*gateway).kill},
		{"kill -9", (*gateway).kill}, {"kill -9", (*gateway).kill}, {"Ctrl-C", (*gateway).stop}, {"Ctrl-C", (*gateway).stop},
	}
	for round, end := range ends {
		load := w.begin(t, g, writers, round)
		after := 50*time.Millisecond + rand.N(500*time.Millisecond)
		time.Sleep(after)
		end.end(g, t)
		load.Wait()
		old := g.engine

		g = g.again(t)
		if port := portOf(t, old.URL); port != portOf(t, g.engine.URL) && listens(port) {
			t.Errorf("round %d: the engine of the gateway before is still served on port %s", round, port)
		}
		w.check(t, g)
		t.Logf("round %d: %s after %s, %d flags so far", round, end.name, after.Round(time.Millisecond), len(w.steps))
	}
	if want := len(ends) * writers; len(w.steps) < want {
		t.Errorf("the load was %d flags in %d rounds, want at least %d", len(w.steps), len(ends), want)
	}
}

// TestEndedWhileStarting ends servers at random moments of their start, over the same data.
func TestEndedWhileStarting(t *testing.T) {
	port, data := freePort(t), filepath.Join(t.TempDir(), "data")
	for range 8 {
		for _, s := range []os.Signal{os.Kill, os.Interrupt} {
			p := launch(t, "PORT="+port, "DATA_DIR="+data)
			time.Sleep(rand.N(100 * time.Millisecond))
			p.signal(t, s)
			// The very first lines, before the gateway takes care of the signal, are ended by it as any process is.
			if code := p.wait(t); code != 0 && code != -1 {
				t.Errorf("exit code after %s is %d, want 0", s, code)
			}
		}
	}
	g := startOn(t, port, data)
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "alive"}, nil)
}

// writes records how many steps were begun for each flag: create it, add a strategy, enable it. All steps of a flag were
// acknowledged except possibly the last.
type writes struct {
	mu      sync.Mutex
	steps   map[string]int
	pending map[string]bool // flags whose last step was not acknowledged
}

// begin starts writers that create flags until the server does not answer.
func (w *writes) begin(t *testing.T, g *gateway, writers, round int) *sync.WaitGroup {
	w.pending = map[string]bool{}
	var load sync.WaitGroup
	for writer := range writers {
		load.Go(func() {
			for n := 0; ; n++ {
				if !w.write(t, g, fmt.Sprintf("r%d-w%d-n%d", round, writer, n)) {
					return
				}
			}
		})
	}
	return &load
}

// write creates a flag in three steps, and reports whether all of them were acknowledged.
func (w *writes) write(t *testing.T, g *gateway, name string) bool {
	in := project + "/features/" + name + "/environments/development"
	for _, step := range []struct {
		status     int
		path, body string
	}{
		{201, project + "/features", `{"name": "` + name + `"}`},
		{200, in + "/strategies", `{"name": "default"}`},
		{200, in + "/on", ``},
	} {
		w.mu.Lock()
		w.steps[name]++
		w.pending[name] = true
		w.mu.Unlock()
		status, body, err := g.send(t.Context(), http.MethodPost, step.path, step.body)
		if err != nil {
			return false
		}
		if status != step.status {
			t.Errorf("POST %s: %d, want %d: %s", step.path, status, step.status, body)
			return false
		}
		w.mu.Lock()
		delete(w.pending, name)
		w.mu.Unlock()
	}
	return true
}

// check compares every flag in the list, and reads those with an unfinished step one by one.
func (w *writes) check(t *testing.T, g *gateway) {
	t.Helper()
	var all list
	g.do(t, 200, "GET", project+"/features", nil, &all)
	listed := map[string]int{}
	for _, f := range all.Features {
		listed[f.Name] = stepsOf(f.Environments[0])
	}
	for name, begun := range w.steps {
		got, least := listed[name], begun
		if w.pending[name] {
			least--
			g.checkCut(t, name, got)
			w.steps[name] = got // from now on that is what it is
		}
		if got < least || got > begun {
			t.Errorf("flag %s has %d steps, want %d to %d", name, got, least, begun)
		}
	}
	if len(listed) > len(w.steps) {
		t.Errorf("there are %d flags, want no more than the %d that were begun", len(listed), len(w.steps))
	}
}

// checkCut checks that a flag is as in the list, and that its name is taken only if the flag exists.
func (g *gateway) checkCut(t *testing.T, name string, steps int) {
	t.Helper()
	flag := project + "/features/" + name
	if steps == 0 {
		g.fails(t, 404, "NotFoundError", "GET", flag, nil)
		g.do(t, 201, "POST", project+"/features", map[string]string{"name": name}, nil)
		g.do(t, 202, "DELETE", flag, nil, nil)
		return
	}
	var f featureAnswer
	g.do(t, 200, "GET", flag, nil, &f)
	if got := stepsOf(f.in(t, "development").rowEnvironment); got != steps {
		t.Errorf("flag %s by itself has %d steps, in the list %d", name, got, steps)
	}
}

// stepsOf returns how many steps of a listed flag are stored.
func stepsOf(development rowEnvironment) int {
	switch {
	case development.Enabled:
		return 3
	case development.HasStrategies:
		return 2
	}
	return 1
}

// TestEngineKilled checks that the server restarts a killed engine and that the data is still there.
func TestEngineKilled(t *testing.T) {
	g := start(t)
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "before"}, nil)
	before := g.get(t, project+"/features/before")
	if err := syscall.Kill(g.engine.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "after"}, nil)
	if got := g.get(t, project+"/features/before"); got != before {
		t.Errorf("after the engine was killed the flag is\n%s\nwant\n%s", got, before)
	}
}
