package features_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/apitest"
)

// tagOf returns the ETag of a read.
func tagOf(t *testing.T, s *apitest.Server, path string) string {
	t.Helper()
	got := s.Do(t, "GET", path, "")
	tag := got.Header.Get("ETag")
	if got.Status != 200 || tag == "" {
		t.Fatalf("GET %s: %d with ETag %q", path, got.Status, tag)
	}
	return tag
}

// TestIfMatch changes everything that takes If-Match, with ETags of the present and of the past.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	strategies := apitest.In("f", "development") + "/strategies"
	one := strategies + "/" + s.AddStrategy(t, "f", `{"name":"flexibleRollout"}`)
	segment := s.Must(t, "POST", "/api/admin/segments", `{"name":"s","constraints":[]}`).Header.Get("Location")
	variants := apitest.In("f", "development") + "/variants"
	tests := []struct {
		name, method, path string
		body               func(value int) string // another state for each value
		status             int
	}{
		{"replace a strategy", "PUT", one, func(v int) string { return fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"%d"}}`, v) }, 200},
		{"patch a strategy", "PATCH", one, func(v int) string { return fmt.Sprintf(`[{"op":"replace","path":"/title","value":"t%d"}]`, v) }, 200},
		{"replace variants", "PUT", variants, func(v int) string { return fmt.Sprintf(`[{"name":"v%d","weight":1000,"weightType":"variable"}]`, v) }, 200},
		{"patch variants", "PATCH", variants, func(v int) string { return fmt.Sprintf(`[{"op":"replace","path":"/0/name","value":"p%d"}]`, v) }, 200},
		{"replace a segment", "PUT", segment, func(v int) string { return fmt.Sprintf(`{"name":"s%d","constraints":[]}`, v) }, 204},
		{"order strategies", "POST", strategies + "/set-sort-order", func(v int) string { return fmt.Sprintf(`[{"id":%q,"sortOrder":%d}]`, path.Base(one), v) }, 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			read := strings.TrimSuffix(test.path, "/set-sort-order") // what is ordered is the list
			old := tagOf(t, s, read)
			send := func(name string, value, want int, tags ...string) {
				t.Helper()
				headers := make([]string, len(tags))
				for i, tag := range tags {
					headers[i] = "If-Match: " + tag
				}
				if got := s.Do(t, test.method, test.path, test.body(value), headers...); got.Status != want {
					t.Errorf("%s: %d, want %d: %s", name, got.Status, want, got.Body)
				}
			}
			send("the ETag of the last read", 1, test.status, old)
			send("an older ETag", 2, http.StatusPreconditionFailed, old)
			send("an older ETag, and nothing to change", 1, test.status, old)
			send("text that is no ETag", 2, http.StatusBadRequest, "nonsense")
			send("an ETag without its quotes", 2, http.StatusBadRequest, strings.Trim(old, `W/"`))
			now := tagOf(t, s, read)
			if now == old {
				t.Errorf("the ETag %s is the same after a change", now)
			}
			send("one of several ETags", 3, test.status, `"other", `+now)
			send("a strong ETag", 4, test.status, strings.TrimPrefix(tagOf(t, s, read), "W/"))
			send("any state", 5, test.status, "*")
			send("no ETag", 6, test.status)
		})
	}
}

// TestIfMatchOnRemoval removes only what the caller has read.
func TestIfMatchOnRemoval(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	strategies := apitest.In("f", "development") + "/strategies"
	one := strategies + "/" + s.AddStrategy(t, "f", `{"name":"flexibleRollout"}`)
	segment := s.Must(t, "POST", "/api/admin/segments", `{"name":"s","constraints":[]}`).Header.Get("Location")
	for path, change := range map[string]struct {
		body    string
		removed int
	}{one: {`{"name":"flexibleRollout","title":"changed"}`, 200}, segment: {`{"name":"renamed","constraints":[]}`, 204}} {
		old := tagOf(t, s, path)
		if got := s.Do(t, "PUT", path, change.body); got.Status/100 != 2 {
			t.Fatalf("PUT %s: %d %s", path, got.Status, got.Body)
		}
		got := s.Do(t, "DELETE", path, "", "If-Match: "+old)
		if got.Status != http.StatusPreconditionFailed || !strings.Contains(got.Body, "PreconditionFailedError") {
			t.Errorf("DELETE %s with an older ETag: %d %s", path, got.Status, got.Body)
		}
		if got := s.Do(t, "DELETE", path, "", "If-Match: "+tagOf(t, s, path)); got.Status != change.removed {
			t.Errorf("DELETE %s with the ETag of now: %d %s, want %d", path, got.Status, got.Body, change.removed)
		}
	}
}

// TestIfMatchOneWins lets many callers change what all of them have read: one of them may.
func TestIfMatchOneWins(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	strategies := apitest.In("f", "development") + "/strategies"
	one := strategies + "/" + s.AddStrategy(t, "f", `{"name":"flexibleRollout"}`)
	tag := tagOf(t, s, one)
	statuses := make([]int, 16)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			body := fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"%d"}}`, i)
			statuses[i] = s.Do(t, "PUT", one, body, "If-Match: "+tag).Status
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count[200] != 1 || count[http.StatusPreconditionFailed] != len(statuses)-1 {
		t.Errorf("statuses %v, want one 200 and %d times 412", count, len(statuses)-1)
	}
}
