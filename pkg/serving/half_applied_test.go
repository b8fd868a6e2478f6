package serving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A tearing transport applies each transaction in two parts, with a pause between them: on AWS, a reader can see some items of
// a transaction before the others. No local engine does that.
type tearing struct {
	feedFirst bool
	between   func() // runs between the parts
	torn      atomic.Int64
}

func (tr *tearing) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		return http.DefaultTransport.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var input map[string]json.RawMessage
	var items []json.RawMessage
	if err := json.Unmarshal(body, &input); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(input["TransactItems"], &items); err != nil {
		return nil, err
	}
	var feed, others []json.RawMessage
	for _, item := range items {
		if bytes.Contains(item, []byte(`"pk":{"S":"FEED"}`)) {
			feed = append(feed, item)
		} else {
			others = append(others, item)
		}
	}
	parts := [][]json.RawMessage{others, feed}
	if len(feed) == 0 {
		parts = parts[:1]
	} else if tr.feedFirst {
		parts = [][]json.RawMessage{feed, others}
	}
	var response *http.Response
	for i, part := range parts {
		if i > 0 {
			_ = response.Body.Close()
			tr.torn.Add(1)
			tr.between()
		}
		delete(input, "ClientRequestToken")
		if input["TransactItems"], err = json.Marshal(part); err != nil {
			return nil, err
		}
		if body, err = json.Marshal(input); err != nil {
			return nil, err
		}
		again := req.Clone(req.Context())
		again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if response, err = http.DefaultTransport.RoundTrip(again); err != nil || response.StatusCode != http.StatusOK {
			return response, err
		}
	}
	return response, nil
}

// TestHalfAppliedTransactions polls while a transaction is applied: first the feed and then the rest, and the other way
// round. A reader that saw the first part must see the whole change once it is answered.
func TestHalfAppliedTransactions(t *testing.T) {
	for _, feedFirst := range []bool{true, false} {
		t.Run(fmt.Sprintf("feed first %t", feedFirst), func(t *testing.T) {
			transport := &tearing{feedFirst: feedFirst, between: func() {}}
			a := administer(t, transport)
			a.do("POST", "/api/admin/projects", `{"id": "team", "name": "team"}`)
			a.flag("f")
			a.flag("parent")
			r := NewReader(a.another(nil), ReaderOptions{})
			mustRead(t, r)
			var polls sync.WaitGroup
			transport.between = func() { // the polls may have to wait for the second part
				for _, reader := range []*Reader{r, NewReader(a.another(nil), ReaderOptions{})} {
					polls.Go(func() {
						if _, err := reader.Read(t.Context(), hash); err != nil {
							t.Error(err)
						}
					})
				}
				time.Sleep(30 * time.Millisecond)
			}
			torn := transport.torn.Load()
			segment := int64(0)
			for _, step := range []struct {
				name   string
				change func()
			}{
				{"on", func() { a.do("POST", in("f", "development")+"/on", "") }},
				{"segment", func() { segment = a.segment("") }},
				{"use of the segment", func() {
					a.do("POST", in("f", "development")+"/strategies", fmt.Sprintf(`{"name": "default", "segments": [%d]}`, segment))
				}},
				{"parent", func() { a.do("POST", features+"/f/dependencies", `{"feature": "parent"}`) }},
				{"no parent", func() { a.do("DELETE", features+"/f/dependencies", "") }},
				{"segment changed", func() {
					a.do("PUT", fmt.Sprintf("/api/admin/segments/%d", segment), `{"name": "s", "constraints": []}`)
				}},
				{"environment detached", func() { a.do("DELETE", defaultProject+"/environments/development", "") }},
				{"archive", func() { a.do("DELETE", features+"/f", "") }},
			} {
				step.change()
				polls.Wait()
				want, err := NewReader(a.store, ReaderOptions{}).everything(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				compareStates(t, step.name+", a warm reader", mustRead(t, r), want)
				compareStates(t, step.name+", a cold reader", mustRead(t, NewReader(a.another(nil), ReaderOptions{})), want)
			}
			if transport.torn.Load() == torn {
				t.Error("no transaction was applied in two parts")
			}
		})
	}
}
