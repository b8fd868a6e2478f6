package segments_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/apitest"
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
func readUses(t *testing.T, s *apitest.Server, path string, query url.Values) (page usePage) {
	t.Helper()
	apitest.DecodeInto(t, s.Must(t, "GET", path+"?"+query.Encode(), "").Body, &page)
	return page
}

// walkUses reads all pages by cursor, and calls between after each page but the last. It checks that all strategies of a flag are on
// the same page, and that the default strategies are on the first page.
func walkUses(t *testing.T, s *apitest.Server, path string, limit, defaults int, between func(page int)) (found []usingStrategy, pages int) {
	t.Helper()
	query := url.Values{"limit": {fmt.Sprint(limit)}, "cursor": {""}}
	last := ""
	for {
		page := readUses(t, s, path, query)
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
	usesOfSegment = apitest.Segments + "/1/strategies"
	usesOfField   = apitest.ContextFields + "/userId/strategies"

	usesBoth = `{"name":"default","segments":[1],"constraints":` + someUsers + `}`
)

// createUses creates flags with some strategies that use the segment 1 and the context field userId, and one that uses neither.
func createUses(t *testing.T, s *apitest.Server, strategies map[string]int) {
	t.Helper()
	s.AddSegment(t, `{"name":"one","constraints":[]}`)
	for name, n := range strategies {
		s.Create(t, name)
		for range n {
			s.AddStrategy(t, name, usesBoth)
		}
		s.Must(t, "POST", apitest.In(name, "production")+"/strategies", `{"name":"default","constraints":[{"contextName":"appName","operator":"IN","values":["x"]}]}`)
	}
}

// TestPagesOfUses checks for several limits that the pages by cursor together have the strategies of the whole list, in its order.
func TestPagesOfUses(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	createUses(t, s, map[string]int{"A": 1, "a": 3, "a-b": 1, "a.b": 2, "aa": 1, "b": 1, "b-none": 0, "c": 4, "d-archived": 2, "~": 1})
	s.Must(t, "DELETE", apitest.Features+"/d-archived", "")
	s.Must(t, "POST", apitest.Project+"/environments/production/default-strategy", usesBoth)
	for _, path := range []string{usesOfSegment, usesOfField} {
		whole := readUses(t, s, path, nil)
		if len(whole.Strategies) != 14 || whole.Next != nil || !slices.IsSorted(whole.flags()) {
			t.Fatalf("%s: the whole list is %v, next %v; want 14 strategies, sorted, and no next", path, whole.flags(), whole.Next)
		}
		for limit := 1; limit <= 15; limit++ {
			got, pages := walkUses(t, s, path, limit, 1, func(int) {})
			if diff := cmp.Diff(whole.Strategies, got); diff != "" {
				t.Errorf("%s, limit %d: the pages (-want +got):\n%s", path, limit, diff)
			}
			if limit >= 14 && pages != 1 {
				t.Errorf("%s, limit %d: %d pages, want one", path, limit, pages)
			}
		}
		if page := readUses(t, s, path, url.Values{"limit": {"3"}}); len(page.Strategies) != 3 || page.Next != nil {
			t.Errorf("%s without cursor: %v, next %v; want 3 strategies and no next", path, page.flags(), page.Next)
		}
	}
}

// TestPagesOfChangingUses changes flags between two pages. All others are on exactly one page, with all their strategies.
func TestPagesOfChangingUses(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	createUses(t, s, map[string]int{"a": 1, "b": 2, "c": 3, "d": 2, "e": 1, "f": 2})
	found, pages := walkUses(t, s, usesOfSegment, 3, 0, func(page int) {
		if page != 1 { // it had a and b
			return
		}
		s.Create(t, "a-new", "bb-new")
		s.AddStrategy(t, "a-new", usesBoth) // before the cursor
		s.AddStrategy(t, "bb-new", usesBoth)
		s.Must(t, "DELETE", apitest.Features+"/b", "") // the flag of the cursor
		s.Must(t, "DELETE", apitest.Features+"/d", "")
		s.Must(t, "DELETE", apitest.In("c", "development")+"/strategies/"+strategyIDs(t, s, "c", "development")[0], "")
		s.AddStrategy(t, "f", usesBoth)
	})
	got := strings.Join(httpapi.Each(found, func(s usingStrategy) string { return s.FeatureName }), " ")
	if want := "a b b bb-new c c e f f f"; got != want || pages != 4 {
		t.Errorf("%d pages with strategies of %s, want 4 with %s", pages, got, want)
	}
}

// TestCursorsOfUses sends cursors that are not the next of a page.
func TestCursorsOfUses(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	createUses(t, s, map[string]int{"a": 1, "b": 2, "c": 1})
	for _, path := range []string{usesOfSegment, usesOfField} {
		for _, cursor := range []string{"a/b", "a b", "..", "\xff", "\x7f", "FLAG#a", strings.Repeat("a", 101)} {
			s.Check(t, apitest.Call{"the cursor " + cursor, "GET", path + "?cursor=" + url.QueryEscape(cursor), "", 400,
				apitest.Failure("ValidationError", "the cursor must be the next of the previous page")})
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
			if got := strings.Join(readUses(t, s, path, parsed).flags(), " "); got != want {
				t.Errorf("%s?%s: %q, want %q", path, query, got, want)
			}
		}
	}
}
