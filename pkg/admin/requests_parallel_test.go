package admin_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A requestInput is an operation on the one change request of a history, or on the flag that it changes.
type requestInput struct {
	kind     string // edit, rebase, approve, apply, cancel, underneath, read
	who      string
	revision string // that an approval names
	value    string // what an edit proposes, or what is set underneath
	alone    bool   // nothing else ran at the same time, so a refusal names its cause
}

// A requestOutput is its response. A lost one can be any.
type requestOutput struct {
	lost              bool
	status            int
	revision, content string
	approved          bool
}

// A requestModel is the state of the model: what the flag has, what the request was made on, and who has approved what.
type requestModel struct {
	content, base, proposed, revision string
	approvals                         string // names, sorted by time
	closed, applied                   bool
}

func (s requestModel) approved() bool {
	return !s.closed && s.content == s.base && strings.Count(s.approvals, ",") >= 2
}

// refused reports whether the operation was refused. It sees the request and its flag one after the other, so beside others it can name
// another cause than that of the moment at which it has one.
func refused(o requestOutput) bool {
	return o.status == http.StatusConflict || o.status == http.StatusPreconditionFailed
}

// requestsModel says what each operation does if operations happen one after the other.
var requestsModel = porcupine.Model{
	Init: func() any { return requestModel{} },
	Step: func(state, in, out any) (bool, any) {
		s, i, o := state.(requestModel), in.(requestInput), out.(requestOutput)
		next, status := s, 200
		switch i.kind {
		case "start":
			next = requestModel{content: o.content, base: o.content, proposed: i.value, revision: o.revision}
		case "read":
			return o.revision == s.revision && (!o.approved || s.approved()), s
		case "content":
			return o.content == s.content, s
		case "underneath":
			next.content = i.value
		case "edit":
			if s.closed || s.content != s.base {
				status = 409
				break
			}
			next.proposed, next.revision, next.approvals = i.value, o.revision, ""
		case "rebase":
			if s.closed {
				status = 409
			} else if s.content != s.base {
				next.base, next.revision, next.approvals = s.content, o.revision, ""
			}
		case "approve":
			switch {
			case i.revision != s.revision:
				status = 412
			case s.closed || s.content != s.base:
				status = 409
			case !strings.Contains(s.approvals, i.who):
				next.approvals += i.who + ","
			}
		case "apply":
			switch {
			case s.applied: // doing it again changes nothing
			case !s.approved():
				status = 409
			default:
				next.content, next.closed, next.applied = s.proposed, true, true
			}
		}
		switch {
		case o.lost && status != http.StatusOK:
			return true, s
		case status != http.StatusOK:
			return o.status == status || refused(o) && !i.alone, s
		}
		return o.lost || status == o.status, next
	},
}

// TestRequestsLinearizable edits, re-bases, approves and applies a request at the same time as its flag is changed underneath, with lost
// responses, and checks that there is an order of the operations that explains all responses: so nothing is applied that two people have not
// approved as it is, and nothing is refused without a cause. In each fourth round only one operation runs at a time.
func TestRequestsLinearizable(t *testing.T) {
	t.Parallel()
	applied, lost, injected := 0, 0, 0
	for seed := range uint64(dynamotest.Times(4, 40)) {
		r := serveReviews(t, 2)
		faults := &dynamotest.Faults{LoseResponses: 0.2, DropRequests: 0.05, LateDeliveries: 0.05, Conflicts: true, Delay: 3 * time.Millisecond, Seed: seed}
		faulty := r.over(t, faults)
		admin := r.admin(t)
		for round := range uint64(8) {
			h := &requestHistory{reviewing: r, faulty: faulty, started: time.Now(), alone: round%4 == 0}
			content := variantIn(r.must(t, "GET", in("f", "production")+"/variants", "").body)
			h.request = r.inReview(t, h.change(fmt.Sprintf("v%d", round)))
			h.note(requestInput{kind: "start", value: fmt.Sprintf("v%d", round)}, requestOutput{status: 200, revision: h.request.Revision, content: content}, time.Since(h.started))
			var clients sync.WaitGroup
			var turn sync.Mutex
			for n, who := range []struct {
				name    string
				headers []string
				kinds   []string
			}{
				{"author", r.author, []string{"edit", "rebase", "rebase", "read", "read", "read", "read"}}, {"first", r.first, []string{"approve", "approve", "read"}}, {"second", r.second, []string{"approve", "approve", "read"}},
				{"releaser", r.releaser, []string{"apply", "apply", "content"}}, {"admin", admin, []string{"underneath", "content", "content", "content"}},
			} {
				clients.Go(func() {
					random := rand.New(rand.NewPCG(seed<<8+round, uint64(n)))
					for i := range 10 {
						if h.alone {
							turn.Lock()
						}
						h.do(t, who.name, who.headers, who.kinds[random.IntN(len(who.kinds))], fmt.Sprintf("%s%d-%d", who.name[:2], round, i))
						if h.alone {
							faults.Drain()
							turn.Unlock()
						}
					}
				})
			}
			clients.Wait()
			faults.Drain()
			if verdict := porcupine.CheckOperationsTimeout(requestsModel, h.operations, time.Minute); verdict != porcupine.Ok {
				t.Errorf("seed %d, round %d: %s, want a linearizable history", seed, round, verdict)
			}
			applied, lost = applied+h.applied, lost+h.lost
		}
		injected += faults.Injected()[dynamotest.LoseResponse]
		dynamotest.Check(t, r.store)
	}
	t.Logf("%d applications, %d lost responses of the store, after %d of which the caller knew nothing", applied, injected, lost)
	if applied == 0 || injected == 0 {
		t.Errorf("%d requests were applied, and %d responses were lost, so nothing was tested", applied, injected)
	}
}

