package admin_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// An answered counts the calls of the store and the bytes of their answers, which its read units follow.
type answered struct {
	counter
	bytes atomic.Int64
}

// RoundTrip counts a call.
func (c *answered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.counter.RoundTrip(r)
	if err == nil {
		response.Body = countedBody{response.Body, &c.bytes}
	}
	return response, err
}

// A countedBody counts what is read of a body.
type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b countedBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

// TestSearchOfManyFlags checks that a page of a search with cursor makes the same calls, with the same number of bytes, for 100
// flags and for 5,000, while a search with offset reads more.
func TestSearchOfManyFlags(t *testing.T) {
	t.Parallel()
	count := &answered{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.create(t, "template-of-flags")
	s.strategy(t, "template-of-flags", `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`)
	const search = "/api/admin/search/features?project=IS:default&limit=50"
	read := func(query string) (calls string, bytes int) {
		count.bytes.Store(0)
		calls = strings.Join(count.during(func() { s.must(t, "GET", search+query, "") }), " ")
		return calls, int(count.bytes.Load())
	}
	add := func(from, to int) {
		var names []string
		for i := from; i < to; i++ {
			names = append(names, fmt.Sprintf("flag-%06d", i))
		}
		dynamotest.AddCopies(t, s.store, "template-of-flags", names)
	}
	queries := map[string]string{"first page": "&cursor=", "page by text": "&cursor=&query=flag-"}
	add(0, 100)
	calls, bytes := map[string]string{}, map[string]int{}
	for name, query := range queries {
		calls[name], bytes[name] = read(query)
	}
	_, all := read("&sortBy=name")
	add(100, 5_000)
	for name, query := range queries {
		nowCalls, nowBytes := read(query)
		if nowCalls != calls[name] || nowBytes > bytes[name]+bytes[name]/10 {
			t.Errorf("%s of 5,000 flags: %s, %d bytes; of 100 flags: %s, %d bytes; want the same", name, nowCalls, nowBytes, calls[name], bytes[name])
		}
	}
	if _, now := read("&sortBy=name"); now < 10*all {
		t.Errorf("a search with offset read %d bytes of 5,000 flags and %d of 100: this test measures nothing", now, all)
	}
}
