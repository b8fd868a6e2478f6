package transfer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestExportStopsEarly exports flags of which the first 100 are too large for a response. The others are not loaded. A caller
// that accepts a compressed response gets all of them.
func TestExportStopsEarly(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(config *httpapi.Config, transport *http.RoundTripper) {
		*transport = count
		config.Twice = nil // the second run would load all pages again
	})
	s.Unchecked = true // copied items have the same IDs
	p := apitest.Load[*flags.Project](t, s, flags.ProjectKey("default"))
	env := p.AvailableEnvironments(apitest.Load[*flags.Environments](t, s, flags.EnvironmentsKey()))[0]
	list := strings.Repeat("x", flags.MaxParameter)
	for i := range 350 { // directly in the store, which is faster
		f := flags.NewFeature(p, fmt.Sprintf("f%03d", i), flags.Metadata{Type: flags.Release}, "test", time.Now().UTC())
		if i < 100 {
			if err := f.AddStrategy(env, flags.Strategy{ID: "s", Name: "userWithId", Parameters: map[string]string{"userIds": list}}, flags.DefaultLimits()); err != nil {
				t.Fatal(err)
			}
		}
		change := flags.Change{Writes: []flags.Write{{After: f}}, Event: flags.Event{ID: fmt.Sprintf("0190-%d", i), Type: flags.FeatureCreated, FeatureName: f.Name}}
		if err := s.Store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	export := func(headers ...string) (got apitest.Answer, loads int) {
		calls := count.During(func() {
			got = s.Do(t, "POST", apitest.Export, `{"environment":"development","features":[]}`, headers...)
		})
		for _, c := range calls {
			if c == "BatchGetItem" {
				loads++
			}
		}
		return got, loads
	}
	got, loads := export("Accept-Encoding: identity")
	if got.Status != 413 || loads != 2 || !strings.Contains(got.Body, "with limit and cursor") {
		t.Errorf("%d %.200s after %d loads, want 413 after 2: the caller, and the first 100 flags; it should name the parameters of pages", got.Status, got.Body, loads)
	}
	if got, loads := export("Accept-Encoding: gzip"); got.Status != 200 || len(got.Body) > 1<<20 || loads != 5 {
		t.Errorf("compressed: %d, %d bytes after %d loads, want 200 with less than 1 MiB after 5", got.Status, len(got.Body), loads)
	}
	exported, cursor := 0, ""
	for pages := 1; ; pages++ { // without compression: a page ends early if its flags are large
		page := exportPage(t, s, `{"environment":"development","features":[],"limit":300,"cursor":"`+cursor+`"}`)
		if exported += len(page.Features); page.Next == "" {
			break
		}
		if cursor = page.Next; len(page.Features) == 0 || pages > 10 {
			t.Fatalf("page %d has %d flags and next %q", pages, len(page.Features), page.Next)
		}
	}
	if exported != 350 {
		t.Errorf("the pages have %d flags, want 350", exported)
	}
}

// exportPage exports a page, without compression.
func exportPage(t *testing.T, s *apitest.Server, body string) (page apitest.FlagPage) {
	t.Helper()
	got := s.Do(t, "POST", apitest.Export, body, "Accept-Encoding: identity")
	if err := json.Unmarshal([]byte(got.Body), &page); err != nil || got.Status != 200 {
		t.Fatalf("%s: %d %.300s (%v)", body, got.Status, got.Body, err)
	}
	return page
}

// TestExportPages exports flags of two projects in pages. Together they have the flags of the whole export, each once.
func TestExportPages(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.Create(t, strings.Fields("a b-1 b c d e")...)
	for _, name := range strings.Fields("aa bb cc") {
		s.Must(t, "POST", apitest.Projects+"/other/features", `{"name":"`+name+`"}`)
	}
	for _, name := range strings.Fields("a cc e") {
		s.Must(t, "POST", "/api/admin/features/"+name+"/tags", `{"type":"simple","value":"mine"}`)
	}
	for selected, want := range map[string]string{
		`"features":[]`:                       "a aa b b-1 bb c cc d e",
		`"project":"default"`:                 "a b b-1 c d e",
		`"tag":"simple:mine"`:                 "a cc e",
		`"features":["e","a","bb","a","b-1"]`: "a b-1 bb e",
	} {
		for limit := 1; limit <= 10; limit++ {
			var got []string
			cursor := ""
			for pages := 0; pages < 12; pages++ {
				page := exportPage(t, s, fmt.Sprintf(`{"environment":"development",%s,"limit":%d,"cursor":%q}`, selected, limit, cursor))
				if got = append(got, page.Names()...); len(page.Features) > limit {
					t.Errorf("%s, limit %d: a page of %d flags", selected, limit, len(page.Features))
				}
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, limit %d: %v, want %s", selected, limit, got, want)
			}
		}
	}
	s.Run(t, []apitest.Call{
		{"a limit of 0", "POST", apitest.Export, `{"environment":"development","features":[],"limit":0}`, 400, apitest.Invalid("/limit")},
		{"a limit over the maximum", "POST", apitest.Export, `{"environment":"development","features":[],"limit":10001}`, 400, apitest.Invalid("/limit")},
		{"a cursor that is not a name", "POST", apitest.Export, `{"environment":"development","features":[],"cursor":"a/b"}`, 400, apitest.Invalid("/cursor")},
		{"a cursor without a limit", "POST", apitest.Export, `{"environment":"development","features":[],"cursor":"d"}`, 200, `{"...":0,"features":[{"...":0,"name":"e"}]}`},
	})
}
