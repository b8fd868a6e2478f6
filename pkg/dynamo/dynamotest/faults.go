package dynamotest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Fault is what goes wrong with one request.
type Fault string

// The faults. A network error says nothing about whether the engine did its work.
const (
	NoFault           Fault = ""
	DropRequest       Fault = "dropped request" // a network error before the engine saw anything
	LoseResponse      Fault = "lost answer"     // a network error after the engine did its work
	TruncateResponse  Fault = "cut answer"      // the engine did its work, and its answer breaks off half way
	Throttle          Fault = "throttled"       // the engine refuses for load; of a transaction, now and then as a cancellation
	FailBefore        Fault = "failed before"   // InternalServerError, and nothing was done
	FailAfter         Fault = "failed after"    // InternalServerError, and yet it was done
	Conflict          Fault = "conflict"        // a transaction is cancelled because another is under way over its first item
	DeliverLate       Fault = "arrived late"    // a network error, and the engine gets the request only then: after the next attempt, perhaps
	DeliverTwice      Fault = "arrived twice"   // nothing is seen to go wrong, but the engine gets the request again a while later
	ExpireCredentials Fault = "expired"         // the credentials of the request have expired: a 4xx, and nothing was done
)

// Faults is an http.RoundTripper between a store and its engine, on which things go wrong as they do on the way to AWS
// but never on the way to a local engine. It may be used by many goroutines and stores. The zero value lets everything
// through and counts it.
//
// The shares and Script are read under a lock: Change alters them while requests are under way.
type Faults struct {
	// Shares of the requests, from 0 to 1, that meet each fault. Together they are at most 1.
	DropRequests      float64
	LoseResponses     float64
	TruncateResponses float64
	Throttles         float64
	Failures          float64 // FailBefore and FailAfter, half of them each
	LateDeliveries    float64
	Duplicates        float64

	// Conflicts cancels a transaction that names an item which another one, under way through these Faults, names too.
	// AWS does so; no local engine does, because none has two transactions under way at once.
	Conflicts bool

	// Delay is the longest that a request waits before it is sent; how long each does is random. It keeps transactions
	// under way for long enough to overlap.
	Delay time.Duration

	// Script, if not nil, decides in place of the shares: what the nth request for an operation (from 1) meets.
	Script func(operation string, n int) Fault

	// OnRequest, if not nil, sees every request before anything happens to it: the operation, such as
	// TransactWriteItems, and the body. It is called without any lock, so it may restart the engine.
	OnRequest func(operation string, body []byte)

	Seed uint64            // of the random numbers; the same one gives the same faults, to a single caller
	Base http.RoundTripper // what carries the requests; nil for one that keeps connections open

	mu       sync.Mutex
	random   *rand.Rand
	calls    map[string]int
	raised   map[Fault]int
	underway map[string]int // how many transactions name the item
	late     sync.WaitGroup // requests that nobody waits for the answer of
}

var _ http.RoundTripper = (*Faults)(nil)

// keepAlive carries the requests of all Faults without a Base.
var keepAlive = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	return t
}()

// errDropped is what the sender of a dropped request sees.
var errDropped = errors.New("connection reset by peer (a fault of the test)")

const transactWrite = "TransactWriteItems"

// Change alters the fields while requests are under way.
func (f *Faults) Change(change func(*Faults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// Calls tells how many requests there were, by operation, those that met a fault included.
func (f *Faults) Calls() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.calls)
}

// ResetCalls makes Calls, and the n of Script, begin anew.
func (f *Faults) ResetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// Raised tells how often each fault happened: a test of faults that did not happen would show nothing.
func (f *Faults) Injected() map[Fault]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.raised)
}

// Drain waits for what is still under way: requests that arrive late.
func (f *Faults) Drain() { f.late.Wait() }

// RoundTrip carries a request, or what is left of it.
func (f *Faults) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	fate := f.draw(operation)
	if fate.onRequest != nil {
		fate.onRequest(operation, body)
	}
	if fate.conflicts && operation == transactWrite {
		items := itemsOf(body)
		if clashes, clash := f.enter(items); clash {
			f.note(Conflict)
			return canceled(req, clashes), nil
		}
		defer f.leave(items)
	}
	if err := wait(req.Context(), fate.delay); err != nil {
		return nil, err
	}
	f.note(fate.fault)
	switch fate.fault {
	case DropRequest:
		return nil, errDropped
	case FailBefore:
		return failed(req), nil
	case Throttle:
		return throttled(req, operation, fate.n), nil
	case Conflict:
		return canceled(req, []string{"TransactionConflict", "None"}), nil
	case ExpireCredentials:
		return answer(req, http.StatusBadRequest, "com.amazon.coral.service#ExpiredTokenException", map[string]any{
			"message": "The security token included in the request is expired",
		}), nil
	case DeliverLate:
		f.later(fate, req, body)
		return nil, errDropped
	}
	resp, err := fate.base.RoundTrip(copyOf(req.Context(), req, body))
	if fate.fault == DeliverTwice {
		f.later(fate, req, body)
	}
	if err != nil {
		return nil, err
	}
	return spoil(req, resp, fate.fault)
}

// lateBy is the longest that a late request is behind: about as long as two attempts of a call are apart.
const lateBy = 30 * time.Millisecond

