package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/dynamo/dynamotest"
)

// TestKilled ends the server, its engine, or both with kill -9, and the server with Ctrl-C, at random moments while eight writers create,
// relate, tag, change and archive flags. Each time the service starts again, every acknowledged change is stored, no other change is,
// and the whole table is consistent: no change is stored in part. 5 times in `make test`, 100 in `make trust`.
func TestKilled(t *testing.T) {
	const aChain = 10 // kills over the same data; a check reads all of it
	done := map[string]int{}
	var flags, unsure int
	for kills := dynamotest.Times(5, 100); kills > 0; kills -= aChain {
		g := start(t)
		for round := range min(kills, aChain) {
			l := newLoad(t, g, fmt.Sprintf("r%d", round))
			time.Sleep(30*time.Millisecond + rand.N(400*time.Millisecond))
			var kind string
			kind, g = l.kill(t, g, round)
			done[kind]++
			l.stop()
			l.check(t, g)
			dynamotest.CheckAt(t, g.engine.URL, "guidon")
			flags, unsure = flags+len(l.stories), unsure+l.unsure()
		}
		g.kill(t)
	}
	t.Logf("kills %v; %d flags, %d of whose changes were not acknowledged", done, flags, unsure)
	if unsure == 0 {
		t.Error("nothing was under way when something was killed: this run has shown nothing")
	}
}

// kill ends processes with kill -9, or the server with Ctrl-C, and returns the server that runs then.
func (l *load) kill(t *testing.T, g *gateway, round int) (kind string, now *gateway) {
	t.Helper()
	end := func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	switch round % 4 {
	case 0:
		g.kill(t)
		l.stop()
		now = g.again(t)
		if port := portOf(t, g.engine.URL); port != portOf(t, now.engine.URL) && listens(port) {
			t.Errorf("the engine of the killed server is still served on port %s", port)
		}
		return "gateway", now
	case 1: // the gateway starts it again, under the load that goes on
		old := g.engine
		end(old.PID)
		g.awaitEngine(t, old)
		time.Sleep(rand.N(100 * time.Millisecond))
		return "engine", g
	case 2:
		g.stop(t)
		l.stop()
		return "Ctrl-C", g.again(t)
	}
	end(g.engine.PID)
	g.kill(t)
	l.stop()
	return "both", g.again(t)
}

// awaitEngine waits until the server has a new engine and answers with it.
func (g *gateway) awaitEngine(t *testing.T, old holder) {
	t.Helper()
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		if now := g.holder(); now.PID != 0 && now.PID != old.PID {
			status, _, err := g.send(t.Context(), http.MethodGet, project+"/features", nil)
			if err == nil && status == http.StatusOK {
				g.engine = now
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the engine was not restarted")
		}
	}
}

// A load is a set of writers, with the result of each change that they requested.
type load struct {
	gateway *gateway
	name    string
	shared  string // the path of a strategy that all change
	halt    chan struct{}
	once    sync.Once
	writers sync.WaitGroup

	mu      sync.Mutex
	stories map[string]*story
	slowest time.Duration
	away    int // answers that the store was away
}

// A story lists the changes requested for a flag, in order, and whether each was acknowledged.
type story struct {
	parent string
	steps  []asked
}

type asked struct {
	name  string
	acked bool
}

const storyWriters = 8

func newLoad(t *testing.T, g *gateway, name string) *load {
	t.Helper()
	l := &load{gateway: g, name: name, halt: make(chan struct{}), stories: map[string]*story{}}
	for _, flag := range []string{name + "-shared", name + "-parent-0", name + "-parent-1"} {
		g.do(t, 201, "POST", project+"/features", map[string]string{"name": flag}, nil)
	}
	list := project + "/features/" + name + "-shared/environments/development/strategies"
	var made strategy
	g.do(t, 200, "POST", list, `{"name":"default"}`, &made)
	l.shared = list + "/" + made.ID
	for writer := range storyWriters {
		l.writers.Go(func() {
			for n := 0; l.tell(t, fmt.Sprintf("%s-w%d-n%d", name, writer, n), writer); n++ {
				select {
				case <-l.halt:
					return
				default:
				}
			}
		})
	}
	return l
}

