package admin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/httpapi"
)

// A usePage is a page of the strategies that use a segment or a context field.
type usePage struct {
	Strategies        []usingStrategy
	DefaultStrategies []struct{ ProjectID string }
	Next              *string
}

type usingStrategy struct{ ID, FeatureName string }

// flags are the names of the flags on the page, each once for each strategy.
func (p usePage) flags() []string {
	return httpapi.Each(p.Strategies, func(s usingStrategy) string { return s.FeatureName })
}

// usePage reads a page of a list of strategies.
func (s *server) usePage(t *testing.T, path string, query url.Values) (page usePage) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.must(t, "GET", path+"?"+query.Encode(), "").body), &page); err != nil {
		t.Fatal(err)
	}
	return page
}

// walkUses reads all pages by cursor, and calls between after each page but the last. It checks that all strategies of a flag are on
// the same page, and that the default strategies are on the first page.
func (s *server) walkUses(t *testing.T, path string, limit, defaults int, between func(page int)) (found []usingStrategy, pages int) {
	t.Helper()
	query := url.Values{"limit": {fmt.Sprint(limit)}, "cursor": {""}}
	last := ""
	for {
		page := s.usePage(t, path, query)
		names := slices.Compact(page.flags())
		if len(page.Strategies) > limit && len(names) > 1 || slices.Contains(names, last) {
			t.Errorf("%s, limit %d: page %d has strategies of %v; the page before ended with %q", path, limit, pages, page.flags(), last)
		}
		if len(page.DefaultStrategies) != defaults || page.DefaultStrategies == nil {
			t.Errorf("%s, limit %d: page %d has the default strategies %v, want %d", path, limit, pages, page.DefaultStrategies, defaults)
		}
		if len(names) > 0 {
			last = names[len(names)-1]
		}
		found, defaults = append(found, page.Strategies...), 0
		if pages++; page.Next == nil || pages > 100 {
			return found, pages
		}
		between(pages)
		query.Set("cursor", *page.Next)
	}
}

const (
	usesOfSegment = allSegments + "/1/strategies"
	usesOfField   = contextFields + "/userId/strategies"

	usesBoth = `{"name":"default","segments":[1],"constraints":` + someUsers + `}`
)

// createUses creates flags with some strategies that use the segment 1 and the context field userId, and one that uses neither.
func (s *server) createUses(t *testing.T, strategies map[string]int) {
	t.Helper()
	s.segment(t, `{"name":"one","constraints":[]}`)
	for name, n := range strategies {
		s.create(t, name)
		for range n {
			s.strategy(t, name, usesBoth)
		}
		s.must(t, "POST", in(name, "production")+"/strategies", `{"name":"default","constraints":[{"contextName":"appName","operator":"IN","values":["x"]}]}`)
	}
}

// TestPagesOfUses checks for several limits that the pages by cursor together have the strategies of the whole list, in its order.
func TestPagesOfUses(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.createUses(t, map[string]int{"A": 1, "a": 3, "a-b": 1, "a.b": 2, "aa": 1, "b": 1, "b-none": 0, "c": 4, "d-archived": 2, "~": 1})
	s.must(t, "DELETE", features+"/d-archived", "")
	s.must(t, "POST", project+"/environments/production/default-strategy", usesBoth)
	for _, path := range []string{usesOfSegment, usesOfField} {
		whole := s.usePage(t, path, nil)
		if len(whole.Strategies) != 14 || whole.Next != nil || !slices.IsSorted(whole.flags()) {
			t.Fatalf("%s: the whole list is %v, next %v; want 14 strategies, sorted, and no next", path, whole.flags(), whole.Next)
		}
		for limit := 1; limit <= 15; limit++ {
			got, pages := s.walkUses(t, path, limit, 1, func(int) {})
			if diff := cmp.Diff(whole.Strategies, got); diff != "" {
				t.Errorf("%s, limit %d: the pages (-want +got):\n%s", path, limit, diff)
			}
			if limit >= 14 && pages != 1 {
				t.Errorf("%s, limit %d: %d pages, want one", path, limit, pages)
			}
		}
		if page := s.usePage(t, path, url.Values{"limit": {"3"}}); len(page.Strategies) != 3 || page.Next != nil {
			t.Errorf("%s without cursor: %v, next %v; want 3 strategies and no next", path, page.flags(), page.Next)
		}
	}
}

// TestPagesOfChangingUses changes flags between two pages. All others are on exactly one page, with all their strategies.
func TestPagesOfChangingUses(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.createUses(t, map[string]int{"a": 1, "b": 2, "c": 3, "d": 2, "e": 1, "f": 2})
	found, pages := s.walkUses(t, usesOfSegment, 3, 0, func(page int) {
		if page != 1 { // it had a and b
			return
		}
		s.create(t, "a-new", "bb-new")
		s.strategy(t, "a-new", usesBoth) // before the cursor
		s.strategy(t, "bb-new", usesBoth)
		s.must(t, "DELETE", features+"/b", "") // the flag of the cursor
		s.must(t, "DELETE", features+"/d", "")
		s.must(t, "DELETE", in("c", "development")+"/strategies/"+s.strategyIDs(t, "c", "development")[0], "")
		s.strategy(t, "f", usesBoth)
	})
	got := strings.Join(httpapi.Each(found, func(s usingStrategy) string { return s.FeatureName }), " ")
	if want := "a b b bb-new c c e f f f"; got != want || pages != 4 {
		t.Errorf("%d pages with strategies of %s, want 4 with %s", pages, got, want)
	}
}

// TestCursorsOfUses sends cursors that are not the next of a page.
func TestCursorsOfUses(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.createUses(t, map[string]int{"a": 1, "b": 2, "c": 1})
	for _, path := range []string{usesOfSegment, usesOfField} {
		for _, cursor := range []string{"a/b", "a b", "..", "\xff", "\x7f", "FLAG#a", strings.Repeat("a", 101)} {
			s.check(t, call{"the cursor " + cursor, "GET", path + "?cursor=" + url.QueryEscape(cursor), "", 400,
				failure("ValidationError", "the cursor must be the next of the previous page")})
		}
		for query, want := range map[string]string{
			"cursor=":                  "a b b c",
			"cursor=a":                 "b b c",
			"cursor=aa":                "b b c", // a flag of this name need not exist
			"cursor=c":                 "",
			"cursor=~":                 "",
			"cursor=a&offset=1":        "b b c", // an offset is ignored
			"cursor=a&limit=1":         "b b",
			"limit=1&offset=1":         "b",
			"offset=1":                 "b b c",
			"limit=10000&cursor=a":     "b b c",
			"limit=1&offset=5&cursor=": "a",
		} {
			parsed, _ := url.ParseQuery(query)
			if got := strings.Join(s.usePage(t, path, parsed).flags(), " "); got != want {
				t.Errorf("%s?%s: %q, want %q", path, query, got, want)
			}
		}
	}
	s.check(t, call{"an unknown segment", "GET", allSegments + "/99/strategies?cursor=", "", 404, notFound("99")})
	s.check(t, call{"an unknown context field", "GET", contextFields + "/nosuch/strategies?cursor=", "", 404, notFound("nosuch")})
}
