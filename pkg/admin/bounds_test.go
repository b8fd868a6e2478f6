package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// tooLarge is the response to a change that would make a flag larger than an item of the store can be.
var tooLarge = failure("ValidationError", "400 KiB")

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
func (s *server) largestFlag(t *testing.T, name string) (filler string, characters int) {
	t.Helper()
	s.create(t, name)
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
		s.strategy(t, name, `{"name":"default","constraints":[`+strings.Join(constraints, ",")+`]}`)
	}
	filler = in(name, "development") + "/strategies/" + s.strategy(t, name, `{"name":"default"}`)
	most, least := 400<<10, 0 // too many characters, and few enough
	for most-least > 1 {
		middle := (most + least) / 2
		switch got := s.do(t, "PUT", filler, parameters(middle)); got.status {
		case 200:
			least = middle
		case 400:
			most = middle
		default:
			t.Fatalf("parameters of %d characters: %d %.300s", middle, got.status, got.body)
		}
	}
	s.must(t, "PUT", filler, parameters(least))
	return filler, least
}

// TestLargestFlag changes a flag that is as large as allowed. A change that needs more space gets a 400 and changes nothing.
// Everything else works, most importantly disabling the flag.
func TestLargestFlag(t *testing.T) {
	t.Parallel()
	s := serve(t)
	filler, characters := s.largestFlag(t, "big")
	const strategies = "/strategies"
	first := firstID(s.must(t, "GET", in("big", "development")+strategies, "").body)
	s.unchanged(t, "big", []call{
		{"enable it", "POST", in("big", "development") + "/on", "", 400, tooLarge},
		{"set a longer type", "PATCH", features + "/big", `[{"op":"replace","path":"/type","value":"operational"}]`, 400, tooLarge},
		{"add a strategy", "POST", in("big", "production") + strategies, `{"name":"default"}`, 400, tooLarge},
		{"disable a strategy", "PATCH", in("big", "development") + strategies + "/" + first, `[{"op":"replace","path":"/disabled","value":true}]`, 400, tooLarge},
		{"add a tag", "POST", "/api/admin/features/big/tags", `{"type":"simple","value":"one"}`, 400, tooLarge},
		{"set variants", "PUT", features + "/big/variants", `[{"name":"a","weight":1}]`, 400, tooLarge},
		{"mark it completed", "POST", features + "/big/lifecycle/complete", `{"status":"kept"}`, 400, tooLarge},
		{"add a parent", "POST", features + "/big/dependencies", `{"feature":"nosuch"}`, 400, anything},
		{"archive it", "DELETE", features + "/big", "", 400, tooLarge},
		{"enable it in bulk", "POST", bulkEnvironment("development") + "/on", `{"features":["big"]}`, 400, partialFailure("ValidationError", "could not be enabled", "0", "400 KiB")},
		{"clone it under a longer name", "POST", features + "/big/clone", `{"name":"bigger"}`, 400, tooLarge},
	})

	// Disabling the flag needs no space.
	s.run(t, []call{
		{"make space to enable it", "PUT", filler, parameters(characters - 40), 200, anything},
		{"enable it", "POST", in("big", "development") + "/on", "", 200, anything},
	})
	for less := 0; ; less++ { // fill the flag again
		if got := s.do(t, "PUT", filler, parameters(characters-less)); got.status == 200 {
			break
		}
	}
	s.unchanged(t, "big", []call{{"add a strategy to the full flag", "POST", in("big", "production") + strategies, `{"name":"default"}`, 400, tooLarge}})
	s.run(t, []call{
		{"disable it", "POST", in("big", "development") + "/off", "", 200, anything},
		{"add a favorite", "POST", features + "/big/favorites", "", 200, ""},
		{"read it", "GET", features + "/big", "", 200, anything},
		{"list flags", "GET", features, "", 200, anything},
		{"read its events", "GET", "/api/admin/events/big?limit=100", "", 200, anything},
		{"export it", "POST", exportData, `{"environment":"development","features":["big"]}`, 200, anything},
		{"remove a strategy", "DELETE", in("big", "development") + strategies + "/" + first, "", 200, ""},
		{"clone it", "POST", features + "/big/clone", `{"name":"bigger"}`, 201, anything},
		{"add a tag", "POST", "/api/admin/features/big/tags", `{"type":"simple","value":"one"}`, 201, anything},
		{"set variants", "PUT", features + "/big/variants", `[{"name":"a","weight":1}]`, 200, anything},
		{"archive it", "DELETE", features + "/big", "", 202, ""},
		{"revive it", "POST", "/api/admin/archive/revive/big", "", 200, ""},
	})
	if body := s.must(t, "GET", "/api/admin/events/bigger", "").body; !strings.Contains(body, `"omitted":"larger than 64 KiB"`) {
		t.Errorf("the event of the clone is %.300s, want it to say that it omits a document over 64 KiB", body)
	}
	dynamotest.Check(t, s.store)
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
	s := serve(t)
	long := strings.Repeat("e", 97)
	for i := range 47 {
		name := fmt.Sprintf("%s%03d", long, i)
		s.must(t, "POST", environments, fmt.Sprintf(`{"name":%q,"type":"test"}`, name))
		s.must(t, "POST", project+"/environments", fmt.Sprintf(`{"environment":%q}`, name))
	}
	s.create(t, "wide")
	refused := 0
	field := strings.Repeat("c", 90)
	for i := range 47 {
		body := fmt.Sprintf(`{"project":"default","environment":"%s%03d","data":{"features":[{"name":"wide"}],"featureStrategies":[%s]}}`, long, i,
			strings.TrimSuffix(strings.Repeat(`{"featureName":"wide","name":"default","constraints":[{"contextName":"`+field+`","operator":"IN","values":["v"]}]},`, 30), ","))
		got := s.must(t, "POST", importData, body).body
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
	dynamotest.Check(t, s.store)
}

// TestLongList lists 1,001 flags. Their rows exceed the megabyte that one query returns.
func TestLongList(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	view, err := s.store.Load(t.Context(), []flags.Key{flags.ProjectKey("default")})
	if err != nil {
		t.Fatal(err)
	}
	p := flags.Find[*flags.Project](view, flags.ProjectKey("default"))
	const n = 1001
	s.parallel(t, n/7, func(i int) call { // create the flags directly in the store, seven at a time
		change := flags.Change{Event: flags.Event{ID: fmt.Sprintf("0190-%d", i), Type: flags.FeatureCreated, FeatureName: fmt.Sprintf("f%04d", i*7)}}
		for j := range 7 {
			f := flags.NewFeature(p, fmt.Sprintf("f%04d", i*7+j), flags.Metadata{Type: flags.Release}, "test", time.Now().UTC())
			for k := range 25 {
				f.Tags = append(f.Tags, flags.Tag{Type: "simple", Value: fmt.Sprintf("a tag with a long value %03d", k)})
			}
			change.Writes = append(change.Writes, flags.Write{After: f})
		}
		if err := s.store.Commit(t.Context(), change); err != nil {
			t.Error(err)
		}
		return call{method: "GET", path: features + "/" + fmt.Sprintf("f%04d", i*7)}
	})
	var list struct{ Features []struct{ Name string } }
	calls := count.during(func() {
		if err := json.Unmarshal([]byte(s.must(t, "GET", features, "").body), &list); err != nil {
			t.Fatal(err)
		}
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
	s := serve(t)
	got := s.parallel(t, 100, func(i int) call {
		return call{method: "POST", path: environments, body: fmt.Sprintf(`{"name":"e%03d","type":"test"}`, i)}
	})
	if got[503] == 0 {
		wantStatuses(t, got, map[int]int{201: 47, 400: 53})
	}
	var list struct{ Environments []struct{ Name string } }
	if err := json.Unmarshal([]byte(s.must(t, "GET", environments, "").body), &list); err != nil {
		t.Fatal(err)
	}
	if n := len(list.Environments); n < 3+got[201] || n > min(50, 3+got[201]+got[503]) { // a 503 may have been made
		t.Errorf("%d environments, want the 3 existing and the %d created, and at most %d more", n, got[201], got[503])
	}
	for _, env := range list.Environments { // then use a flag in all of them
		if env.Name != "development" && env.Name != "production" {
			s.must(t, "POST", project+"/environments", fmt.Sprintf(`{"environment":%q}`, env.Name))
		}
	}
	s.create(t, "f")
	s.must(t, "PUT", features+"/f/variants", `[{"name":"a","weight":1}]`)
	for _, env := range list.Environments {
		s.must(t, "POST", in("f", env.Name)+"/strategies", `{"name":"default"}`)
		s.must(t, "POST", in("f", env.Name)+"/on", "")
	}
	dynamotest.Check(t, s.store)
}

// TestFullTransactions makes changes that touch 100 items or more, which is the limit of a transaction.
func TestFullTransactions(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Limits.StrategySegments = 10 })
	const segments = 100
	for i := range segments {
		s.must(t, "POST", "/api/admin/segments", fmt.Sprintf(`{"name":"s%d","constraints":[]}`, i))
	}
	s.create(t, "wide")
	for i := 0; i < 90; i += 10 {
		s.strategy(t, "wide", fmt.Sprintf(`{"name":"default","segments":[%d,%d,%d,%d,%d,%d,%d,%d,%d,%d]}`, i+1, i+2, i+3, i+4, i+5, i+6, i+7, i+8, i+9, i+10))
	}
	clone := func(name string, status int, want string) call {
		return call{name, "POST", features + "/wide/clone", fmt.Sprintf(`{"name":%q}`, name), status, want}
	}
	s.run(t, []call{clone("fits", 201, anything)})
	s.strategy(t, "wide", `{"name":"default","segments":[91,92,93,94,95,96,97,98,99,100]}`)
	s.unchanged(t, "wide", []call{clone("too-large", 400, failure("ValidationError", "the limit of 100 items"))})
	s.run(t, []call{
		{"it was not created", "GET", features + "/too-large", "", 404, anything},
		{"enable it", "POST", in("wide", "development") + "/on", "", 200, anything},
		{"archive it", "DELETE", features + "/wide", "", 202, ""},
		{"revive it", "POST", "/api/admin/archive/revive/wide", "", 200, ""},
	})
	s.maxDependencies(t)
	s.deleteFullProject(t)
	dynamotest.Check(t, s.store)
}

// maxDependencies gives one flag as many parents as allowed, which change with it, and another flag a thousand children.
func (s *server) maxDependencies(t *testing.T) {
	t.Helper()
	s.create(t, "child", "one-more")
	for i := range flags.MaxParents {
		s.create(t, fmt.Sprintf("parent-%d", i))
		s.must(t, "POST", features+"/child/dependencies", fmt.Sprintf(`{"feature":"parent-%d"}`, i))
	}
	s.must(t, "PUT", "/api/admin/features/child/tags", tagsOf(30))
	s.unchanged(t, "child", []call{
		{"one parent too many", "POST", features + "/child/dependencies", `{"feature":"one-more"}`, 400, invalid("/feature")},
		{"one tag too many", "POST", "/api/admin/features/child/tags", `{"type":"simple","value":"more"}`, 400, anything},
	})
	s.run(t, []call{
		{"clone it with all parents", "POST", features + "/child/clone", `{"name":"twin"}`, 201, anything},
		{"remove the parents of the clone", "DELETE", features + "/twin/dependencies", "", 200, ""},
		{"archive it", "DELETE", features + "/child", "", 202, ""},
		{"the parent has no children", "GET", features + "/parent-7", "", 200, `{"...":0,"children":[]}`},
	})
	s.create(t, "many-children")
	children, list, parents := dynamotest.Times(300, 1000), []string{}, []string{}
	for i := range children {
		list = append(list, fmt.Sprintf(`{"name":"child-%04d"}`, i))
		parents = append(parents, fmt.Sprintf(`{"feature":"child-%04d","dependencies":[{"feature":"many-children"}]}`, i))
	}
	data := fmt.Sprintf(`{"features":[%s],"dependencies":[%s]}`, strings.Join(list, ","), strings.Join(parents, ","))
	body := `{"project":"default","environment":"development","data":` + data + `}`
	for try := 0; s.do(t, "POST", importData, body).status == 503; try++ { // each child changes the parent, so they run one after the other
		if try == 20 {
			t.Fatal("the import did not finish after 20 attempts")
		}
	}
	var got struct{ Children []string }
	if err := json.Unmarshal([]byte(s.must(t, "GET", features+"/many-children", "").body), &got); err != nil || len(got.Children) != children {
		t.Errorf("%d children, %v; want %d", len(got.Children), err, children)
	}
	s.run(t, []call{
		{"archive a parent", "DELETE", features + "/many-children", "", 409, anything},
		{"archive a child", "DELETE", features + "/child-0007", "", 202, ""},
		{"update a parent", "PUT", features + "/many-children", `{"stale":true}`, 200, anything},
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
func (s *server) deleteFullProject(t *testing.T) {
	t.Helper()
	s.must(t, "POST", projects, `{"id":"full"}`)
	names, body := some(100, "")
	for i := range names {
		names[i] = "full-" + names[i]
		s.must(t, "POST", projects+"/full/features", fmt.Sprintf(`{"name":%q}`, names[i]))
	}
	body = strings.ReplaceAll(body, `"f`, `"full-f`)
	body = strings.Replace(body, `"full-features"`, `"features"`, 1)
	s.run(t, []call{
		{"delete it with active flags", "DELETE", projects + "/full", "", 409, anything},
		{"archive all flags", "POST", projects + "/full/archive", body, 202, ""},
		{"delete it with archived flags", "DELETE", projects + "/full", "", 200, ""},
	})
}

// TestLargestImport imports as many flags as one request may name, in a body as large as allowed. If time runs out, the
// response is a 503, and repeating the import does the rest.
func TestLargestImport(t *testing.T) {
	t.Parallel()
	s := serve(t)
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
	var got answer
	for ; tries < 50; tries++ {
		if got = s.do(t, "POST", importData, body); got.status != 503 {
			break
		}
		if got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "the same import again") {
			t.Fatalf("503 %.300s, want Retry-After and the advice to repeat the import", got.body)
		}
	}
	var result report
	if err := json.Unmarshal([]byte(got.body), &result); err != nil || result.Skipped+result.Overwritten > 0 || result.Created+result.Unchanged != n {
		t.Errorf("import of %d: %d %.300s (%v)", n, got.status, got.body, err)
	}
	if active, _ := s.counts(t, "default"); active != n {
		t.Errorf("the project has %d flags, want all %d", active, n)
	}
	t.Logf("%d flags in 4 MiB took %d calls", n, tries)
	if again := s.importHere(t, `{"features":[{"name":"f00000"}]}`); again.counts() != [4]int{0, 0, 1, 0} {
		t.Errorf("importing one flag again: %+v, want it unchanged", again)
	}
	s.run(t, []call{
		{"one byte too many", "POST", importData, body + " ", 413, failure("PayloadTooLargeError", "4 MiB")},
		{"one flag too many", "POST", importData, data(10_001), 400, invalid("/data")},
	})
	dynamotest.Check(t, s.store)
}
