package linear

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/backoff"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// TestDeployment deploys versions while 200 applications (1,000 in `make trust`) poll and flags change all the time: the same form of what applications see, a
// canary of another form that is rolled back, an update to it, and back. Old and new instances get polls and changes side by side. No
// request fails, every poll shows what was acknowledged before it began, and nothing older than the poll before.
func TestDeployment(t *testing.T) {
	s := newStage(t)
	another := s.versionOf(flags.SnapshotForm + 1)
	s.serve(s.start(""), nil)
	var work sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	for _, f := range s.flags {
		work.Go(func() { s.change(ctx, f) })
	}
	for n := range pollers {
		work.Go(func() { s.poll(ctx, n) })
	}
	s.settled("before the deployments")

	s.deploy("an update", "")
	canary := s.start(another)
	s.serve(s.instances, canary)
	s.settled("a canary of another form")
	s.serve(s.instances, nil)
	s.settled("its rollback")
	s.deploy("an update to another form", another)
	s.reset("1")
	s.settled("a new epoch")
	s.deploy("the version before", "")
	s.reset("2")
	s.settled("a new epoch")
	end()
	work.Wait()
	for _, problem := range s.problems {
		t.Error(problem)
	}
	t.Logf("%d polls of %d applications, %d with changes; %d changes, %d by the other form; %d polls and changes of canaries",
		s.polls.Load(), pollers, s.changed.Load(), s.changes.Load(), s.byAnother.Load(), s.ofCanaries.Load())
	key := flags.Key{Entity: flags.EntitySnapshot, ID: strconv.Itoa(flags.SnapshotForm + 1)}
	if view, err := s.store.Load(t.Context(), []flags.Key{key}); err != nil || view[key] == nil {
		t.Errorf("no instance wrote a snapshot of another form (%v)", err)
	}
	if s.changed.Load() == 0 || s.ofCanaries.Load() == 0 || s.byAnother.Load() == 0 {
		t.Error("too little happened")
	}
	dynamotest.CheckAt(t, s.engine.URL(), s.store.Table())
}

// pollers is the number of applications. Each polls after up to pollPause, often much sooner, so that some polls find nothing new.
var (
	pollers   = dynamotest.Times(200, 1000)
	pollPause = time.Duration(dynamotest.Times(1, 3)) * time.Second
)

// pollsAtOnce is how many may run at once: on a busy machine, more of them would let the engine miss the time that a poll has.
const pollsAtOnce = 12

// A stage serves over one table. It sends a tenth of the requests to the instances of a canary.
type stage struct {
	t      *testing.T
	engine *engine.Engine
	store  *dynamo.Store
	flags  []*deployedFlag

	mu                sync.Mutex
	instances, canary []*replica
	polling           chan struct{} // has room for the polls that may run at once
	problems          []string
	pollsOf           []struct{ begun, ended int } // by application

	polls, changed, changes, byAnother, ofCanaries atomic.Int64
}

// A replica is an instance with the requests that it is answering.
type replica struct {
	*instance
	requests sync.WaitGroup
}

// A deployedFlag is given states one after the other. The state n has the description n if that is odd, else that of n-1, and every second
// pair of states is on.
type deployedFlag struct {
	name         string
	begun, acked atomic.Int64 // the numbers of the state that was requested last, and of the one that was acknowledged last
}

func isOn(n int64) bool { return n/2%2 == 1 }

// numberOf returns the number of a state that an application sees.
func numberOf(f wireFlag) int64 {
	n, _ := strconv.ParseInt(f.Description, 10, 64) // 0 without one
	if f.Enabled != isOn(n) {
		n++
	}
	return n
}

func newStage(t *testing.T) *stage {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	s := &stage{t: t, engine: e, polling: make(chan struct{}, pollsAtOnce), pollsOf: make([]struct{ begun, ended int }, pollers), store: dynamotest.OpenOn(t, e, "stage", nil)}
	dynamotest.Seed(t, s.store)
	s.serve(s.start(""), nil)
	for n := range 4 {
		f := &deployedFlag{name: fmt.Sprint("flag-", n)}
		s.flags = append(s.flags, f)
		s.send("POST", allFeatures, fmt.Sprintf(`{"name":%q}`, f.name))
		s.send("POST", f.path()+"/environments/development/strategies", `{"name":"default"}`)
	}
	return s
}

const allFeatures = "/api/admin/projects/default/features"

func (f *deployedFlag) path() string { return allFeatures + "/" + f.name }

// versionOf builds this program as a version whose form of what applications see is another one.
func (s *stage) versionOf(form int) (program string) {
	s.t.Helper()
	root, err := engine.Root()
	if err != nil {
		s.t.Fatal(err)
	}
	dir, source := s.t.TempDir(), filepath.Join(root, "pkg", "flags", "store.go")
	program = filepath.Join(dir, "another")
	text, err := os.ReadFile(source)
	changed := strings.Replace(string(text), fmt.Sprint("const SnapshotForm = ", flags.SnapshotForm), fmt.Sprint("const SnapshotForm = ", form), 1)
	if err != nil || changed == string(text) {
		s.t.Fatalf("%s has no SnapshotForm that can be replaced (%v)", source, err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: filepath.Join(dir, "store.go")}})
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "store.go"), []byte(changed), 0o600), os.WriteFile(filepath.Join(dir, "overlay"), overlay, 0o600)); err != nil {
		s.t.Fatal(err)
	}
	build := exec.Command("go", "test", "-c", "-overlay", filepath.Join(dir, "overlay"), "-o", program, "./pkg/serving/linear")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		s.t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return program
}

