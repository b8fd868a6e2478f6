package segments_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/admin/segments"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestUsesOfManyFlags checks that a page by cursor of the strategies that use something, the deletion of a segment that no flag uses,
// and giving it to a project make the same calls, with the same number of bytes, for 100 flags that use something and for 5,000.
func TestUsesOfManyFlags(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Unchecked = true // copied items have the same IDs
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.AddSegment(t, `{"name":"used by all","constraints":[]}`)
	s.Create(t, "template-of-flags")
	s.AddStrategy(t, "template-of-flags", usesBoth)
	cost := count.Cost
	created := 0
	unused := func() string { // the path of a new segment
		created++
		return apitest.Segments + "/" + s.AddSegment(t, fmt.Sprintf(`{"name":"unused %d","constraints":[]}`, created))
	}
	costs := map[string]func() (string, int){
		"the first page of a segment": func() (string, int) {
			return cost(func() { s.Must(t, "GET", usesOfSegment+"?limit=50&cursor=", "") })
		},
		"a later page of a segment": func() (string, int) {
			return cost(func() { s.Must(t, "GET", usesOfSegment+"?limit=50&cursor=flag-000020", "") })
		},
		"a page of a context field": func() (string, int) {
			return cost(func() { s.Must(t, "GET", usesOfField+"?limit=50&cursor=flag-000020", "") })
		},
		"the list of an unused segment": func() (string, int) {
			path := unused()
			return cost(func() { s.Must(t, "GET", path+"/strategies", "") })
		},
		"delete an unused segment": func() (string, int) {
			path := unused()
			return cost(func() { s.Must(t, "DELETE", path, "") })
		},
		"give an unused segment to a project": func() (string, int) {
			path := unused()
			return cost(func() {
				s.Must(t, "PUT", path, fmt.Sprintf(`{"name":"given %d","project":"shop","constraints":[]}`, created))
			})
		},
	}
	add := func(from, to int) {
		var names []string
		for i := from; i < to; i++ {
			names = append(names, fmt.Sprintf("flag-%06d", i))
		}
		dynamotest.AddCopies(t, s.Store, "template-of-flags", names)
	}
	segmentList := func() { s.Must(t, "GET", apitest.Segments, "") }
	add(0, 100)
	calls, bytes := map[string]string{}, map[string]int{}
	for name, f := range costs {
		calls[name], bytes[name] = f()
	}
	_, all := cost(segmentList)
	add(100, segments.MaxReadUses)
	for name, f := range costs {
		nowCalls, nowBytes := f()
		if nowCalls != calls[name] || nowBytes > bytes[name]+10_000 { // the list of segments is a bit longer
			t.Errorf("%s with 5,000 flags: %s, %d bytes; with 100 flags: %s, %d bytes; want the same", name, nowCalls, nowBytes, calls[name], bytes[name])
		}
	}
	if _, now := cost(segmentList); now < 10*all {
		t.Errorf("the list of segments read %d bytes with 5,000 flags and %d with 100: this test measures nothing", now, all)
	}

	// A segment that few flags use: reading ends with the last of them, and a page after it has read enough.
	first, last := unused(), unused()
	s.Create(t, "-first", "~last")
	s.AddStrategy(t, "-first", `{"name":"default","segments":[`+strings.TrimPrefix(first, apitest.Segments+"/")+`]}`)
	s.AddStrategy(t, "~last", `{"name":"default","segments":[`+strings.TrimPrefix(last, apitest.Segments+"/")+`]}`)
	refused := func(path, flag string) string {
		calls, _ := cost(func() { s.Check(t, apitest.Call{"in use", "DELETE", path, "", 409, inUse(`flag "` + flag + `"`)}) })
		return calls
	}
	if got, want := refused(first, "-first"), "BatchGetItem Query Query"; got != want { // the uses, then the projects
		t.Errorf("the deletion of a segment that the first flag uses: %s, want %s", got, want)
	}
	if got := refused(last, "~last"); strings.Count(got, "Query") < 3 {
		t.Errorf("the deletion of a segment that the last flag uses: %s, want more queries", got)
	}
	strategies, pages := walkUses(t, s, last+"/strategies", 50, 0, func(int) {})
	if len(strategies) != 1 || strategies[0].FeatureName != "~last" || pages != 2 {
		t.Errorf("the segment of the last flag is used by %v on %d pages, want ~last on the second page", strategies, pages)
	}
}

// TestStrategyAmongManyFlags checks that a strategy is found by its ID in a project with more flags than one call loads, and that no
// flags are loaded after the one that has it.
func TestStrategyAmongManyFlags(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Unchecked = true // copied items have the same IDs
	s.AddSegment(t, `{"name":"one","constraints":[]}`)
	s.Create(t, "-first", "template-of-flags", "~last")
	s.AddStrategy(t, "template-of-flags", `{"name":"default"}`)
	var names []string
	for i := range 250 {
		names = append(names, fmt.Sprintf("flag-%06d", i))
	}
	dynamotest.AddCopies(t, s.Store, "template-of-flags", names)
	for flag, loads := range map[string]int{"-first": 1, "~last": 3} { // of a hundred flags each
		id := s.AddStrategy(t, flag, `{"name":"default"}`)
		body := fmt.Sprintf(`{"projectId":"default","strategyId":%q,"environmentId":"development","segmentIds":[1]}`, id)
		calls := strings.Join(count.During(func() { s.Must(t, "POST", apitest.Segments+"/strategies", body) }), " ")
		// The token, the project and the environments; the list; the flags; the flag again, with the segment.
		if want := "BatchGetItem BatchGetItem Query" + strings.Repeat(" BatchGetItem", loads+1) + " TransactWriteItems"; calls != want {
			t.Errorf("the segments of a strategy of %s: %s, want %s", flag, calls, want)
		}
		s.Check(t, apitest.Call{flag, "GET", apitest.In(flag, "development") + "/strategies/" + id, "", 200, `{"...":0,"segments":[1]}`})
		s.Check(t, apitest.Call{flag, "GET", apitest.Segments + "/strategies/" + id, "", 200, `{"segments":[{"...":0,"id":1}]}`})
	}
	body := `{"projectId":"default","strategyId":"nosuch","environmentId":"development","segmentIds":[1]}`
	s.Check(t, apitest.Call{"an unknown strategy", "POST", apitest.Segments + "/strategies", body, 400, apitest.Invalid("/strategyId")})
}