// later sends a request when its sender has given it up, or has its answer already.
func (f *Faults) later(fate fate, req *http.Request, body []byte) {
	ctx := context.WithoutCancel(req.Context())
	f.late.Go(func() {
		time.Sleep(fate.behind)
		if resp, err := fate.base.RoundTrip(copyOf(ctx, req, body)); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
}

// copyOf is a request to send, with a body of its own.
func copyOf(ctx context.Context, req *http.Request, body []byte) *http.Request {
	sent := req.Clone(ctx)
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return sent
}

// spoil is what becomes of an answer.
func spoil(req *http.Request, resp *http.Response, fault Fault) (*http.Response, error) {
	if fault != LoseResponse && fault != FailAfter && fault != TruncateResponse {
		return resp, nil
	}
	answer, err := io.ReadAll(resp.Body) // to its end, so that the connection can be used again
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	switch fault {
	case FailAfter:
		return failed(req), nil
	case TruncateResponse:
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(answer[:len(answer)/2]), cut{}))
		return resp, nil
	}
	return nil, io.ErrUnexpectedEOF
}

// A cut is where an answer breaks off.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A fate is all that is decided about one request.
type fate struct {
	fault     Fault
	n         int // which request for its operation it is
	delay     time.Duration
	behind    time.Duration // how late it arrives, if it does so late
	conflicts bool
	onRequest func(string, []byte)
	base      http.RoundTripper
}

// draw counts a request and decides about it.
func (f *Faults) draw(operation string) fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random == nil {
		f.random = rand.New(rand.NewPCG(f.Seed, 0)) //nolint:gosec // faults are to be repeatable
	}
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[operation]++
	d := fate{n: f.calls[operation], conflicts: f.Conflicts, onRequest: f.OnRequest, base: f.Base}
	if d.base == nil {
		d.base = keepAlive
	}
	if f.Delay > 0 {
		d.delay = time.Duration(f.random.Int64N(int64(f.Delay)))
	}
	d.behind = time.Duration(f.random.Int64N(int64(lateBy)))
	if f.Script != nil {
		d.fault = f.Script(operation, d.n)
		return d
	}
	drawn := f.random.Float64()
	for _, share := range []struct {
		size  float64
		fault Fault
	}{
		{f.DropRequests, DropRequest}, {f.LoseResponses, LoseResponse}, {f.TruncateResponses, TruncateResponse}, {f.Throttles, Throttle},
		{f.Failures / 2, FailBefore}, {f.Failures / 2, FailAfter},
		{f.LateDeliveries, DeliverLate}, {f.Duplicates, DeliverTwice},
	} {
		if drawn < share.size {
			d.fault = share.fault
			break
		}
		drawn -= share.size
	}
	return d
}

func (f *Faults) note(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.raised == nil {
		f.raised = map[Fault]int{}
	}
	if fault != NoFault {
		f.raised[fault]++
	}
}

// enter begins a transaction over items, unless another has one of them: then it tells the reason for each.
func (f *Faults) enter(items []string) (reasons []string, clash bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, item := range items {
		reason := "None"
		if f.underway[item] > 0 {
			reason, clash = "TransactionConflict", true
		}
		reasons = append(reasons, reason)
	}
	if clash {
		return reasons, true
	}
	if f.underway == nil {
		f.underway = map[string]int{}
	}
	for _, item := range items {
		f.underway[item]++
	}
	return nil, false
}

// leave ends a transaction.
func (f *Faults) leave(items []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, item := range items {
		f.underway[item]--
		if f.underway[item] == 0 {
			delete(f.underway, item)
		}
	}
}

// itemsOf names the items of a transaction, in its order.
func itemsOf(body []byte) []string {
	type key map[string]map[string]any // attribute, type, value
	var request struct {
		TransactItems []map[string]struct { // Put, Update, Delete or ConditionCheck
			TableName string
			Item, Key key
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		panic("the body of a transaction is not JSON: " + err.Error())
	}
	var items []string
	for _, actions := range request.TransactItems {
		for _, action := range actions {
			at := action.Key
			if action.Item != nil {
				at = action.Item
			}
			items = append(items, fmt.Sprint(action.TableName, at["pk"], at["sk"]))
		}
	}
	return items
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// throttled is the answer of an engine that has too much to do. AWS answers a transaction in either way.
func throttled(req *http.Request, operation string, n int) *http.Response {
	if operation == transactWrite && n%2 == 0 {
		return canceled(req, []string{"ThrottlingError", "None"})
	}
	return answer(req, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", map[string]any{
		"message": "The level of configured provisioned throughput for the table was exceeded.",
	})
}

// failed is the answer of an engine that has come to grief.
func failed(req *http.Request) *http.Response {
	return answer(req, http.StatusInternalServerError, "com.amazonaws.dynamodb.v20120810#InternalServerError", map[string]any{
		"message": "The request processing has failed because of an unknown error, exception or failure.",
	})
}

var reasonMessages = map[string]string{
	"TransactionConflict": "Transaction is ongoing for the item",
	"ThrottlingError":     "Throughput exceeds the current capacity of your table or index",
}

// canceled is the answer to a transaction that was not carried out, with the reason for each of its items.
func canceled(req *http.Request, codes []string) *http.Response {
	reasons := []map[string]string{}
	for _, code := range codes {
		reason := map[string]string{"Code": code}
		if message, ok := reasonMessages[code]; ok {
			reason["Message"] = message
		}
		reasons = append(reasons, reason)
	}
	return answer(req, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", map[string]any{
		"CancellationReasons": reasons,
		"Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]",
	})
}

// answer is an error as DynamoDB writes it.
func answer(req *http.Request, status int, kind string, fields map[string]any) *http.Response {
	fields["__type"] = kind
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings alone
	}
	header := http.Header{}
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("X-Amzn-Requestid", "FAULTOFTHETEST")
	header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}
}
