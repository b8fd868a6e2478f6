package linear

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"guidon/internal/engine"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A setup has the parameters of a history. The same setup sends the same operations, but their timing depends on the
// scheduler.
type setup struct {
	seed     uint64
	loss     float64 // the share of requests and responses between store and engine that get lost
	restarts int     // of the engine
	each     int     // operations of each client
	of       *workload
	sabotage func(next http.RoundTripper) http.RoundTripper
}

const (
	clients  = 8
	flagsOf  = "/api/admin/projects/default/features"
	allFlags = 4
)

// A workload has the operations of the clients, and the model that says which responses are legal.
type workload struct {
	prepare func(w *world) // before the faults begin
	work    func(w *world, client int)
	finish  func(w *world) // reads the final state
	model   porcupine.Model
}

// flagWork creates, changes and reads a few flags.
var flagWork = &workload{
	prepare: func(*world) {},
	work:    (*world).work,
	finish: func(w *world) {
		for i := range allFlags {
			w.do(clients, input{kind: read, flag: flagOf(i)}, longTimeout)
			w.do(clients, input{kind: all, flag: flagOf(i)}, longTimeout)
		}
		w.do(clients, input{kind: list}, longTimeout)
	},
	model: model,
}

// A world is a server with its clients and the history of their operations.
type world struct {
	setup
	url    string
	client *http.Client
	faults *dynamotest.Faults
	start  time.Time

	mu         sync.Mutex
	history    []porcupine.Operation
	values     int
	known      map[string]map[string]string // by flag and group: the ids of strategies that were read
	operations int                          // the number of operations
	unknown    int                          // the number of operations of unknown effect
	problems   []string                     // responses that no client may get
}

// run records a history. It uses its own engine, since an engine slows down with every request token that it stores.
func run(t *testing.T, s setup) *world {
	t.Helper()
	options := engine.Options{Direct: true}
	if s.restarts > 0 {
		options.DataFile = filepath.Join(t.TempDir(), "engine.db")
	}
	e, err := engine.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	faults := &dynamotest.Faults{Seed: s.seed, Conflicts: true}
	var transport http.RoundTripper = faults
	if s.sabotage != nil {
		transport = s.sabotage(faults)
	}
	dynamotest.Seed(t, dynamotest.OpenOn(t, e, "linear", nil))
	web := httptest.NewServer(withDeadlines(handlerOf(dynamotest.OpenOn(t, e, "linear", transport))))
	defer web.Close()
	client := web.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	w := &world{setup: s, url: web.URL, client: client, faults: faults, start: time.Now(), known: map[string]map[string]string{}}
	s.of.prepare(w)
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.LateDeliveries = s.loss*0.3, s.loss*0.5, s.loss*0.2
		f.Duplicates, f.Delay = 0.05, 2*time.Millisecond
	})
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() { s.of.work(w, i) })
	}
	done := make(chan struct{})
	go func() { working.Wait(); close(done) }()
	w.restart(t, e, done)
	<-done
	faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.LateDeliveries, f.Duplicates, f.Delay = 0, 0, 0, 0, 0
	})
	faults.Drain()
	s.of.finish(w)
	w.problems = append(w.problems, dynamotest.Inconsistencies(t, e.URL(), "linear")...)
	return w
}

func handlerOf(store httpapi.Store) http.Handler {
	config := httpapi.Config{Limits: flags.DefaultLimits()}
	mux := &httpapi.Mux{}
	for _, group := range []httpapi.Group{
		admin.Group("features"), admin.Group("strategies"), admin.Group("events"), admin.Group("projects"), admin.Group("environments"), admin.Group("segments"),
	} {
		handler := httpapi.New(store, group, config)
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	return mux
}

// deadline is the header with the time that a request has, without the second that a function needs to respond.
const deadline = "Test-Deadline"

func withDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := time.ParseDuration(r.Header.Get(deadline))
		if err != nil {
			panic(err)
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second+d)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// The timeouts of requests. With the short one, it is often unknown whether the operation took effect.
const (
	longTimeout  = 20 * time.Second
	shortTimeout = 25 * time.Millisecond
)

func flagOf(i int) string { return fmt.Sprintf("flag-%d", i) }

// restart stops and starts the engine while the clients work. Every other time it kills the engine, like a power failure.
func (w *world) restart(t *testing.T, e *engine.Engine, done <-chan struct{}) {
	random := rand.New(rand.NewPCG(w.seed, 1))
	for i := range w.restarts {
		select {
		case <-done:
			return
		case <-time.After(100*time.Millisecond + time.Duration(random.Int64N(int64(400*time.Millisecond)))):
		}
		if i%2 == 0 {
			e.Kill()
		}
		if err := e.Restart(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("the engine does not start again: %v", err)
		}
	}
}

// work runs the operations of a client. First, all clients try to create all flags.
func (w *world) work(client int) {
	random := rand.New(rand.NewPCG(w.seed, uint64(client)+2))
	for _, i := range random.Perm(allFlags) {
		w.do(client, w.input(random, create, flagOf(i)), longTimeout)
	}
	for range w.each - allFlags {
		timeout := longTimeout
		if random.IntN(8) == 0 {
			timeout = shortTimeout
		}
		w.do(client, w.input(random, kindOf(random), flagOf(random.IntN(allFlags))), timeout)
	}
}

// kindOf returns a random operation. Half of them are reads.
func kindOf(random *rand.Rand) kind {
	drawn := random.IntN(100)
	for _, share := range []struct {
		of   kind
		size int
	}{{read, 30}, {list, 12}, {tail, 8}, {patch, 12}, {on, 7}, {off, 5}, {add, 9}, {edit, 10}, {remove, 6}} {
		if drawn < share.size {
			return share.of
		}
		drawn -= share.size
	}
	return create // of a flag that already exists
}

// input returns random parameters. It keeps the number of strategies small: with more than five, it changes one instead of
// adding another, and with none, it adds one instead of changing it.
func (w *world) input(random *rand.Rand, k kind, flag string) input {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.values++
	in := input{kind: k, flag: flag, value: fmt.Sprintf("v%d", w.values), stale: random.IntN(2) == 0}
	if k != add && k != edit && k != remove {
		return in
	}
	groups := slices.Sorted(maps.Keys(w.known[flag]))
	switch {
	case len(groups) == 0:
		in.kind = add
	case k == add && len(groups) > 5:
		in.kind = edit
	}
	if in.kind == add {
		in.strategy = fmt.Sprintf("g%d", w.values)
	} else {
		in.strategy = groups[random.IntN(len(groups))]
	}
	return in
}
