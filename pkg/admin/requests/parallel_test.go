package requests_test

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

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A requestInput is an operation on the one change request of a history, or on the flag that it changes.
type requestInput struct {
	kind     string // edit, rebase, approve, schedule, apply, cancel, reject, underneath, read
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
	state             string // of the request
}

// A requestModel is the state of the model: what the flag has, what the request was made on, and who has approved what.
type requestModel struct {
	content, base, proposed, revision string
	approvals                         string // names, sorted by time
	state                             string // as it is stored, so never Approved
}

func (s requestModel) open() bool { return s.state == "In review" || s.state == "Scheduled" }

func (s requestModel) appliable() bool {
	return s.open() && s.content == s.base && strings.Count(s.approvals, ",") >= 2
}

// shows reports whether a request can be read in a state. Beside other operations, its flag is read after it, and can have changed since.
func (s requestModel) shows(state string, alone bool) bool {
	approved := s.state == "In review" && s.appliable()
	return state == s.state && (!alone || !approved) || state == "Approved" && approved
}

// asked is the state that an operation of this kind asks for.
var asked = map[string]string{"schedule": "Scheduled", "apply": "Applied", "cancel": "Cancelled", "reject": "Rejected"}

// requestsModel says what each operation does if operations happen one after the other.
var requestsModel = porcupine.Model{
	Init: func() any { return requestModel{} },
	Step: func(state, in, out any) (bool, any) {
		s, i, o := state.(requestModel), in.(requestInput), out.(requestOutput)
		next, status := s, 200
		switch i.kind {
		case "start":
			next = requestModel{content: o.content, base: o.content, proposed: i.value, revision: o.revision, state: "In review"}
		case "read":
			return o.revision == s.revision && s.shows(o.state, i.alone), s
		case "content":
			return o.content == s.content, s
		case "underneath":
			next.content = i.value
		case "edit":
			if s.state != "In review" || s.content != s.base {
				status = 409
				break
			}
			next.proposed, next.revision, next.approvals = i.value, o.revision, ""
		case "rebase":
			if s.state != "In review" {
				status = 409
			} else if s.content != s.base {
				next.base, next.revision, next.approvals = s.content, o.revision, ""
			}
		case "approve":
			switch {
			case i.revision != s.revision:
				status = 412
			case s.state != "In review" || s.content != s.base:
				status = 409
			case !strings.Contains(s.approvals, i.who):
				next.approvals += i.who + ","
			}
		case "schedule", "apply", "cancel", "reject":
			closes := i.kind == "cancel" || i.kind == "reject"
			switch {
			case s.state == asked[i.kind] && !s.open(): // doing it again changes nothing
			case closes && !s.open() || !closes && !s.appliable():
				status = 409
			default:
				next.state = asked[i.kind]
				if i.kind == "apply" {
					next.content = s.proposed
				}
			}
		}
		switch {
		case o.lost && status != http.StatusOK:
			return true, s
		case status != http.StatusOK:
			// The flag is read after the request, so beside others an approval of an outdated revision can be refused because of the flag.
			return o.status == status || status == http.StatusPreconditionFailed && o.status == http.StatusConflict && !i.alone, s
		}
		return o.lost || status == o.status, next
	},
}

