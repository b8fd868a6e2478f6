package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"guidon/internal/engine"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestReaders runs histories of writers, and of clients that read through three instances, and checks every answer (see
// register.check). In half of them, transactions are applied in two parts.
func TestReaders(t *testing.T) {
	for seed := range uint64(dynamotest.Times(1, 8)) {
		for _, torn := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d torn %t", seed, torn), func(t *testing.T) {
				t.Parallel()
				h := newHistory(t, seed, torn)
				h.run(dynamotest.Times(1, 8))
			})
		}
	}
}

// A history is a table with its writers, instances and clients, and what they did.
type history struct {
	t    *testing.T
	seed uint64
	torn *torn // nil if transactions are applied at once

	engine *engine.Engine
	store  *dynamo.Store    // of the administration, with faults
	quiet  *dynamo.Store    // without faults
	raw    *dynamodb.Client // without faults
	faults *dynamotest.Faults
	admin  http.Handler

	instances   []*instance
	clients     int
	shop        string // a token for the project shop
	everything  string // a token for all projects
	frontend    string // a frontend token for all projects
	usedSegment int64
	used        *register // that segment
	etags       etags

	start time.Time
	begun chan struct{} // closed when the writers and clients begin
	ended atomic.Bool   // whether they end

	mu        sync.Mutex
	registers []*register
	isShared  map[*register]bool // those with several writers
	shared    []porcupine.Operation
	problems  []string

	acked, unknown                                                   atomic.Int64             // changes
	changed, unchanged, broken, unavailable, hydrations, evaluations atomic.Int64             // answers
	tokenPolls                                                       [2]atomic.Int64          // with a token before and after its deletion
	deltas                                                           map[string]*atomic.Int64 // by type of event
}

func newHistory(t *testing.T, seed uint64, isTorn bool) *history {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	h := &history{t: t, seed: seed, engine: e, start: time.Now(), isShared: map[*register]bool{}, deltas: map[string]*atomic.Int64{}}
	for _, event := range []string{"feature-updated", "feature-removed", "segment-updated", "segment-removed"} {
		h.deltas[event] = &atomic.Int64{}
	}
	h.begun = make(chan struct{})
	const table = "readers"
	h.quiet = dynamotest.OpenOn(t, e, table, nil)
	dynamotest.Seed(t, h.quiet)
	h.faults = &dynamotest.Faults{Seed: seed, Conflicts: true}
	if isTorn {
		h.torn = &torn{base: http.DefaultTransport, pause: 20 * time.Millisecond, random: rand.New(rand.NewPCG(seed, 7)), done: map[string][]byte{}}
		h.faults.Base = h.torn
	}
	h.store = dynamotest.OpenOn(t, e, table, h.faults)
	if h.raw, err = dynamo.NewClient(t.Context(), dynamo.Options{Table: table, Endpoint: e.URL()}); err != nil {
		t.Fatal(err)
	}
	mux := &httpapi.Mux{}
	for _, group := range admin.Groups() {
		handler := httpapi.New(h.store, group, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer})
		for _, route := range group.Routes() {
			mux.Handle(route, handler)
		}
	}
	h.admin = mux
	for n := range 3 {
		h.instances = append(h.instances, startInstance(t, n, options{
			Engine: e.URL(), Table: table, Seed: seed*1000 + uint64(n), Loss: 0.15, Delay: 4 * time.Millisecond << (2 * n), Clock: time.Duration(n-1) * 3 * time.Second,
		}))
	}
	return h
}

func (h *history) now() time.Duration { return time.Since(h.start) }

// goesOn reports whether the history has not ended.
func (h *history) goesOn() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.ended.Load() && len(h.problems) < 10
}

// problem notes something that must not happen.
func (h *history) problem(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = append(h.problems, fmt.Sprintf(format, args...))
}

// entriesOf lists the entries of the feed that name something, for messages.
func (h *history) entriesOf(name string) (text string) {
	view, err := h.quiet.Load(context.Background(), []flags.Key{flags.FeedKey(), flags.FeatureKey(name)})
	if err != nil {
		return err.Error()
	}
	if f := flags.Find[*flags.Feature](view, flags.FeatureKey(name)); f != nil {
		text = fmt.Sprintf("its version is %d; ", f.Version)
	}
	feed := flags.Find[*flags.Feed](view, flags.FeedKey())
	pages, err := h.quiet.FeedPages(context.Background(), 0)
	if err != nil {
		return err.Error()
	}
	text += fmt.Sprintf("epoch %q, number %d:", feed.Epoch, feed.Number)
	for _, e := range append(pages, feed.Entries...) {
		for _, c := range e.Changes {
			if c.Key.ID == name {
				text += fmt.Sprintf(" %d is version %d", e.Number, c.Version)
				if c.Left != nil {
					text += ", left " + c.Left.ID
				}
				text += ";"
			}
		}
	}
	return text
}

