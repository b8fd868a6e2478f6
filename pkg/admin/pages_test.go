package admin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/httpapi"
)

// A flagPage is a page of a list of flags.
type flagPage struct {
	Features []struct{ Name string }
	Next     string
}

func (p flagPage) names() []string {
	names := []string{}
	for _, f := range p.Features {
		names = append(names, f.Name)
	}
	return names
}

// page reads a page of a list of flags.
func (s *server) page(t *testing.T, path string, query url.Values) (page flagPage) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.must(t, "GET", path+"?"+query.Encode(), "").body), &page); err != nil {
		t.Fatal(err)
	}
	return page
}

// TestPagesOfFlags reads lists of flags in pages, by cursor. Together the pages have the whole list, in its order.
func TestPagesOfFlags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"other"}`)
	names := strings.Fields("A a a-b a.b a_b aa ab b b1 b10 b2 ~z")
	s.create(t, names...)
	for _, name := range []string{"a-b", "b1", "~z"} {
		s.must(t, "POST", "/api/admin/features/"+name+"/tags", `{"type":"simple","value":"mine"}`)
	}
	for i := range 7 { // archived, in two projects
		in := []string{"default", "other"}[i%2]
		s.must(t, "POST", projects+"/"+in+"/features", fmt.Sprintf(`{"name":"old-%d"}`, i))
		s.must(t, "DELETE", projects+"/"+in+"/features/"+fmt.Sprintf("old-%d", i), "")
	}
	for _, tt := range []struct {
		name, path, query string
	}{
		{"flags of a project", features, ""},
		{"flags with a prefix", features, "namePrefix=a"},
		{"flags with a tag", features, "tag=simple:mine"},
		{"flags with a tag and a prefix", features, "tag=simple:mine&namePrefix=b"},
		{"archived flags of a project", "/api/admin/archive/features/default", ""},
		{"archived flags of all projects", "/api/admin/archive/features", ""},
	} {
		filter, _ := url.ParseQuery(tt.query)
		whole := s.page(t, tt.path, filter)
		want := whole.names()
		if len(want) == 0 || !slices.IsSorted(want) || whole.Next != "" {
			t.Fatalf("%s: the whole list is %v with next %q, want a sorted list without next", tt.name, want, whole.Next)
		}
		for size := 1; size <= len(want)+1; size++ {
			query, got := url.Values{"limit": {fmt.Sprint(size)}}, []string{}
			for k, v := range filter {
				query[k] = v
			}
			for pages := 0; ; pages++ {
				page := s.page(t, tt.path, query)
				got = append(got, page.names()...)
				if len(page.Features) > size || pages > len(want) || page.Next != "" && len(page.Features) != size {
					t.Fatalf("%s, limit %d: page %d has %v and next %q", tt.name, size, pages, page.names(), page.Next)
				}
				if page.Next == "" {
					break
				}
				query.Set("cursor", page.Next)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, limit %d: the pages have %v, want %v", tt.name, size, got, want)
			}
		}
	}
}

// TestCursors sends cursors that are not the next of a page.
func TestCursors(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "a", "b", "c")
	for _, path := range []string{features, "/api/admin/archive/features/default", "/api/admin/archive/features"} {
		for _, cursor := range []string{"a/b", "a b", "..", "\xff", "FLAG#a", strings.Repeat("a", 101)} {
			s.check(t, call{"the cursor " + cursor, "GET", path + "?cursor=" + url.QueryEscape(cursor), "", 400, failure("ValidationError", "cursor")})
		}
	}
	for _, query := range []string{"limit=many", "offset=x", "cursor=a&limit=one"} {
		s.check(t, call{query, "GET", features + "?" + query, "", 400, failure("ValidationError", "must be a whole number, not")})
	}
	for query, want := range map[string]string{
		"cursor=":                  "a b c",
		"cursor=a":                 "b c",
		"cursor=aa":                "b c", // a flag of this name need not exist
		"cursor=c":                 "",
		"cursor=~":                 "",
		"cursor=a&offset=1":        "b c", // an offset is ignored
		"cursor=a&limit=1":         "b",
		"cursor=a&limit=0":         "b c",
		"limit=1&offset=1":         "b",
		"offset=1":                 "b c",
		"offset=1073741824":        "",
		"namePrefix=a%2F":          "",
		"namePrefix=a&cursor=b":    "",
		"namePrefix=c&cursor=a":    "c",
		"namePrefix=%00&limit=1":   "",
		"limit=10000&cursor=a":     "b c",
		"limit=1&offset=5&cursor=": "a",
	} {
		filter, _ := url.ParseQuery(query)
		if got := strings.Join(s.page(t, features, filter).names(), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// A sizeCounter counts the DynamoDB calls that pass through it, and the bytes of their responses.
type sizeCounter struct {
	mu   sync.Mutex
	cost readCost
}

type readCost struct{ calls, bytes int }

func (c *sizeCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(content))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cost.calls++
	c.cost.bytes += len(content)
	return response, err
}

// during returns the cost of the calls that f makes.
func (c *sizeCounter) during(f func()) readCost {
	c.mu.Lock()
	c.cost = readCost{}
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cost
}

// TestPagesReadOnlyTheirRows counts the calls and bytes of a page in a short and in a long list.
func TestPagesReadOnlyTheirRows(t *testing.T) {
	t.Parallel()
	count := &sizeCounter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "POST", environments, `{"name":"stage","type":"test"}`)
	s.must(t, "POST", projects, `{"id":"many","environments":["stage"]}`)
	s.manyFlags(t, 2_000)
	const list = projects + "/many/features"
	s.must(t, "GET", list+"?limit=1", "") // an instance learns whose favorites a token has with its first request
	first := count.during(func() { s.must(t, "GET", list+"?limit=10", "") })
	later := count.during(func() { s.must(t, "GET", list+"?limit=10&cursor=f01500", "") })
	whole := count.during(func() { s.must(t, "GET", list, "") })
	if first.calls != 2 || later.calls != 2 || whole.calls != 2 {
		t.Errorf("%d, %d and %d calls, want 2 for each page and for the whole list", first.calls, later.calls, whole.calls)
	}
	if later.bytes > first.bytes*11/10 || whole.bytes < 20*first.bytes {
		t.Errorf("the store sent %d bytes for the first page, %d for a later one and %d for the whole list; a page should read its own rows only",
			first.bytes, later.bytes, whole.bytes)
	}
}
