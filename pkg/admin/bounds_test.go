package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// tooLarge is the response to a change that would make a flag larger than an item of the store can be.
var tooLarge = apitest.Failure("ValidationError", "400 KiB")

// parameters is the body of a strategy whose parameters have the given number of characters in total. Each parameter but
// the last is as long as allowed.
func parameters(characters int) string {
	var list []string
	for i := 0; characters > 0; i++ {
		n := min(characters, flags.MaxParameter)
		list = append(list, fmt.Sprintf(`"p%d":%q`, i, strings.Repeat("x", n)))
		characters -= n
	}
	return `{"name":"default","parameters":{` + strings.Join(list, ",") + `}}`
}

// largestFlag creates a flag that is exactly as large as allowed. The parameters of its last strategy fill it up. It returns the
// path of that strategy and the number of characters of its parameters.
func largestFlag(t *testing.T, s *apitest.Server, name string) (filler string, characters int) {
	t.Helper()
	s.Create(t, name)
	values := make([]string, 250)
	for i := range values {
		values[i] = fmt.Sprintf(`"%0100d"`, i)
	}
	list := strings.Join(values, ",")
	for range 3 {
		var constraints []string
		for range 4 {
			constraints = append(constraints, `{"contextName":"userId","operator":"IN","values":[`+list+`]}`)
		}
		s.AddStrategy(t, name, `{"name":"default","constraints":[`+strings.Join(constraints, ",")+`]}`)
	}
	filler = apitest.In(name, "development") + "/strategies/" + s.AddStrategy(t, name, `{"name":"default"}`)
	most, least := 400<<10, 0 // too many characters, and few enough
	for most-least > 1 {
		middle := (most + least) / 2
		switch got := s.Do(t, "PUT", filler, parameters(middle)); got.Status {
		case 200:
			least = middle
		case 400:
			most = middle
		default:
			t.Fatalf("parameters of %d characters: %d %.300s", middle, got.Status, got.Body)
		}
	}
	s.Must(t, "PUT", filler, parameters(least))
	return filler, least
}