// stop ends the load when the current requests are answered.
func (l *load) stop() {
	l.once.Do(func() { close(l.halt) })
	l.writers.Wait()
}

// tell creates a flag and changes it until a change is not acknowledged. It reports whether the server still answers.
func (l *load) tell(t *testing.T, name string, writer int) bool {
	s := &story{parent: fmt.Sprintf("%s-parent-%d", l.name, writer%2)}
	l.mu.Lock()
	l.stories[name] = s
	l.mu.Unlock()
	flag := project + "/features/" + name
	for _, c := range []struct {
		step, method, path, body string
		status                   int
	}{
		{"made", "POST", project + "/features", `{"name":"` + name + `"}`, 201},
		{"child", "POST", flag + "/dependencies", `{"feature":"` + s.parent + `"}`, 200}, // two flags in one change
		{"tagged", "POST", "/api/admin/features/" + name + "/tags", `{"type":"simple","value":"` + name + `"}`, 201},
		{"shared", "PATCH", l.shared, `[{"op":"add","path":"/parameters/` + name + `","value":"1"}]`, 200}, // that others change too
		{"archived", "DELETE", flag, "", 202},
	} {
		if c.step == "archived" && writer%2 == 0 {
			return true
		}
		l.mu.Lock()
		s.steps = append(s.steps, asked{name: c.step})
		l.mu.Unlock()
		begun := time.Now()
		status, body, err := l.gateway.send(t.Context(), c.method, c.path, c.body)
		took := time.Since(begun)
		l.mu.Lock()
		l.slowest = max(l.slowest, took)
		if status >= 500 {
			l.away++
		}
		if status == c.status {
			s.steps[len(s.steps)-1].acked = true
		}
		l.mu.Unlock()
		switch {
		case err != nil:
			return false
		case status == http.StatusServiceUnavailable:
			return true // the store was away; with another flag things may be better
		case status != c.status:
			t.Errorf("%s %s %s: %d %s, want %d, or the 503 of a store that is away", c.method, c.path, c.body, status, body, c.status)
			return false
		}
	}
	return true
}

// unsure counts the changes that were not acknowledged.
func (l *load) unsure() (n int) {
	for _, s := range l.stories {
		for _, step := range s.steps {
			if !step.acked {
				n++
			}
		}
	}
	return n
}