// start starts three instances of a version; "" is this one.
func (s *stage) start(program string) (list []*replica) {
	s.t.Helper()
	for n := range 3 {
		list = append(list, &replica{instance: startInstance(s.t, n, options{
			Engine: s.engine.URL(), Table: s.store.Table(), Delay: 4 * time.Millisecond, Program: program,
		})})
	}
	return list
}

// serve sends requests to these instances. Those that get none any more answer what they have begun, and end.
func (s *stage) serve(instances, canary []*replica) {
	s.t.Helper()
	s.mu.Lock()
	gone := map[*replica]bool{}
	for _, i := range append(s.instances[:len(s.instances):len(s.instances)], s.canary...) {
		gone[i] = true
	}
	s.instances, s.canary = instances, canary
	for _, i := range append(instances[:len(instances):len(instances)], canary...) {
		delete(gone, i)
	}
	s.mu.Unlock()
	for i := range gone {
		i.requests.Wait()
		if err := i.end(); err != nil {
			s.t.Error(err)
		}
	}
}

// deploy deploys a version with a canary.
func (s *stage) deploy(what, program string) {
	s.t.Helper()
	next := s.start(program)
	s.serve(s.instances, next)
	s.settled(what + ": its canary")
	s.serve(next, nil)
	s.settled(what)
}

// reset does what the function Setup does after a version with another form was deployed, see TestEpochs.
func (s *stage) reset(epoch string) {
	s.t.Helper()
	if err := s.store.ResetFeed(s.t.Context(), epoch); err != nil {
		s.t.Fatal(err)
	}
}

// settled waits until every application has begun and ended a poll, and every flag has changed several times.
func (s *stage) settled(what string) {
	s.t.Helper()
	s.mu.Lock()
	polls := slices.Clone(s.pollsOf)
	s.mu.Unlock()
	began, changes := time.Now(), map[*deployedFlag]int64{}
	for _, f := range s.flags {
		changes[f] = f.acked.Load()
	}
	isSettled := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.problems) > 0 {
			return true
		}
		for n := range polls {
			if s.pollsOf[n].ended <= polls[n].begun {
				return false
			}
		}
		for f, n := range changes {
			if f.acked.Load() < n+8 {
				return false
			}
		}
		return true
	}
	for !isSettled() {
		if time.Since(began) > 2*time.Minute {
			s.problem("%s: not every application has polled and every flag changed", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Logf("%s: %.1f s", what, time.Since(began).Seconds())
}

func (s *stage) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) < 10 {
		s.problems = append(s.problems, fmt.Sprintf(format, args...))
	}
}

// pick returns an instance for a request, which is to call requests.Done.
func (s *stage) pick() *replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.instances
	if len(s.canary) > 0 && rand.IntN(10) == 0 {
		from = s.canary
		s.ofCanaries.Add(1)
	}
	i := from[rand.IntN(len(from))]
	i.requests.Add(1)
	return i
}

// change gives a flag one state after the other.
func (s *stage) change(ctx context.Context, f *deployedFlag) {
	for n := int64(1); ctx.Err() == nil; n++ {
		f.begun.Store(n)
		switch {
		case n%2 == 1:
			s.send("PATCH", f.path(), fmt.Sprintf(`[{"op":"replace","path":"/description","value":"%d"}]`, n))
		case isOn(n):
			s.send("POST", f.path()+"/environments/development/on", "")
		default:
			s.send("POST", f.path()+"/environments/development/off", "")
		}
		f.acked.Store(n)
		s.changes.Add(1)
		time.Sleep(rand.N(100 * time.Millisecond))
	}
}

// send sends a change that must succeed.
func (s *stage) send(method, path, body string) {
	i := s.pick()
	defer i.requests.Done()
	r, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), method, i.url(path), strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", dynamotest.AdminToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := i.client.Do(r)
	if err != nil {
		s.problem("%s %s: %v", method, path, err)
		return
	}
	defer response.Body.Close()
	if answer, _ := io.ReadAll(response.Body); response.StatusCode >= 300 {
		s.problem("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	if i.options.Program != "" {
		s.byAnother.Add(1)
	}
}

// poll polls as an SDK does, and checks every response.
func (s *stage) poll(ctx context.Context, number int) {
	etag, has := "", map[string]int64{}
	for backoff.Sleep(ctx, rand.N(rand.N(pollPause)+1)) {
		s.polling <- struct{}{}
		s.mu.Lock()
		s.pollsOf[number].begun++
		s.mu.Unlock()
		least := map[string]int64{}
		for _, f := range s.flags {
			least[f.name] = f.acked.Load()
		}
		i := s.pick()
		a := i.get(context.WithoutCancel(ctx), "/api/client/features", dynamotest.ClientToken, spec, etag)
		i.requests.Done()
		<-s.polling
		before := maps.Clone(has)
		switch {
		case a.status == http.StatusOK:
			var all struct{ Features []wireFlag }
			if err := json.Unmarshal(a.body, &all); err != nil {
				s.problem("%v in %s", err, a.body)
			}
			clear(has)
			for _, f := range all.Features {
				has[f.Name] = numberOf(f)
			}
			etag = a.etag
			s.changed.Add(1)
		case a.status != http.StatusNotModified || etag == "":
			s.problem("a poll got %d %s", a.status, a.body)
		}
		for _, f := range s.flags {
			switch n := has[f.name]; {
			case n < least[f.name]:
				s.problem("a poll shows state %d of %s after %d was acknowledged", n, f.name, least[f.name])
			case n < before[f.name]:
				s.problem("a poll shows state %d of %s after the one before showed %d", n, f.name, before[f.name])
			case n > f.begun.Load():
				s.problem("a poll shows state %d of %s, which nobody requested", n, f.name)
			}
		}
		s.mu.Lock()
		s.pollsOf[number].ended++
		s.mu.Unlock()
		s.polls.Add(1)
	}
}