// register adds a register, with the state that it always had.
func (h *history) register(name string, k kind, is content) *register {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &register{name: name, kind: k, states: []state{{content: is}}}
	h.registers = append(h.registers, r)
	return r
}

func (h *history) all() []*register {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.registers[:len(h.registers):len(h.registers)]
}

// note notes a reading of a shared register for porcupine.
func (h *history) note(r *register, is reading, shown string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shared = append(h.shared, porcupine.Operation{ClientId: is.process.instance, Input: sharedInput{r.name, ""}, Call: int64(is.began), Output: shown, Return: int64(is.ended)})
}

// run runs the history, and checks what is left when everything has stopped.
func (h *history) run(rounds int) {
	for _, project := range []string{"shop", "attic"} {
		h.post("/api/admin/projects", fmt.Sprintf(`{"id":%q,"name":%[1]q}`, project))
	}
	h.shop, h.everything, h.frontend = h.createToken("client", "shop"), h.createToken("client", "*"), h.createToken("frontend", "*")
	h.used, h.usedSegment = h.createSegment("used", segment{value: "0"})
	h.post("/api/admin/projects/default/features", `{"name":"uses"}`)
	h.post("/api/admin/projects/default/features/uses/environments/development/strategies", fmt.Sprintf(`{"name":"default","segments":[%d]}`, h.usedSegment))
	h.post("/api/admin/projects/default/features", `{"name":"parent"}`)
	var writing, reading, chaos sync.WaitGroup
	for n := range 4 {
		var group []*flagWriter
		for m := range 3 {
			name := longName(fmt.Sprintf("flag-%d", 3*n+m))
			r, strategy := h.createFlag(name, "default")
			group = append(group, &flagWriter{
				history: h, register: r, strategy: strategy, is: flag{project: "default", group: "0"},
				random: rand.New(rand.NewPCG(h.seed, uint64(3*n+m))), projects: []string{"default", "shop"},
			})
		}
		writing.Go(func() { <-h.begun; takeTurns(group) })
	}
	var many, shared []*register
	for n := range 4 {
		r, _ := h.createFlag(longName(fmt.Sprintf("many-%d", n)), "default")
		many = append(many, r)
	}
	for n := range 2 {
		r, _ := h.createFlag(fmt.Sprintf("shared-%d", n), "default")
		h.isShared[r] = true
		shared = append(shared, r)
	}
	attic, _ := h.createFlag("attic-flag", "attic")
	refers, strategy := h.createFlag("refers", "default")
	gate, _ := h.createFlag("gate", "default")
	for _, work := range []func(){
		func() { h.changeSegments(h.used) }, func() { h.refer(refers, strategy) }, func() { h.gate(gate) }, func() { h.detach(attic) }, func() { h.switchMany(many) }, h.replaceTokens,
		func() { h.share(1, shared) }, func() { h.share(2, shared) },
	} {
		writing.Go(func() { <-h.begun; work() })
	}
	h.faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.LateDeliveries = 0.03, 0.06, 0.03, 0.02
		f.Throttles, f.Failures, f.Duplicates, f.Delay = 0.03, 0.02, 0.03, 2*time.Millisecond
	})
	whole := h.client("a client of all instances", view{}, h.instances...)
	readers := []*client{whole, h.client("a client of the project shop", view{project: "shop"}, h.instances...), h.client("a client of the project default", view{project: "default"}, h.instances...), h.client("a client of a tag", view{tagged: true}, h.instances...)}
	for _, i := range h.instances {
		readers = append(readers, h.client("a client of one instance", view{}, i))
	}
	for _, c := range readers {
		reading.Go(func() { <-h.begun; c.work(c.poll) })
	}
	inlined := h.client("a client without segments", view{}, h.instances...)
	reading.Go(func() { <-h.begun; inlined.work(inlined.pollInlined) })
	evaluated := h.client("a browser", view{evaluated: true}, h.instances...)
	reading.Go(func() { <-h.begun; evaluated.work(evaluated.evaluate) })
	var deltas []*deltaClient
	for name, v := range map[string]view{
		"a client of deltas": {}, "another client of deltas": {}, "a client of deltas of the project shop": {project: "shop"}, "a client of deltas of a tag": {tagged: true},
	} {
		c := &deltaClient{client: h.client(name, v, h.instances...)}
		deltas = append(deltas, c)
		reading.Go(func() { <-h.begun; c.work(c.poll) })
	}
	var done map[string]int
	chaos.Go(func() { <-h.begun; done = h.chaos(rounds) })
	close(h.begun)
	writing.Wait()
	chaos.Wait()
	reading.Wait()
	h.finish(deltas, done)
}