// largeVariants is a list of n variants, each with almost the longest payload.
func largeVariants(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"v%d","weight":1,"payload":{"type":"string","value":%q}}`, i, strings.Repeat("x", flags.MaxPayload-1000))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// TestLargestFlag changes a flag that is as large as allowed. A change that needs more space gets a 400 and changes nothing.
// Everything else works, most importantly disabling the flag.
func TestLargestFlag(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	filler, characters := largestFlag(t, s, "big")
	const strategies = "/strategies"
	first := firstID(s.Must(t, "GET", apitest.In("big", "development")+strategies, "").Body)
	s.Unchanged(t, "big", []apitest.Call{
		{"enable it", "POST", apitest.In("big", "development") + "/on", "", 400, tooLarge},
		{"set a longer type", "PATCH", apitest.Features + "/big", `[{"op":"replace","path":"/type","value":"operational"}]`, 400, tooLarge},
		{"add a strategy", "POST", apitest.In("big", "production") + strategies, `{"name":"default"}`, 400, tooLarge},
		{"disable a strategy", "PATCH", apitest.In("big", "development") + strategies + "/" + first, `[{"op":"replace","path":"/disabled","value":true}]`, 400, tooLarge},
		{"add a tag", "POST", "/api/admin/features/big/tags", `{"type":"simple","value":"one"}`, 400, tooLarge},
		{"set variants", "PUT", apitest.Features + "/big/variants", `[{"name":"a","weight":1}]`, 400, tooLarge},
		{"set variants that fit, but not in all environments", "PUT", apitest.Features + "/big/variants", largeVariants(7), 400, apitest.Malformed("of all these environments")},
		{"mark it completed", "POST", apitest.Features + "/big/lifecycle/complete", `{"status":"kept"}`, 400, tooLarge},
		{"add a parent", "POST", apitest.Features + "/big/dependencies", `{"feature":"nosuch"}`, 400, apitest.Anything},
		{"archive it", "DELETE", apitest.Features + "/big", "", 400, tooLarge},
		{"enable it in bulk", "POST", apitest.BulkEnvironment("development") + "/on", `{"features":["big"]}`, 400, apitest.PartialFailure("ValidationError", "could not be enabled", "0", "400 KiB")},
		{"clone it under a longer name", "POST", apitest.Features + "/big/clone", `{"name":"bigger"}`, 400, tooLarge},
	})

	// Disabling the flag needs no space.
	s.Run(t, []apitest.Call{
		{"make space to enable it", "PUT", filler, parameters(characters - 40), 200, apitest.Anything},
		{"enable it", "POST", apitest.In("big", "development") + "/on", "", 200, apitest.Anything},
	})
	for less := 0; ; less++ { // fill the flag again
		if got := s.Do(t, "PUT", filler, parameters(characters-less)); got.Status == 200 {
			break
		}
	}
	s.Unchanged(t, "big", []apitest.Call{{"add a strategy to the full flag", "POST", apitest.In("big", "production") + strategies, `{"name":"default"}`, 400, tooLarge}})
	s.Run(t, []apitest.Call{
		{"disable it", "POST", apitest.In("big", "development") + "/off", "", 200, apitest.Anything},
		{"add a favorite", "POST", apitest.Features + "/big/favorites", "", 200, ""},
		{"read it", "GET", apitest.Features + "/big", "", 200, apitest.Anything},
		{"list flags", "GET", apitest.Features, "", 200, apitest.Anything},
		{"read its events", "GET", "/api/admin/events/big?limit=100", "", 200, apitest.Anything},
		{"export it", "POST", apitest.Export, `{"environment":"development","features":["big"]}`, 200, apitest.Anything},
		{"remove a strategy", "DELETE", apitest.In("big", "development") + strategies + "/" + first, "", 200, ""},
		{"clone it", "POST", apitest.Features + "/big/clone", `{"name":"bigger"}`, 201, apitest.Anything},
		{"add a tag", "POST", "/api/admin/features/big/tags", `{"type":"simple","value":"one"}`, 201, apitest.Anything},
		{"set variants", "PUT", apitest.Features + "/big/variants", `[{"name":"a","weight":1}]`, 200, apitest.Anything},
		{"archive it", "DELETE", apitest.Features + "/big", "", 202, ""},
		{"revive it", "POST", "/api/admin/archive/revive/big", "", 200, ""},
	})
	if body := s.Must(t, "GET", "/api/admin/events/bigger", "").Body; !strings.Contains(body, `"omitted":"larger than 64 KiB"`) {
		t.Errorf("the event of the clone is %.300s, want it to say that it omits a document over 64 KiB", body)
	}
}

func firstID(list string) string {
	var all []struct{ ID string }
	_ = json.Unmarshal([]byte(list), &all)
	return all[0].ID
}

// TestWidestFlag imports as many strategies as allowed into every environment of a flag, with the longest names. The item that
// records its use of context fields can become larger than the flag itself.
func TestWidestFlag(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	long := strings.Repeat("e", 97)
	for i := range 47 {
		name := fmt.Sprintf("%s%03d", long, i)
		s.Must(t, "POST", apitest.Environments, fmt.Sprintf(`{"name":%q,"type":"test"}`, name))
		s.Must(t, "POST", apitest.Project+"/environments", fmt.Sprintf(`{"environment":%q}`, name))
	}
	s.Create(t, "wide")
	refused := 0
	field := strings.Repeat("c", 90)
	for i := range 47 {
		body := fmt.Sprintf(`{"project":"default","environment":"%s%03d","data":{"features":[{"name":"wide"}],"featureStrategies":[%s]}}`, long, i,
			strings.TrimSuffix(strings.Repeat(`{"featureName":"wide","name":"default","constraints":[{"contextName":"`+field+`","operator":"IN","values":["v"]}]},`, 30), ","))
		got := s.Must(t, "POST", apitest.Import, body).Body
		if strings.Contains(got, `"skipped":1`) {
			refused++
			if !strings.Contains(got, "400 KiB") {
				t.Fatalf("import %d: %.500s, want the reason that the flag is too large", i, got)
			}
		}
	}
	if refused == 0 || refused == 47 {
		t.Errorf("%d of 47 environments refused, want some but not all", refused)
	}
}

// TestLongList lists 1,001 flags. Their rows exceed the megabyte that one query returns.
func TestLongList(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Unchecked = true // it stores flags with one event for many
	p := apitest.Load[*flags.Project](t, s, flags.ProjectKey("default"))
	const n = 1001
	s.Parallel(t, n/7, func(i int) apitest.Call { // create the flags directly in the store, seven at a time
		change := flags.Change{Event: flags.Event{ID: fmt.Sprintf("0190-%d", i), Type: flags.FeatureCreated, FeatureName: fmt.Sprintf("f%04d", i*7)}}
		for j := range 7 {
			f := flags.NewFeature(p, fmt.Sprintf("f%04d", i*7+j), flags.Metadata{Type: flags.Release}, "test", time.Now().UTC())
			for k := range 25 {
				f.Tags = append(f.Tags, flags.Tag{Type: "simple", Value: fmt.Sprintf("a tag with a long value %03d", k)})
			}
			change.Writes = append(change.Writes, flags.Write{After: f})
		}
		if err := s.Store.Commit(t.Context(), change); err != nil {
			t.Error(err)
		}
		return apitest.Call{Method: "GET", Path: apitest.Features + "/" + fmt.Sprintf("f%04d", i*7)}
	})
	var list struct{ Features []struct{ Name string } }
	calls := count.During(func() {
		apitest.DecodeInto(t, s.Must(t, "GET", apitest.Features, "").Body, &list)
	})
	if got := strings.Join(calls, " "); got != "BatchGetItem Query Query" {
		t.Errorf("calls %s, want two queries: the rows are more than a megabyte", got)
	}
	if len(list.Features) != n {
		t.Fatalf("%d flags, want %d", len(list.Features), n)
	}
	for i, f := range list.Features {
		if want := fmt.Sprintf("f%04d", i); f.Name != want {
			t.Fatalf("flag %d is %s, want %s", i, f.Name, want)
		}
	}
}

// TestManyEnvironments creates 100 environments in parallel, where 50 are allowed and three exist.
func TestManyEnvironments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	got := s.Parallel(t, 100, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Environments, Body: fmt.Sprintf(`{"name":"e%03d","type":"test"}`, i)}
	})
	if got[503] == 0 {
		apitest.WantStatuses(t, got, map[int]int{201: 47, 400: 53})
	}
	list := apitest.Decode[struct{ Environments []struct{ Name string } }](t, s.Must(t, "GET", apitest.Environments, "").Body)
	if n := len(list.Environments); n < 3+got[201] || n > min(50, 3+got[201]+got[503]) { // a 503 may have been made
		t.Errorf("%d environments, want the 3 existing and the %d created, and at most %d more", n, got[201], got[503])
	}
	for _, env := range list.Environments { // then use a flag in all of them
		if env.Name != "development" && env.Name != "production" {
			s.Must(t, "POST", apitest.Project+"/environments", fmt.Sprintf(`{"environment":%q}`, env.Name))
		}
	}
	s.Create(t, "f")
	s.Must(t, "PUT", apitest.Features+"/f/variants", `[{"name":"a","weight":1}]`)
	for _, env := range list.Environments {
		s.Must(t, "POST", apitest.In("f", env.Name)+"/strategies", `{"name":"default"}`)
		s.Must(t, "POST", apitest.In("f", env.Name)+"/on", "")
	}
}

// TestFullTransactions makes changes that touch 100 items or more, which is the limit of a transaction.
func TestFullTransactions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.StrategySegments = 10 })
	const segments = 100
	for i := range segments {
		s.Must(t, "POST", "/api/admin/segments", fmt.Sprintf(`{"name":"s%d","constraints":[]}`, i))
	}
	s.Create(t, "wide")
	for i := 0; i < 90; i += 10 {
		s.AddStrategy(t, "wide", fmt.Sprintf(`{"name":"default","segments":[%d,%d,%d,%d,%d,%d,%d,%d,%d,%d]}`, i+1, i+2, i+3, i+4, i+5, i+6, i+7, i+8, i+9, i+10))
	}
	clone := func(name string, status int, want string) apitest.Call {
		return apitest.Call{name, "POST", apitest.Features + "/wide/clone", fmt.Sprintf(`{"name":%q}`, name), status, want}
	}
	s.Run(t, []apitest.Call{clone("fits", 201, apitest.Anything)})
	s.AddStrategy(t, "wide", `{"name":"default","segments":[91,92,93,94,95,96,97,98,99,100]}`)
	s.Unchanged(t, "wide", []apitest.Call{clone("too-large", 400, apitest.Failure("ValidationError", "the limit of 100 items"))})
	s.Run(t, []apitest.Call{
		{"it was not created", "GET", apitest.Features + "/too-large", "", 404, apitest.Anything},
		{"enable it", "POST", apitest.In("wide", "development") + "/on", "", 200, apitest.Anything},
		{"archive it", "DELETE", apitest.Features + "/wide", "", 202, ""},
		{"revive it", "POST", "/api/admin/archive/revive/wide", "", 200, ""},
	})
	maxDependencies(t, s)
	deleteFullProject(t, s)
}

// TestArchiveWithSafeguards archives a flag that is on by plans with as many safeguards as a flag can have, and has as many parents.
func TestArchiveWithSafeguards(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	for i := range flags.MaxParents {
		s.Create(t, fmt.Sprintf("parent-%d", i))
		s.Must(t, "POST", apitest.Features+"/f/dependencies", fmt.Sprintf(`{"feature":"parent-%d"}`, i))
	}
	for guarded := 0; ; guarded++ {
		on := subject{project: "default", flag: "f", environment: fmt.Sprintf("e-%d", guarded)}
		s.Must(t, "POST", "/api/admin/environments", fmt.Sprintf(`{"name":%q,"type":"test"}`, on.environment))
		s.Must(t, "POST", apitest.Project+"/environments", fmt.Sprintf(`{"environment":%q}`, on.environment))
		var safeguards []string
		for _, name := range []string{"a", "b", "c"} {
			s.Must(t, "POST", on.fill("/api/admin/projects/{projectId}"+aSignals), fmt.Sprintf(`{"name":%q}`, name))
			safeguards = append(safeguards, fmt.Sprintf(`{"signal":{"name":%q},"action":{"type":"pause"}}`, name))
		}
		plan := strings.TrimSuffix(on.fill(somePlan), "}") + `,"safeguards":[` + strings.Join(safeguards, ",") + `]}`
		if got := s.Do(t, "POST", on.fill(inEnvironment("", "/release-plans"))[1:], plan); got.Status != 200 {
			if got.Status != 409 || guarded < 5 {
				t.Errorf("the plan after %d others: status %d %.200s", guarded, got.Status, got.Body)
			}
			break
		}
		s.Must(t, "POST", apitest.In("f", on.environment)+"/on", "")
	}
	s.Must(t, "DELETE", apitest.Features+"/f", "")
	s.Must(t, "POST", "/api/admin/archive/revive/f", "")
}

// maxDependencies gives one flag as many parents as allowed, which change with it, and another flag a thousand children.
func maxDependencies(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Create(t, "child", "one-more")
	for i := range flags.MaxParents {
		s.Create(t, fmt.Sprintf("parent-%d", i))
		s.Must(t, "POST", apitest.Features+"/child/dependencies", fmt.Sprintf(`{"feature":"parent-%d"}`, i))
	}
	s.Must(t, "PUT", "/api/admin/features/child/tags", tagsOf(30))
	s.Unchanged(t, "child", []apitest.Call{
		{"one parent too many", "POST", apitest.Features + "/child/dependencies", `{"feature":"one-more"}`, 400, apitest.Invalid("/feature")},
		{"one tag too many", "POST", "/api/admin/features/child/tags", `{"type":"simple","value":"more"}`, 400, apitest.Anything},
	})
	s.Run(t, []apitest.Call{
		{"clone it with all parents", "POST", apitest.Features + "/child/clone", `{"name":"twin"}`, 201, apitest.Anything},
		{"remove the parents of the clone", "DELETE", apitest.Features + "/twin/dependencies", "", 200, ""},
		{"archive it", "DELETE", apitest.Features + "/child", "", 202, ""},
		{"the parent has no children", "GET", apitest.Features + "/parent-7", "", 200, `{"...":0,"children":[]}`},
	})
	s.Create(t, "many-children")
	children, list, parents := dynamotest.Times(300, 1000), []string{}, []string{}
	for i := range children {
		list = append(list, fmt.Sprintf(`{"name":"child-%04d"}`, i))
		parents = append(parents, fmt.Sprintf(`{"feature":"child-%04d","dependencies":[{"feature":"many-children"}]}`, i))
	}
	data := fmt.Sprintf(`{"features":[%s],"dependencies":[%s]}`, strings.Join(list, ","), strings.Join(parents, ","))
	body := `{"project":"default","environment":"development","data":` + data + `}`
	for try := 0; s.Do(t, "POST", apitest.Import, body).Status == 503; try++ { // each child changes the parent, so they run one after the other
		if try == 20 {
			t.Fatal("the import did not finish after 20 attempts")
		}
	}
	var got struct{ Children []string }
	if err := json.Unmarshal([]byte(s.Must(t, "GET", apitest.Features+"/many-children", "").Body), &got); err != nil || len(got.Children) != children {
		t.Errorf("%d children, %v; want %d", len(got.Children), err, children)
	}
	s.Run(t, []apitest.Call{
		{"archive a parent", "DELETE", apitest.Features + "/many-children", "", 409, apitest.Anything},
		{"archive a child", "DELETE", apitest.Features + "/child-0007", "", 202, ""},
		{"update a parent", "PUT", apitest.Features + "/many-children", `{"stale":true}`, 200, apitest.Anything},
	})
}

func tagsOf(n int) string {
	var tags []string
	for i := range n {
		tags = append(tags, fmt.Sprintf(`{"type":"simple","value":"tag %d"}`, i))
	}
	return `{"addedTags":[` + strings.Join(tags, ",") + `],"removedTags":[]}`
}

// deleteFullProject deletes a project after flags in all of its guards were created and archived.
func deleteFullProject(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Must(t, "POST", apitest.Projects, `{"id":"full"}`)
	names, body := some(100, "")
	for i := range names {
		names[i] = "full-" + names[i]
		s.Must(t, "POST", apitest.Projects+"/full/features", fmt.Sprintf(`{"name":%q}`, names[i]))
	}
	body = strings.ReplaceAll(body, `"f`, `"full-f`)
	body = strings.Replace(body, `"full-features"`, `"features"`, 1)
	s.Run(t, []apitest.Call{
		{"delete it with active flags", "DELETE", apitest.Projects + "/full", "", 409, apitest.Anything},
		{"archive all flags", "POST", apitest.Projects + "/full/archive", body, 202, ""},
		{"delete it with archived flags", "DELETE", apitest.Projects + "/full", "", 200, ""},
	})
}

// TestLargestImport imports as many flags as one request may name, in a body as large as allowed. If time runs out, the
// response is a 503, and repeating the import does the rest.
func TestLargestImport(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	n := dynamotest.Times(1_000, 10_000)
	data := func(n int) string {
		var list, strategies []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"name":"f%05d","description":"imported"}`, i))
			strategies = append(strategies, fmt.Sprintf(`{"featureName":"f%05d","name":"default"}`, i))
		}
		return fmt.Sprintf(`{"project":"default","environment":"development","data":{"features":[%s],"featureStrategies":[%s]}}`,
			strings.Join(list, ","), strings.Join(strategies, ","))
	}
	body := data(n)
	body += strings.Repeat(" ", 4<<20-len(body)) // trailing spaces are valid JSON
	tries := 1
	var got apitest.Answer
	for ; tries < 50; tries++ {
		if got = s.Do(t, "POST", apitest.Import, body); got.Status != 503 {
			break
		}
		if got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, "the same import again") {
			t.Fatalf("503 %.300s, want Retry-After and the advice to repeat the import", got.Body)
		}
	}
	var result apitest.ImportReport
	if err := json.Unmarshal([]byte(got.Body), &result); err != nil || result.Skipped+result.Overwritten > 0 || result.Created+result.Unchanged != n {
		t.Errorf("import of %d: %d %.300s (%v)", n, got.Status, got.Body, err)
	}
	if active, _ := s.FlagCounts(t, "default"); active != n {
		t.Errorf("the project has %d flags, want all %d", active, n)
	}
	t.Logf("%d flags in 4 MiB took %d calls", n, tries)
	if again := s.ImportHere(t, `{"features":[{"name":"f00000"}]}`); again.Counts() != [4]int{0, 0, 1, 0} {
		t.Errorf("importing one flag again: %+v, want it unchanged", again)
	}
	s.Run(t, []apitest.Call{
		{"one byte too many", "POST", apitest.Import, body + " ", 413, apitest.Failure("PayloadTooLargeError", "4 MiB")},
		{"one flag too many", "POST", apitest.Import, data(10_001), 400, apitest.Invalid("/data")},
	})
}
