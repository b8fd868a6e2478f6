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
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Fault is an error that Faults injects into one request.
type Fault string

// The faults. After a network error, the store does not know whether the engine applied the request.
const (
	NoFault           Fault = ""
	DropRequest       Fault = "dropped request"    // a network error before the engine gets the request
	LoseResponse      Fault = "lost response"      // a network error after the engine has applied the request
	TruncateResponse  Fault = "truncated response" // the engine has applied the request, but half of its response is missing
	Throttle          Fault = "throttled"          // the engine rejects the request because of load; every second transaction as a cancellation
	FailBefore        Fault = "failed before"      // InternalServerError, and the request was not applied
	FailAfter         Fault = "failed after"       // InternalServerError, although the request was applied
	Conflict          Fault = "conflict"           // a transaction is canceled because another one is writing its first item
	DeliverLate       Fault = "delivered late"     // a network error, and the engine gets the request later, perhaps after the next attempt
	DeliverTwice      Fault = "delivered twice"    // no error, but the engine gets the request again later
	ExpireCredentials Fault = "expired"            // the credentials of the request have expired: a 4xx, and it was not applied
)

// Faults is an http.RoundTripper between a store and its engine. It injects faults that happen with AWS but never with a
// local engine. Several goroutines and stores may use it. The zero value injects none and counts the requests.
//
// To set fields while requests are running, use Change: the fields are read under a lock.
type Faults struct {
	// The share of requests, from 0 to 1, that get each fault. Their sum is at most 1.
	DropRequests      float64
	LoseResponses     float64
	TruncateResponses float64
	Throttles         float64
	Failures          float64 // half of them FailBefore, half FailAfter
	LateDeliveries    float64
	Duplicates        float64

	// Conflicts cancels a transaction if another one on this transport is writing the same item, and refuses the write of a single item.
	// AWS does so; a local engine does not, because it runs one transaction at a time. A transaction reserves its items in two steps, in
	// random order, as DynamoDB asks each partition for itself: of two with several items in common, each can have the other one canceled.
	Conflicts bool

	// Refusal is how long a conflict takes, about; until then a canceled transaction keeps what it has reserved.
	Refusal time.Duration

	// Delay is the longest random delay before a request is sent. It makes transactions overlap.
	Delay time.Duration

	// Script, if not nil, replaces the shares: it returns the fault of the nth request for an operation, from 1.
	Script func(operation string, n int) Fault

	// OnRequest, if not nil, is called before each request with the operation, such as TransactWriteItems, and the
	// body. It holds no lock, so it may restart the engine.
	OnRequest func(operation string, body []byte)

	Seed uint64            // of the random numbers; with a single caller, the same seed gives the same faults
	Base http.RoundTripper // sends the requests; nil for a transport that keeps connections open

	mu       sync.Mutex
	random   *rand.Rand
	calls    map[string]int
	injected map[Fault]int
	held     map[string]bool // the items of running transactions
	late     sync.WaitGroup  // requests whose response is not read
}

var _ http.RoundTripper = (*Faults)(nil)

// keepAlive sends the requests of all Faults without a Base.
var keepAlive = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	return t
}()

// errDropped is the error of a dropped request.
var errDropped = errors.New("connection reset by peer (injected by the test)")

const transactWrite = "TransactWriteItems"

// Change sets fields while requests are running.
func (f *Faults) Change(change func(*Faults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// Calls counts the requests by operation, including those with a fault.
func (f *Faults) Calls() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.calls)
}

// ResetCalls resets Calls, and the n of Script.
func (f *Faults) ResetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.calls)
}

// Injected counts the faults. A test must check them: without any, it would prove nothing.
func (f *Faults) Injected() map[Fault]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.injected)
}

// Drain waits for the requests that are delivered late.
func (f *Faults) Drain() { f.late.Wait() }

// RoundTrip sends a request, with or without a fault.
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
	if fate.conflicts {
		response, mine, err := f.reserveAll(req, operation, body, fate.refusal)
		defer f.release(mine)
		if err != nil {
			return nil, err
		}
		if response != nil {
			return response, nil
		}
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
		return errorResponse(req, http.StatusBadRequest, "com.amazon.coral.service#ExpiredTokenException", map[string]any{
			"message": "The security token included in the request is expired",
		}), nil
	case DeliverLate:
		f.later(fate, req, body)
		return nil, errDropped
	}
	ctx := req.Context()
	if fate.fault == LoseResponse || fate.fault == FailAfter { // the engine has applied it when the caller reads the error
		ctx = context.WithoutCancel(ctx)
	}
	resp, err := fate.base.RoundTrip(copyOf(ctx, req, body))
	if fate.fault == DeliverTwice {
		f.later(fate, req, body)
	}
	if err != nil {
		return nil, err
	}
	return spoil(req, resp, fate.fault)
}

// maxLate is the longest delay of a late request: about the time between two attempts of a call.
const maxLate = 30 * time.Millisecond

// later sends a request after its sender has got an error or the response.
func (f *Faults) later(fate fate, req *http.Request, body []byte) {
	ctx := context.WithoutCancel(req.Context())
	f.late.Go(func() {
		time.Sleep(fate.lateBy)
		if resp, err := fate.base.RoundTrip(copyOf(ctx, req, body)); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
}

// copyOf is a copy of a request with a body of its own.
func copyOf(ctx context.Context, req *http.Request, body []byte) *http.Request {
	sent := req.Clone(ctx)
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return sent
}

// spoil applies a fault to a response.
func spoil(req *http.Request, resp *http.Response, fault Fault) (*http.Response, error) {
	if fault != LoseResponse && fault != FailAfter && fault != TruncateResponse {
		return resp, nil
	}
	response, err := io.ReadAll(resp.Body) // to its end, so that the connection can be reused
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	switch fault {
	case FailAfter:
		return failed(req), nil
	case TruncateResponse:
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(response[:len(response)/2]), truncated{}))
		return resp, nil
	}
	return nil, io.ErrUnexpectedEOF
}

