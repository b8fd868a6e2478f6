package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A torn transport applies the transactions that add to the feed in two parts, with a pause between them: DynamoDB applies a
// transaction item by item, and a reader can see some items before the others. No local engine does that.
//
// The first part checks the conditions of both, so the second part is always applied. Like DynamoDB, it lets no other write of
// these items happen in between: it sends one transaction after the other. It also remembers request tokens, since the engine
// gets none for a part.
type torn struct {
	base  http.RoundTripper
	pause time.Duration // the longest pause

	mu     sync.Mutex
	random *rand.Rand
	done   map[string][]byte // the bodies of the responses, by request token
	torn   atomic.Int64      // transactions that were applied in two parts
}

type torntx struct {
	ClientRequestToken string           `json:",omitempty"`
	TransactItems      []map[string]any // by kind, such as "Put"
}

func (t *torn) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch operation {
	case "UpdateItem", "PutItem", "DeleteItem":
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.base.RoundTrip(r)
	case "TransactWriteItems":
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.transact(r)
	}
	return t.base.RoundTrip(r)
}

func (t *torn) transact(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var tx torntx
	if err := json.Unmarshal(body, &tx); err != nil {
		return nil, err
	}
	if answer, ok := t.done[tx.ClientRequestToken]; ok {
		return &http.Response{
			StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(answer)),
			ContentLength: int64(len(answer)),
		}, nil
	}
	if !bytes.Contains(body, []byte(`"S":"FEED"`)) || len(tx.TransactItems) < 2 {
		return t.base.RoundTrip(with(r, body))
	}
	token := tx.ClientRequestToken
	first, second := t.split(tx.TransactItems)
	response, err := t.send(r, first)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	_ = response.Body.Close()
	time.Sleep(time.Duration(t.random.Int64N(int64(t.pause))))
	if response, err = t.send(r, second); err != nil || response.StatusCode != http.StatusOK {
		panic(fmt.Sprintf("a defect of the test: the second part of a transaction was not applied: %v %v", response, err))
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	t.done[token] = answer
	t.torn.Add(1)
	return response, nil
}

// split returns the two parts. The first one also has the conditions of the second, at the same positions: a response names the
// failed condition by its position.
func (t *torn) split(items []map[string]any) (first, second []map[string]any) {
	order := t.random.Perm(len(items))
	early := map[int]bool{}
	for _, i := range order[:1+t.random.IntN(len(items)-1)] {
		early[i] = true
	}
	for i, item := range items {
		if early[i] {
			first = append(first, item)
			continue
		}
		first, second = append(first, checkOf(item)), append(second, item)
	}
	return first, second
}

var placeholders = regexp.MustCompile(`[#:]\w+`)

// checkOf returns the condition of a write as a check.
func checkOf(item map[string]any) map[string]any {
	for _, fields := range item {
		write := fields.(map[string]any)
		key := write["Key"]
		if put, ok := write["Item"].(map[string]any); ok {
			key = map[string]any{"pk": put["pk"], "sk": put["sk"]}
		}
		condition, _ := write["ConditionExpression"].(string)
		if condition == "" {
			condition = "attribute_exists(pk) OR attribute_not_exists(pk)" // always true
		}
		check := map[string]any{"TableName": write["TableName"], "Key": key, "ConditionExpression": condition}
		used := map[string]bool{}
		for _, name := range placeholders.FindAllString(condition, -1) {
			used[name] = true
		}
		for _, field := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
			if all, ok := write[field].(map[string]any); ok {
				needed := maps.Clone(all)
				maps.DeleteFunc(needed, func(name string, _ any) bool { return !used[name] })
				if len(needed) > 0 {
					check[field] = needed
				}
			}
		}
		return map[string]any{"ConditionCheck": check}
	}
	panic("a transaction has an empty item")
}

func (t *torn) send(r *http.Request, items []map[string]any) (*http.Response, error) {
	body, err := json.Marshal(torntx{TransactItems: items})
	if err != nil {
		return nil, err
	}
	return t.base.RoundTrip(with(r, body))
}

// with returns a copy of a request with another body. It does not end with the caller, who may give up: the engine does not notice.
func with(r *http.Request, body []byte) *http.Request {
	c := r.Clone(context.WithoutCancel(r.Context()))
	c.Body, c.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return c
}
