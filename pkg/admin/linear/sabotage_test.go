package linear

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A sabotage is a fault of the store, put between it and the network. What reaches the engine is what a store with that
// fault would send.
type sabotage struct {
	next http.RoundTripper

	unconditional bool // nothing is held to the version that was read
	anonymous     bool // no request token
	resends       bool // a transaction that goes unanswered is sent again without a word to the store, which believes what comes back
	renames       bool // every resend has a token of its own
	tellsApart    bool // the event is written behind the transaction, once
	guardless     bool // the guards of segments are held to nothing
}

// sabotages are the faults that the harness has to find.
var sabotages = map[string]sabotage{
	"no condition":                                    {unconditional: true, anonymous: true},
	"a plain condition":                               {anonymous: true, resends: true},
	"request id only":                                 {unconditional: true},
	"a new token per resend":                          {renames: true, resends: true},
	"the event outside the transaction":               {tellsApart: true},
	"guards of segments without conditions":           {guardless: true},
	"a failed condition believed after a lost answer": {resends: true},
}

// before puts the sabotage before a network.
func (s sabotage) before(next http.RoundTripper) http.RoundTripper {
	s.next = next
	return s
}

// work is what shows the fault, and how many operations of each client it takes in most histories.
func (s sabotage) work() (of *workload, each int) {
	if s.guardless {
		return segmentWork, 150
	}
	return flagWork, 50
}

// A transaction is as much of one as a sabotage has to know.
type transaction struct {
	ClientRequestToken string           `json:",omitempty"`
	TransactItems      []map[string]any // "Put" and so on: what it takes
}

func (s sabotage) RoundTrip(r *http.Request) (*http.Response, error) {
	const service, transact = "DynamoDB_20120810.", "TransactWriteItems"
	if r.Header.Get("X-Amz-Target") != service+transact {
		return s.next.RoundTrip(r)
	}
	var tx transaction
	if err := json.NewDecoder(r.Body).Decode(&tx); err != nil {
		return nil, err
	}
	if s.anonymous {
		tx.ClientRequestToken = ""
	}
	if s.unconditional {
		for _, item := range tx.TransactItems {
			for _, action := range item {
				unconditional(action.(map[string]any))
			}
		}
	}
	for _, item := range tx.TransactItems {
		update, _ := item["Update"].(map[string]any)
		key, _ := json.Marshal(update["Key"])
		if s.guardless && strings.Contains(string(key), `"SEGMENT#`) {
			unconditional(update)
		}
	}
	var event map[string]any
	if last := len(tx.TransactItems) - 1; s.tellsApart {
		event, tx.TransactItems = tx.TransactItems[last]["Put"].(map[string]any), tx.TransactItems[:last]
	}
	answer, err := s.send(r, &tx)
	if s.tellsApart && err == nil && answer.StatusCode == http.StatusOK {
		unconditional(event)
		if told, err := s.next.RoundTrip(carrying(r, service+"PutItem", event)); err == nil {
			_, _ = io.Copy(io.Discard, told.Body)
			_ = told.Body.Close()
		}
	}
	return answer, err
}

// send sends a transaction: once, or until it is answered.
func (s sabotage) send(r *http.Request, tx *transaction) (*http.Response, error) {
	for {
		answer, err := s.next.RoundTrip(carrying(r, r.Header.Get("X-Amz-Target"), tx))
		if err == nil || !s.resends || r.Context().Err() != nil {
			return answer, err
		}
		time.Sleep(5 * time.Millisecond)
		if s.renames {
			tx.ClientRequestToken = uuid.NewString()
		}
	}
}

// carrying is a request with another body.
func carrying(r *http.Request, target string, content any) *http.Request {
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // it was JSON before
	}
	other := r.Clone(r.Context())
	other.Header.Set("X-Amz-Target", target)
	other.Body, other.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return other
}

// unconditional takes the condition of a write away, and the names and values that are of no other use: engines refuse
// those.
func unconditional(action map[string]any) {
	delete(action, "ConditionExpression")
	update, _ := action["UpdateExpression"].(string)
	for _, member := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		named, _ := action[member].(map[string]any)
		maps.DeleteFunc(named, func(name string, _ any) bool { return !strings.Contains(update, name) })
		if len(named) == 0 {
			delete(action, member)
		}
	}
}