// check reads every flag: acknowledged changes must be stored, and changes that were not requested must not be.
func (l *load) check(t *testing.T, g *gateway) {
	t.Helper()
	var gone struct{ Features []struct{ Name string } }
	var one struct{ Parameters map[string]string }
	decode := func(text string, into any) {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	decode(g.get(t, "/api/admin/archive/features/default"), &gone)
	decode(g.get(t, l.shared), &one)
	archived := map[string]bool{}
	for _, f := range gone.Features {
		archived[f.Name] = true
	}
	for name, s := range l.stories {
		is := map[string]bool{"archived": archived[name], "made": archived[name], "shared": one.Parameters[name] == "1"}
		if status, body, err := g.send(t.Context(), http.MethodGet, project+"/features/"+name, nil); err != nil {
			t.Fatal(err)
		} else if status == http.StatusOK {
			var f featureAnswer
			decode(string(body), &f)
			is["made"] = true
			is["child"] = slices.ContainsFunc(f.Dependencies, func(p parent) bool { return p.Feature == s.parent })
			is["tagged"] = slices.Contains(f.Tags, tag{"simple", name})
		}
		for _, what := range []string{"made", "child", "tagged", "shared", "archived"} {
			if archived[name] && (what == "child" || what == "tagged") {
				continue // an archived flag has no parents, and its tags are not shown
			}
			i := slices.IndexFunc(s.steps, func(one asked) bool { return one.name == what })
			switch {
			case i < 0 && is[what]:
				t.Errorf("flag %s is %s, but that change was not requested: %+v", name, what, s.steps)
			case i >= 0 && s.steps[i].acked && !is[what]:
				t.Errorf("flag %s is not %s, which was acknowledged: %+v", name, what, s.steps)
			}
		}
	}
}

// TestEngineAway stops the engine under load, waits, and starts it again while the server keeps running: with kill -9,
// where connections are refused, and with SIGSTOP, where requests get no answer. Meanwhile every response comes within 14
// seconds, one less than a function has, as a 503 with Retry-After or a 500. Afterwards no acknowledged change is lost and
// the table is consistent.
func TestEngineAway(t *testing.T) {
	const answersWithin = 14*time.Second + 500*time.Millisecond
	for _, c := range []struct {
		name string
		away time.Duration
		take func(t *testing.T, e *engine.Engine, pid int)
		give func(t *testing.T, e *engine.Engine, pid int)
	}{
		{
			"killed", time.Duration(dynamotest.Times(1, 16)) * time.Second,
			func(_ *testing.T, e *engine.Engine, _ int) { e.Kill() },
			func(t *testing.T, e *engine.Engine, _ int) {
				if err := e.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
		},
		{
			"silent", time.Duration(dynamotest.Times(3, 16)) * time.Second,
			func(t *testing.T, _ *engine.Engine, pid int) { signal(t, pid, syscall.SIGSTOP) },
			func(t *testing.T, _ *engine.Engine, pid int) { signal(t, pid, syscall.SIGCONT) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "engine.db")
			e, err := engine.Start(t.Context(), engine.Options{DataFile: data})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Stop)
			g := start(t, "AWS_ENDPOINT_URL_DYNAMODB="+e.URL())
			l := newLoad(t, g, "away")
			time.Sleep(200 * time.Millisecond)
			pid := holderOf(data).PID
			c.take(t, e, pid)
			given := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // whatever happens
			defer given.Stop()
			g.awaitAway(t, c.away)
			c.give(t, e, pid)
			g.do(t, 201, "POST", project+"/features", `{"name":"after"}`, nil)
			time.Sleep(200 * time.Millisecond)
			l.stop()
			l.check(t, g)
			dynamotest.CheckAt(t, e.URL(), "guidon")
			if l.slowest > answersWithin {
				t.Errorf("an answer took %s, want at most %s", l.slowest, answersWithin)
			}
			t.Logf("%d flags, %d changes not acknowledged, %d answers that the store was away, the slowest answer after %s",
				len(l.stories), l.unsure(), l.away, l.slowest.Round(time.Millisecond))
			g.kill(t)
		})
	}
}

// awaitAway waits while the store is away, and checks the responses to a reader and a writer in that time.
func (g *gateway) awaitAway(t *testing.T, away time.Duration) {
	t.Helper()
	begun := time.Now()
	var asking sync.WaitGroup
	for _, c := range []struct{ method, path, body string }{
		{"GET", project + "/features", ""}, {"POST", project + "/features", `{"name":"meanwhile"}`},
	} {
		asking.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), c.method, g.url()+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", g.token)
			req.Header.Set("Content-Type", "application/json")
			req.Close = true // a POST on a connection that the server has just closed is not repeated
			resp, err := g.http.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			took := time.Since(begun)
			if resp.StatusCode < 300 && took >= away {
				return // it was back in time
			}
			retry := resp.Header.Get("Retry-After")
			if resp.StatusCode != http.StatusServiceUnavailable || retry == "" || took > 14500*time.Millisecond {
				t.Errorf("%s %s while the store was away: %d after %s with Retry-After %q, want a 503 with one within 14 s",
					c.method, c.path, resp.StatusCode, took, retry)
			}
		})
	}
	time.Sleep(away)
	if away > 14*time.Second { // everything asked at its beginning must be answered by now
		asking.Wait()
		return
	}
	t.Cleanup(asking.Wait)
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}