func (h *history) finish(deltas []*deltaClient, done map[string]int) {
	h.faults.Change(func(f *dynamotest.Faults) {
		f.DropRequests, f.LoseResponses, f.TruncateResponses, f.LateDeliveries = 0, 0, 0, 0
		f.Throttles, f.Failures, f.Duplicates, f.Delay = 0, 0, 0, 0
	})
	h.faults.Drain()
	for _, c := range deltas {
		c.equals(h.client("a client at the end", c.view, h.instances...))
	}
	h.problems = append(h.problems, dynamotest.Inconsistencies(h.t, h.engine.URL(), h.store.Table())...)
	for _, problem := range h.problems[:min(len(h.problems), 12)] {
		h.t.Error(problem)
	}
	if h.torn == nil {
		if verdict := h.verdict(); verdict != porcupine.Ok {
			h.t.Errorf("the history of the flags with several writers is %s, want it to be linearizable", verdict)
		}
	}
	h.checkCoverage(done)
}

// counted returns how often everything happened that a history must have.
func (h *history) counted(done map[string]int) map[string]int64 {
	var total counts
	for _, i := range h.instances {
		total.add(i.total)
		total.add(i.counts())
	}
	n := map[string]int64{
		"changes": h.acked.Load(), "answers with changes": h.changed.Load(), "304s": h.unchanged.Load(), "hydrations": h.hydrations.Load(),
		"the same content from several instances": h.etags.count(), "polls with a token": h.tokenPolls[0].Load(),
		"polls with a deleted token": h.tokenPolls[1].Load(), "faults of instances": total.Faults, "reads of pages": total.Pages,
		"reads of snapshots": total.Snapshots, "connections that broke": h.broken.Load(), "evaluations": h.evaluations.Load(),
	}
	for _, what := range []string{"kills", "freezes", "resets", "snapshots written", "snapshots deleted or damaged"} {
		n[what] = int64(done[what])
	}
	for event, count := range h.deltas {
		n[event] = count.Load()
	}
	if h.torn != nil {
		n["transactions in two parts"] = h.torn.torn.Load()
	}
	return n
}

// untested lists what has not happened yet.
func (h *history) untested(done map[string]int) (list []string) {
	for what, n := range h.counted(done) {
		if n == 0 {
			list = append(list, what)
		}
	}
	return list
}

// checkCoverage fails if the history tested nothing of something.
func (h *history) checkCoverage(done map[string]int) {
	h.t.Logf("%v; %d changes of unknown effect, %d answers 503; faults of the administration %v",
		h.counted(done), h.unknown.Load(), h.unavailable.Load(), h.faults.Injected())
	for _, what := range h.untested(done) {
		h.t.Errorf("%s: 0, so this run has tested nothing about it", what)
	}
}

// A sharedInput is a write of a shared register, or a read for "".
type sharedInput struct{ register, written string }

// verdict checks the shared registers. Without transactions in two parts, even readings of different instances have one order.
func (h *history) verdict() porcupine.CheckResult {
	operations := h.shared
	initial := flag{project: "default", group: "0"}.shown(view{})
	for _, r := range h.registers {
		if !h.isShared[r] {
			continue
		}
		for _, s := range r.states {
			if f, ok := s.content.(flag); ok {
				returned := int64(s.acked)
				if s.acked == unknown {
					returned = math.MaxInt64
				}
				operations = append(operations, porcupine.Operation{ClientId: 10, Input: sharedInput{r.name, f.shown(view{})}, Call: int64(s.called), Output: "", Return: returned})
			}
		}
	}
	model := porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[string][]porcupine.Operation{}
			for _, o := range history {
				name := o.Input.(sharedInput).register
				parts[name] = append(parts[name], o)
			}
			var list [][]porcupine.Operation
			for _, part := range parts {
				list = append(list, part)
			}
			return list
		},
		Init: func() any { return initial },
		Step: func(state, in, out any) (bool, any) {
			if written := in.(sharedInput).written; written != "" {
				return true, written
			}
			return out == state, state
		},
	}
	h.t.Logf("porcupine: %d operations", len(operations))
	return porcupine.CheckOperationsTimeout(model, operations, 30*time.Second)
}