// TestRequestsLinearizable edits, re-bases, approves, schedules, applies, cancels and rejects a request at the same time as its flag is changed
// underneath, with lost responses, and checks that there is an order of the operations that explains all responses: so nothing is applied that two people have not
// approved as it is, and nothing is refused without a cause. In each fourth round only one operation runs at a time.
func TestRequestsLinearizable(t *testing.T) {
	t.Parallel()
	done, lost, injected := map[string]int{}, 0, 0
	for seed := range uint64(dynamotest.Times(4, 40)) {
		r := serveReviews(t, 2)
		faults := &dynamotest.Faults{LoseResponses: 0.2, DropRequests: 0.05, LateDeliveries: 0.05, Conflicts: true, Delay: 3 * time.Millisecond, Seed: seed}
		faulty := r.over(t, faults)
		admin := administrator(t, r.Server)
		for round := range uint64(8) {
			h := &requestHistory{reviewing: r, faulty: faulty, started: time.Now(), alone: round%4 == 0, done: done}
			content := variantIn(r.Must(t, "GET", apitest.In("f", "production")+"/variants", "").Body)
			h.request = r.inReview(t, h.change(fmt.Sprintf("v%d", round)))
			h.note(requestInput{kind: "start", value: fmt.Sprintf("v%d", round)}, requestOutput{status: 200, revision: h.request.Revision, content: content}, time.Since(h.started))
			var clients sync.WaitGroup
			var turn sync.Mutex
			for n, who := range []struct {
				name    string
				headers []string
				kinds   []string
				seldom  string
			}{
				{"author", r.author, []string{"edit", "edit", "rebase", "rebase", "read", "read", "read", "read"}, "cancel"},
				{"first", r.first, []string{"approve", "approve", "read"}, "reject"}, {"second", r.second, []string{"approve", "approve", "read"}, "approve"},
				{"releaser", r.releaser, []string{"apply", "schedule", "schedule", "content"}, "apply"},
				{"admin", admin, []string{"underneath", "content", "content", "content"}, "content"},
			} {
				clients.Go(func() {
					random := rand.New(rand.NewPCG(seed<<8+round, uint64(n)))
					for i := range 10 {
						if h.alone {
							turn.Lock()
						}
						kind := who.kinds[random.IntN(len(who.kinds))]
						if i >= 5 && random.IntN(6) == 0 { // so most requests are not closed at once
							kind = who.seldom
						}
						h.do(t, who.name, who.headers, kind, fmt.Sprintf("%s%d-%d", who.name[:2], round, i))
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
			lost += h.lost
		}
		injected += faults.Injected()[dynamotest.LoseResponse]
		dynamotest.Check(t, r.Store)
	}
	t.Logf("done: %v; %d lost responses of the store, after %d of which the caller knew nothing", done, injected, lost)
	for _, kind := range []string{"edit", "rebase", "approve", "schedule", "apply", "cancel", "reject", "underneath"} {
		if done[kind] == 0 || injected == 0 {
			t.Errorf("%s succeeded %d times, and %d responses were lost, so it was not tested", kind, done[kind], injected)
		}
	}
}

// A requestHistory records operations on one change request.
type requestHistory struct {
	*reviewing
	faulty     *apitest.Server // with lost responses
	request    changeRequest
	started    time.Time
	mu         sync.Mutex
	operations []porcupine.Operation
	done       map[string]int // successful operations, by kind
	lost       int
	alone      bool // one operation at a time
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
	if out.status == http.StatusOK {
		h.done[in.kind]++
	}
	h.operations = append(h.operations, porcupine.Operation{ClientId: len(h.operations), Input: in, Call: int64(called), Output: out, Return: returned})
}

// over serves the same table through a transport with faults.
func (r *reviewing) over(t *testing.T, faults *dynamotest.Faults) *apitest.Server {
	t.Helper()
	store := dynamotest.OpenOn(t, dynamotest.Engine(), r.Store.Table(), faults)
	web := httptest.NewServer(apitest.Handler(store, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, Now: r.clock.Time}))
	t.Cleanup(web.Close)
	return &apitest.Server{URL: web.URL, Client: web.Client(), Store: store}
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
	send := func(s *apitest.Server, method, path, body string, more ...string) (got apitest.Answer) {
		got, err := s.Try(method, path, body, append(slices.Clone(headers), more...)...)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	if kind == "approve" {
		op.revision = read(send(h.Server, "GET", path, "").Body).Revision
	}
	called := time.Since(h.started)
	var got apitest.Answer
	switch kind {
	case "read":
		got = send(h.Server, "GET", path, "")
		q := read(got.Body)
		out.revision, out.state = q.Revision, q.State
	case "content":
		got = send(h.Server, "GET", apitest.In("f", "production")+"/variants", "")
		out.content = variantIn(got.Body)
	case "edit", "rebase":
		q := read(send(h.Server, "GET", path, "").Body)
		if kind == "edit" {
			got = send(h.Server, "PUT", fmt.Sprintf("%s/changes/%d", path, q.Features[0].Changes[0].ID), h.change(value))
		} else {
			got = send(h.Server, "POST", path+"/rebase", "")
		}
		if got.Status == http.StatusOK {
			out.revision = read(got.Body).Revision
		}
	case "approve":
		got = send(h.faulty, "PUT", path+"/state", `{"state":"Approved"}`, `If-Match: "`+op.revision+`"`)
	case "schedule", "apply", "cancel", "reject":
		body := fmt.Sprintf(`{"state":%q}`, asked[kind])
		if kind == "schedule" {
			body = fmt.Sprintf(`{"state":"Scheduled","scheduledAt":%q}`, h.clock.Time().Add(time.Hour).Format(time.RFC3339))
		}
		got = send(h.faulty, "PUT", path+"/state", body)
	case "underneath":
		got = send(h.faulty, "PUT", apitest.In("f", "production")+"/variants", fmt.Sprintf(`[{"name":%q,"weight":1000}]`, value))
	}
	out.status = got.Status
	switch {
	case got.Status == http.StatusServiceUnavailable && strings.Contains(got.Body, "nothing was changed"):
		return
	case got.Status == http.StatusServiceUnavailable:
		out.lost = true
	case got.Status >= 500:
		t.Errorf("%s: %d %s", kind, got.Status, got.Body)
	}
	h.note(op, out, called)
}

// variantIn is the name of the only variant in a list; "" without one.
func variantIn(body string) string {
	_, rest, _ := strings.Cut(body, `"name":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}