// A requestHistory records operations on one change request.
type requestHistory struct {
	*reviewing
	faulty        *server // with lost responses
	request       changeRequest
	started       time.Time
	mu            sync.Mutex
	operations    []porcupine.Operation
	applied, lost int
	alone         bool // one operation at a time
}

// change proposes variants whose only name is the value.
func (h *requestHistory) change(value string) string {
	return change("f", "patchVariant", fmt.Sprintf(`{"variants":[{"name":%q,"weight":1000}]}`, value))
}

func (h *requestHistory) note(in requestInput, out requestOutput, called time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	returned := int64(time.Since(h.started))
	if out.lost {
		returned = math.MaxInt64
		h.lost++
	}
	if in.kind == "apply" && out.status == http.StatusOK {
		h.applied++
	}
	h.operations = append(h.operations, porcupine.Operation{ClientId: len(h.operations), Input: in, Call: int64(called), Output: out, Return: returned})
}

// over serves the same table through a transport with faults.
func (r *reviewing) over(t *testing.T, faults *dynamotest.Faults) *server {
	t.Helper()
	store := dynamotest.OpenOn(t, dynamotest.Engine(), r.store.Table(), faults)
	web := httptest.NewServer(everyGroup(store, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: r.clock.time}))
	t.Cleanup(web.Close)
	return &server{url: web.URL, client: web.Client(), store: store}
}

// do does one operation and records it. Those whose responses have a revision are done without faults.
func (h *requestHistory) do(t *testing.T, who string, headers []string, kind, value string) {
	path, op, out := pathOf(h.request), requestInput{kind: kind, who: who, value: value, alone: h.alone}, requestOutput{}
	read := func(body string) (q changeRequest) {
		if err := json.Unmarshal([]byte(body), &q); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		return q
	}
	send := func(s *server, method, path, body string, more ...string) (got answer) {
		got, err := s.try(method, path, body, append(slices.Clone(headers), more...)...)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	if kind == "approve" {
		op.revision = read(send(h.server, "GET", path, "").body).Revision
	}
	called := time.Since(h.started)
	var got answer
	switch kind {
	case "read":
		got = send(h.server, "GET", path, "")
		q := read(got.body)
		out.revision, out.approved = q.Revision, q.State == "Approved"
	case "content":
		got = send(h.server, "GET", in("f", "production")+"/variants", "")
		out.content = variantIn(got.body)
	case "edit", "rebase":
		q := read(send(h.server, "GET", path, "").body)
		if kind == "edit" {
			got = send(h.server, "PUT", fmt.Sprintf("%s/changes/%d", path, q.Features[0].Changes[0].ID), h.change(value))
		} else {
			got = send(h.server, "POST", path+"/rebase", "")
		}
		if got.status == http.StatusOK {
			out.revision = read(got.body).Revision
		}
	case "approve":
		got = send(h.faulty, "PUT", path+"/state", `{"state":"Approved"}`, `If-Match: "`+op.revision+`"`)
	case "apply":
		got = send(h.faulty, "PUT", path+"/state", `{"state":"Applied"}`)
	case "underneath":
		got = send(h.faulty, "PUT", in("f", "production")+"/variants", fmt.Sprintf(`[{"name":%q,"weight":1000}]`, value))
	}
	out.status = got.status
	switch {
	case got.status == http.StatusServiceUnavailable && strings.Contains(got.body, "nothing was changed"):
		return
	case got.status == http.StatusServiceUnavailable:
		out.lost = true
	case got.status >= 500:
		t.Errorf("%s: %d %s", kind, got.status, got.body)
	}
	h.note(op, out, called)
}

// variantIn is the name of the only variant in a list; "" without one.
func variantIn(body string) string {
	_, rest, _ := strings.Cut(body, `"name":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}
