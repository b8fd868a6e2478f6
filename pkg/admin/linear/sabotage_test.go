package linear

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A sabotage is a fault of the store, between the store and the network. It changes requests into those that a store with this
// fault would send.
type sabotage struct {
	next http.RoundTripper

	unconditional bool // writes have no conditions on versions
	withoutToken  bool // transactions have no request token
	resends       bool // a transaction without a response is sent again, and the store only gets the last response
	newTokens     bool // every resend has a new request token
	separateEvent bool // the event is written once, after the transaction
	withoutGuards bool // writes of the guards of segments have no conditions
}

// sabotages are the faults that the checker must find.
var sabotages = map[string]sabotage{
	"no condition":                                      {unconditional: true, withoutToken: true},
	"a plain condition":                                 {withoutToken: true, resends: true},
	"request id only":                                   {unconditional: true},
	"a new token per resend":                            {newTokens: true, resends: true},
	"the event outside the transaction":                 {separateEvent: true},
	"guards of segments without conditions":             {withoutGuards: true},
	"a failed condition believed after a lost response": {resends: true},
}

// before returns a transport with the sabotage before next.
func (s sabotage) before(next http.RoundTripper) http.RoundTripper {
	s.next = next
	return s
}

// work returns the workload that shows the fault, and the number of operations of each client that usually suffices.
func (s sabotage) work() (of *workload, each int) {
	if s.withoutGuards {
		return segmentWork, 150
	}
	return flagWork, 50
}

// A transaction has the fields of a transaction that a sabotage changes.
type transaction struct {
	ClientRequestToken string           `json:",omitempty"`
	TransactItems      []map[string]any // by kind, such as "Put"
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
	if s.withoutToken {
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
		if s.withoutGuards && strings.Contains(string(key), `"SEGMENT#`) {
			unconditional(update)
		}
	}
	var event map[string]any
	if s.separateEvent {
		i := slices.IndexFunc(tx.TransactItems, isEvent)
		event = tx.TransactItems[i]["Put"].(map[string]any)
		tx.TransactItems = slices.Delete(tx.TransactItems, i, i+1)
	}
	response, err := s.send(r, &tx)
	if s.separateEvent && err == nil && response.StatusCode == http.StatusOK {
		unconditional(event)
		if put, err := s.next.RoundTrip(withBody(r, service+"PutItem", event)); err == nil {
			_, _ = io.Copy(io.Discard, put.Body)
			_ = put.Body.Close()
		}
	}
	return response, err
}

// isEvent tells whether an item of a transaction puts an event.
func isEvent(item map[string]any) bool {
	put, _ := item["Put"].(map[string]any)
	attributes, _ := json.Marshal(put["Item"])
	return strings.Contains(string(attributes), `"sk":{"S":"EVENT#`)
}

// send sends a transaction once, or until it gets a response.
func (s sabotage) send(r *http.Request, tx *transaction) (*http.Response, error) {
	for {
		response, err := s.next.RoundTrip(withBody(r, r.Header.Get("X-Amz-Target"), tx))
		if err == nil || !s.resends || r.Context().Err() != nil {
			return response, err
		}
		time.Sleep(5 * time.Millisecond)
		if s.newTokens {
			tx.ClientRequestToken = uuid.NewString()
		}
	}
}

// withBody returns a copy of a request with another target and body.
func withBody(r *http.Request, target string, content any) *http.Request {
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // the content was decoded from JSON
	}
	other := r.Clone(r.Context())
	other.Header.Set("X-Amz-Target", target)
	other.Body, other.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return other
}

// unconditional removes the condition of a write, and the names and values that only the condition uses. Engines reject unused
// ones.
func unconditional(action map[string]any) {
	delete(action, "ConditionExpression")
	update, _ := action["UpdateExpression"].(string)
	for _, field := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		named, _ := action[field].(map[string]any)
		maps.DeleteFunc(named, func(name string, _ any) bool { return !strings.Contains(update, name) })
		if len(named) == 0 {
			delete(action, field)
		}
	}
}
