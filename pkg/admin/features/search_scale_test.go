package features_test

import (
	"fmt"
	"net/http"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestSearchOfManyFlags checks that a page of a search with cursor makes the same calls, with the same number of bytes, for 100
// flags and for 5,000, while a search with offset reads more.
func TestSearchOfManyFlags(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Unchecked = true // copied items have the same IDs
	s.Create(t, "template-of-flags")
	s.AddStrategy(t, "template-of-flags", `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`)
	const search = "/api/admin/search/features?project=IS:default&limit=50"
	read := func(query string) (calls string, bytes int) {
		return count.Cost(func() { s.Must(t, "GET", search+query, "") })
	}
	add := func(from, to int) {
		var names []string
		for i := from; i < to; i++ {
			names = append(names, fmt.Sprintf("flag-%06d", i))
		}
		dynamotest.AddCopies(t, s.Store, "template-of-flags", names)
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
