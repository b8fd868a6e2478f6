package dynamotest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Overlaps is an http.RoundTripper between stores and their engine. It takes as long as DynamoDB and refuses what DynamoDB
// refuses: a transaction is canceled if another one with the same item is in flight, and so is a write of a single item. A local engine
// never does that, because it runs one transaction at a time. Stores that share one Overlaps share one table.
//
// A transaction reserves its items in two steps, in random order, as DynamoDB asks each partition for itself. So of two
// transactions with several items in common, each can have the other one canceled. Reads do not conflict.
type Overlaps struct {
	Read        time.Duration // how long a read takes, about
	Transaction time.Duration // how long a transaction takes and keeps its items, about
	Item        time.Duration // how much longer it takes for each item
	Refusal     time.Duration // after how long a transaction is canceled, about; it keeps until then what it has reserved

	Base http.RoundTripper // sends the requests; nil for a transport that keeps connections open

	mu     sync.Mutex
	held   map[string]bool // items of transactions in flight
	counts Counts
}

// Counts are what an Overlaps has counted.
type Counts struct {
	Reads        int
	Transactions int // all, including those that were canceled
	Conflicts    int // canceled because of another one in flight
	Failures     int // refused by the engine, because a condition failed
	Writes       int // of single items
	Refused      int // of these, because of a transaction in flight
}

// Sub is what was counted since an earlier time.
func (c Counts) Sub(earlier Counts) Counts {
	return Counts{
		c.Reads - earlier.Reads, c.Transactions - earlier.Transactions, c.Conflicts - earlier.Conflicts,
		c.Failures - earlier.Failures, c.Writes - earlier.Writes, c.Refused - earlier.Refused,
	}
}

var _ http.RoundTripper = (*Overlaps)(nil)

// Counts returns the counts until now.
func (o *Overlaps) Counts() Counts {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts
}

func (o *Overlaps) count(add func(c *Counts)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	add(&o.counts)
}

// RoundTrip sends a request, or refuses it.
func (o *Overlaps) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	switch _, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), "."); operation {
	case transactWrite:
		return o.transaction(req, body)
	case "PutItem", "UpdateItem", "DeleteItem":
		return o.write(req, body)
	}
	o.count(func(c *Counts) { c.Reads++ })
	return o.send(req, body, o.Read)
}

// transaction reserves the items of a transaction and sends it. It is canceled if one of them is not free.
func (o *Overlaps) transaction(req *http.Request, body []byte) (*http.Response, error) {
	o.count(func(c *Counts) { c.Transactions++ })
	items := itemsOf(body)
	order := rand.Perm(len(items)) //nolint:gosec // not a secret
	reasons := make([]string, len(items))
	var mine []string
	defer func() { o.release(mine) }()
	half := len(items) / 2
	first, conflict := o.reserve(items, order[:half], reasons)
	mine = append(mine, first...)
	if err := wait(req.Context(), about(o.Refusal)/4); err != nil {
		return nil, err
	}
	second, also := o.reserve(items, order[half:], reasons)
	mine = append(mine, second...)
	if conflict || also {
		o.count(func(c *Counts) { c.Conflicts++ })
		if err := wait(req.Context(), about(o.Refusal)*3/4); err != nil {
			return nil, err
		}
		return canceled(req, reasons), nil
	}
	return o.send(req, body, o.Transaction+time.Duration(len(items))*o.Item)
}

// reserve reserves the free ones of some items, and notes the reason for each.
func (o *Overlaps) reserve(items []string, which []int, reasons []string) (mine []string, conflict bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held == nil {
		o.held = map[string]bool{}
	}
	for _, i := range which {
		if o.held[items[i]] {
			reasons[i], conflict = "TransactionConflict", true
			continue
		}
		reasons[i] = "None"
		o.held[items[i]] = true
		mine = append(mine, items[i])
	}
	return mine, conflict
}

func (o *Overlaps) release(items []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, item := range items {
		delete(o.held, item)
	}
}

// write sends a write of one item, or refuses it.
func (o *Overlaps) write(req *http.Request, body []byte) (*http.Response, error) {
	item := itemOf(body)
	o.mu.Lock()
	busy := o.held[item]
	o.counts.Writes++
	if busy {
		o.counts.Refused++
	}
	o.mu.Unlock()
	if !busy {
		return o.send(req, body, o.Read)
	}
	if err := wait(req.Context(), about(o.Refusal)); err != nil {
		return nil, err
	}
	return errorResponse(req, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionConflictException", map[string]any{
		"message": "Transaction is ongoing for the item",
	}), nil
}

// send sends a request and waits until it has taken about as long as given, or as a refusal if it is refused.
func (o *Overlaps) send(req *http.Request, body []byte, takes time.Duration) (*http.Response, error) {
	start := time.Now()
	base := o.Base
	if base == nil {
		base = keepAlive
	}
	resp, err := base.RoundTrip(copyOf(req.Context(), req, body))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusBadRequest {
		o.count(func(c *Counts) { c.Failures++ })
		takes = o.Refusal
	}
	if err := wait(req.Context(), max(0, about(takes)-time.Since(start))); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// about is a random time around d: from three quarters to one and a half times of it, rarely above.
func about(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return d*3/4 + time.Duration(min(3, rand.ExpFloat64())*float64(d)/4) //nolint:gosec // not a secret
}

// itemOf is the item of a request for one item, in the form of itemsOf.
func itemOf(body []byte) string {
	items := itemsOf([]byte(fmt.Sprintf(`{"TransactItems":[{"Write":%s}]}`, body)))
	return items[0]
}