// truncated is the end of a truncated response.
type truncated struct{}

func (truncated) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A fate is what happens to one request.
type fate struct {
	fault     Fault
	n         int // the number of the request for its operation, from 1
	delay     time.Duration
	lateBy    time.Duration // the delay of a late request
	conflicts bool
	refusal   time.Duration
	onRequest func(string, []byte)
	base      http.RoundTripper
}

// draw counts a request and draws its fate.
func (f *Faults) draw(operation string) fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random == nil {
		f.random = rand.New(rand.NewPCG(f.Seed, 0)) //nolint:gosec // the faults must be repeatable
		f.calls, f.injected, f.held = map[string]int{}, map[Fault]int{}, map[string]bool{}
	}
	f.calls[operation]++
	d := fate{n: f.calls[operation], conflicts: f.Conflicts, onRequest: f.OnRequest, base: f.Base}
	if d.base == nil {
		d.base = keepAlive
	}
	if f.Delay > 0 {
		d.delay = time.Duration(f.random.Int64N(int64(f.Delay)))
	}
	if f.Refusal > 0 {
		d.refusal = f.Refusal/2 + time.Duration(f.random.Int64N(int64(f.Refusal)))
	}
	d.lateBy = time.Duration(f.random.Int64N(int64(maxLate)))
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
	if fault != NoFault {
		f.injected[fault]++
	}
}

// reserveAll reserves the items of a transaction. It returns those that it got, and the response if another transaction has one of them.
func (f *Faults) reserveAll(req *http.Request, operation string, body []byte, refusal time.Duration) (response *http.Response, mine []string, err error) {
	switch operation {
	case transactWrite:
	case "PutItem", "UpdateItem", "DeleteItem":
		item := itemsOf(fmt.Appendf(nil, `{"TransactItems":[{"Write":%s}]}`, body))[0]
		f.mu.Lock()
		busy := f.held[item]
		f.mu.Unlock()
		if !busy {
			return nil, nil, nil
		}
		f.note(Conflict)
		return errorResponse(req, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionConflictException", map[string]any{
			"message": "Transaction is ongoing for the item",
		}), nil, wait(req.Context(), refusal)
	default:
		return nil, nil, nil
	}
	items := itemsOf(body)
	reasons, order, half := make([]string, len(items)), rand.Perm(len(items)), len(items)/2 //nolint:gosec // not a secret
	mine = f.reserve(items, order[:half], reasons)
	if err := wait(req.Context(), refusal/4); err != nil {
		return nil, mine, err
	}
	mine = append(mine, f.reserve(items, order[half:], reasons)...)
	if len(mine) == len(items) {
		return nil, mine, nil
	}
	f.note(Conflict)
	return canceled(req, reasons), mine, wait(req.Context(), refusal*3/4)
}

// reserve reserves the free ones of some items, and notes the reason for each.
func (f *Faults) reserve(items []string, which []int, reasons []string) (mine []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range which {
		reasons[i] = "TransactionConflict"
		if !f.held[items[i]] {
			reasons[i] = "None"
			f.held[items[i]] = true
			mine = append(mine, items[i])
		}
	}
	return mine
}

func (f *Faults) release(items []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, item := range items {
		delete(f.held, item)
	}
}

// itemsOf lists the items of a transaction in order.
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

// throttled is the response of an overloaded engine. For a transaction, AWS sends either of the two.
func throttled(req *http.Request, operation string, n int) *http.Response {
	if operation == transactWrite && n%2 == 0 {
		return canceled(req, []string{"ThrottlingError", "None"})
	}
	return errorResponse(req, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", map[string]any{
		"message": "The level of configured provisioned throughput for the table was exceeded.",
	})
}

// failed is the response of an engine with an internal error.
func failed(req *http.Request) *http.Response {
	return errorResponse(req, http.StatusInternalServerError, "com.amazonaws.dynamodb.v20120810#InternalServerError", map[string]any{
		"message": "The request processing has failed because of an unknown error, exception or failure.",
	})
}

var reasonMessages = map[string]string{
	"TransactionConflict": "Transaction is ongoing for the item",
	"ThrottlingError":     "Throughput exceeds the current capacity of your table or index",
}

// canceled is the response to a canceled transaction, with the reason for each item.
func canceled(req *http.Request, codes []string) *http.Response {
	reasons := []map[string]string{}
	for _, code := range codes {
		reason := map[string]string{"Code": code}
		if message, ok := reasonMessages[code]; ok {
			reason["Message"] = message
		}
		reasons = append(reasons, reason)
	}
	return errorResponse(req, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", map[string]any{
		"CancellationReasons": reasons,
		"Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]",
	})
}

// errorResponse is an error response of DynamoDB.
func errorResponse(req *http.Request, status int, kind string, fields map[string]any) *http.Response {
	fields["__type"] = kind
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it has only strings
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Requestid", "FAULTOFTHETEST")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	response := w.Result()
	response.Request = req
	return response
}
