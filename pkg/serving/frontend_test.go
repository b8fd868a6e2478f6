package serving

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

var testTime = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// constrained returns a strategy for contexts with one of the values in a field.
func constrained(field string, values ...string) flags.Strategy {
	return flags.Strategy{Name: "default", Constraints: []flags.Constraint{{ContextName: field, Operator: "IN", Values: values}}}
}

// on returns the names of the flags in an answer of /api/frontend.
func on(t *testing.T, h http.Handler, method, target, body string, headers ...string) string {
	t.Helper()
	var names []string
	for _, toggle := range decoded[answers.FrontendAnswer](t, call(h, method, target, body, append([]string{"Authorization: frontend"}, headers...)...), 200).Toggles {
		names = append(names, toggle.Name)
	}
	return strings.Join(names, " ")
}

// TestFrontendAnswer compares an answer with one of Unleash 5.12.8 that was recorded.
func TestFrontendAnswer(t *testing.T) {
	f := newFixture()
	f.add("default", "variants", func(feature *flags.Feature, fe *flags.FeatureEnvironment) {
		feature.ImpressionData = true
		fe.Strategies = []flags.Strategy{{
			Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "default", "groupId": "variants"},
			Variants: []flags.Variant{{Name: "sv", Weight: 1000, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "from-<strategy>"}}},
		}}
	})
	f.add("default", "plain", nil)
	f.add("default", "disabled", func(_ *flags.Feature, fe *flags.FeatureEnvironment) { fe.EnabledIn = "" })
	f.addStrategies("for-others", constrained("userId", "8"))
	f.add("other", "other-project", nil)
	h := f.handler(httpapi.Config{})
	want := `{"toggles":[` +
		`{"name":"plain","enabled":true,"variant":{"name":"disabled","enabled":false,"feature_enabled":true,"featureEnabled":true},"impressionData":false},` +
		`{"name":"variants","enabled":true,"variant":{"name":"sv","payload":{"type":"string","value":"from-<strategy>"},"enabled":true,"feature_enabled":true,"featureEnabled":true},"impressionData":true}]}`
	w := call(h, "GET", "/api/frontend?environment=default&appName=app&userId=7", "", "Authorization: frontend")
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d %s\nwant %s", w.Code, w.Body, want)
	}
	header := w.Header()
	if header.Get("Content-Type") != "application/json; charset=utf-8" || header.Get("Cache-Control") != "no-cache" || !strings.Contains(header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("the headers are %v", header)
	}
	if got := on(t, h, "GET", "/api/frontend", "", "Authorization: frontend-all"); got != "other-project plain variants" {
		t.Errorf("a token of all projects sees %q", got)
	}
	if got := on(t, h, "GET", "/api/frontend", "", "Authorization: frontend-production"); got != "" {
		t.Errorf("a token of production sees %q", got)
	}
	if got := on(t, h, "GET", "/api/frontend", "", "Authorization: Bearer frontend"); got != "plain variants" {
		t.Errorf("with Bearer: %q", got)
	}
	// Unleash answers an admin token with an empty list.
	if got := on(t, h, "GET", "/api/frontend?environment=default", "", "Authorization: admin"); got != "" {
		t.Errorf("an admin token sees %q", got)
	}
}

// TestContext checks the parts of a context in a query and in a body. The order of fields in a query or body does not count.
func TestContext(t *testing.T) {
	f := newFixture()
	for field, value := range map[string]string{
		"userId": "7", "sessionId": "s", "appName": "app", "plan": "gold", "properties": "x", "environment": "default",
	} {
		f.addStrategies(field+"="+value, constrained(field, value))
	}
	f.addStrategies("address", constrained("remoteAddress", "192.0.2.1"))
	f.addStrategies("address-given", constrained("remoteAddress", "9.9.9.9"))
	f.addStrategies("number", constrained("plan", "12345678901234567890"))
	f.addStrategies("true", constrained("plan", "true"))
	f.addStrategies("nested", constrained("plan.name", "gold"))
	f.addStrategies("list", constrained("plan", `["a","b"]`))
	f.addStrategies("é", constrained("ünï[x]", "ß&="))
	longest := strings.Repeat("語", flags.MaxIdentifier)
	f.addStrategies("longest-name", constrained(longest, "x"))
	f.addStrategies("past", flags.Strategy{Name: "default", Constraints: []flags.Constraint{{
		ContextName: "currentTime", Operator: "DATE_BEFORE", Value: new("2020-01-01T00:00:00Z"),
	}}})
	f.addStrategies("now", flags.Strategy{Name: "default", Constraints: []flags.Constraint{
		{ContextName: "currentTime", Operator: "DATE_AFTER", Value: new("2026-11-22T11:59:59Z")},
		{ContextName: "currentTime", Operator: "DATE_BEFORE", Value: new("2026-11-22T12:00:01Z")},
	}})
	f.addStrategies("session", flags.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "sessionId"}})
	h := f.handler(httpapi.Config{Now: func() time.Time { return testTime }})
	const always = "address environment=default now session"
	tests := []struct{ name, query, context, want string }{
		{"nothing", "", `{}`, ""},
		{"unknown fields of the body", "", `{}, "other": [{"userId": "7"}]`, ""},
		{"fields", "userId=7&sessionId=s&appName=app", `{"userId": "7", "sessionId": "s", "appName": "app"}`, "appName=app sessionId=s userId=7"},
		{"a number", "userId=7", `{"userId": 7}`, "userId=7"},
		{"a property", "properties[plan]=gold", `{"properties": {"plan": "gold"}}`, "plan=gold"},
		{"an unknown field", "plan=gold", `{"plan": "gold"}`, "plan=gold"},
		{"a property before an unknown field", "plan=x&properties[plan]=gold", `{"plan": "x", "properties": {"plan": "gold"}}`, "plan=gold"},
		{"a property after an unknown field", "properties[plan]=gold&plan=x", `{"properties": {"plan": "gold"}, "plan": "x"}`, "plan=gold"},
		{"an empty property", "properties[plan]=&plan=gold", `{"properties": {"plan": null}, "plan": "gold"}`, "plan=gold"},
		{"properties that are a value", "properties=x", `{"properties": "x"}`, "properties=x"},
		{"a large number", "plan=12345678901234567890", `{"properties": {"plan": 12345678901234567890}}`, "number"},
		{"a boolean", "plan=true", `{"properties": {"plan": true}}`, "true"},
		{"an object", "plan.name=gold", `{"plan": {"name": "gold", "other": {"deep": [1, {}]}}}`, "nested"},
		{"a list", `plan=["a","b"]`, `{"plan": [ "a", "b" ]}`, "list"},
		{"other letters", "properties[ünï[x]]=ß%26%3D", `{"ünï[x]": "ß&="}`, "é"},
		{"a long name", longest + "=x", `{"` + longest + `": "x"}`, "longest-name"},
		{"a time", "currentTime=2019-01-01T00:00:00Z", `{"currentTime": "2019-01-01T00:00:00Z"}`, "-now past"},
		{"an address", "remoteAddress=9.9.9.9", `{"remoteAddress": "9.9.9.9"}`, "-address address-given"},
		{"an environment", "environment=x", `{"environment": "x"}`, "-environment=default"},
		{"several values", "userId=7&userId=8", `{"userId": "7"}`, "userId=7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.Fields(always)
			for name := range strings.FieldsSeq(tt.want) {
				if without, removed := strings.CutPrefix(name, "-"); removed {
					want = slices.DeleteFunc(want, func(s string) bool { return s == without })
				} else {
					want = append(want, name)
				}
			}
			slices.Sort(want)
			query, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := on(t, h, "GET", "/api/frontend?"+query.Encode(), ""); got != strings.Join(want, " ") {
				t.Errorf("GET: %q, want %q", got, want)
			}
			if got := on(t, h, "POST", "/api/frontend?"+query.Encode(), ""); got != strings.Join(want, " ") {
				t.Errorf("POST without a body: %q, want %q", got, want)
			}
			if got := on(t, h, "POST", "/api/frontend", `{"context": `+tt.context+`}`); got != strings.Join(want, " ") {
				t.Errorf("POST: %q, want %q", got, want)
			}
		})
	}
	if got := on(t, h, "POST", "/api/frontend?userId=8&plan=gold", `{"context": {"userId": "7"}}`); got != "address environment=default now plan=gold session userId=7" {
		t.Errorf("a query and a body: %q", got)
	}
	if got := on(t, h, "GET", "/api/frontend", "", "X-Forwarded-For: 9.9.9.9", "Forwarded: for=9.9.9.9", "X-Real-IP: 9.9.9.9"); got != always {
		t.Errorf("with addresses in headers: %q", got)
	}
}

// TestOddContexts sends contexts with odd parts. The others decide, as they do without the odd ones, in each form of a request.
func TestOddContexts(t *testing.T) {
	f := newFixture()
	f.addStrategies("for-7", constrained("userId", "7"))
	f.addStrategies("gold", constrained("plan", "gold"))
	f.addStrategies("emoji", constrained("nick", "Zoe \uFFFD"))
	h := f.handler(httpapi.Config{})
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for _, odd := range []string{
		`"x": null`, `"x": 1.0`, `"x": []`, `"x": "\ud83d"`, "\"x\": \"\xff\"", `"\ud83d": 1, "\ud83e": 2`, `"x": 1, "x": 2`, `"x": ["\ud83d", "` + "\xff" + `"]`, `"x": ` + deep, `"x": 1e999`, `"x": ""`,
		`"currentTime": "yesterday"`, `"remoteAddress": 5`, `"sessionId": null`, `"properties": null`, `"properties": "x"`, `"properties": {"y": {"z": "\ud83d"}}`, `"targetingKey": "\udc00"`, `"environment": {}`,
	} {
		context := `{"userId": 7, ` + odd + `, "plan": "gold"}`
		for _, body := range []string{`{"context": ` + context + `}`, context, `{"context": null, ` + context[1:]} {
			if got := on(t, h, "POST", "/api/frontend", body); got != "for-7 gold" {
				t.Errorf("%.200s: %q", body, got)
			}
		}
		for _, key := range []string{"for-7", "gold"} {
			w := call(h, "POST", ofrepOne+key, `{"context": `+context+`}`, "Authorization: client")
			if got := decoded[answers.OfrepEvaluation](t, w, 200); string(got.Value) != "true" {
				t.Errorf("%s with %.200s: %s", key, context, got.Value)
			}
		}
	}
	for body, want := range map[string]string{
		`{"nick": "Zoe \ud83d"}`:                                   "emoji",
		`{"context": {"properties": {"nick": "Zoe \ud83d"}}}`:      "emoji",
		`{"context": {"userId": "7"}, "plan": "gold"}`:             "for-7", // of a wrapped context, only its own fields
		`{"userId": "7", "context": {}}`:                           "",
		`{"context": {"userId": "8"}, "context": {"userId": "7"}}`: "for-7",
		`{"context": {"userId": 7.0}}`:                             "for-7",
		`null`:                                                     "", ` null `: "", `{"context": null}`: "", `{}`: "", `{"context": []}`: "", `{"context": [ ]}`: "",
	} {
		if got := on(t, h, "POST", "/api/frontend", body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	for query, want := range map[string]string{
		"userId=7&x=%zz": "for-7", "userId=7&x=a;b": "for-7", "x=%&userId=7;": "", "nick=Zoe+%ff": "emoji", "nick=Zoe%20%F0%9F": "emoji", "=&&userId=7": "for-7",
		"properties[x]=%5&properties[plan]=gold": "gold", "%zz=1&plan=gold": "gold",
	} {
		if got := on(t, h, "GET", "/api/frontend?"+query, ""); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestFrontendErrors checks refusals. A page must be able to read them.
func TestFrontendErrors(t *testing.T) {
	f := newFixture()
	f.add("default", "plain", nil)
	h := f.handler(httpapi.Config{})
	tests := []struct {
		name, method, target, body, token string
		status                            int
		message                           string
	}{
		{"no token", "GET", "/api/frontend", "", "", 401, "This endpoint requires an API token"},
		{"unknown token", "GET", "/api/frontend", "", "nonsense", 401, "This endpoint requires an API token"},
		{"client token", "GET", "/api/frontend", "", "client", 403, "invalid token: expected a different token type"},
		{"personal token", "GET", "/api/frontend", "", "personal", 403, "invalid token: expected a different token type"},
		{"no token and a bad body", "POST", "/api/frontend", "{", "", 401, "This endpoint requires an API token"},
		{"broken JSON", "POST", "/api/frontend", `{"context": {"userId": }}`, "frontend", 400, "not valid JSON"},
		{"cut off", "POST", "/api/frontend", `{"context": {"userId"`, "frontend", 400, "not valid JSON"},
		{"more text", "POST", "/api/frontend", `{"context": {}} x`, "frontend", 400, "not valid JSON"},
		{"a list", "POST", "/api/frontend", `[]`, "frontend", 400, "the body must be an object"},
		{"a text", "POST", "/api/frontend", `"userId=7"`, "frontend", 400, "the body must be an object"},
		{"a number", "POST", "/api/frontend", `7`, "frontend", 400, "the body must be an object"},
		{"a context that is a list", "POST", "/api/frontend", `{"context": [1], "userId": "7"}`, "frontend", 400, "context must be an object"},
		{"a context that is a text", "POST", "/api/frontend", `{"context": "x"}`, "frontend", 400, "context must be an object"},
		{"too many properties", "POST", "/api/frontend", `{"context": ` + manyProperties(1001) + `}`, "frontend", 400, "more than 1000 properties"},
		{"too large", "POST", "/api/frontend", `{"context": {"x": "` + strings.Repeat("x", answers.MaxContextBody) + `"}}`, "frontend", 413, "larger than 256 KiB"},
		{"features", "GET", "/api/frontend/features", "", "frontend", 404, ""},
		{"all", "GET", "/api/frontend/all", "", "frontend", 404, ""},
		{"proxy", "GET", "/api/proxy", "", "frontend", 404, ""},
		{"PUT", "PUT", "/api/frontend", "{}", "frontend", 404, ""},
		{"GET of OFREP", "GET", "/ofrep/v1/evaluate/flags", "", "frontend", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := call(h, tt.method, tt.target, tt.body, "Authorization: "+tt.token, "Origin: https://app.example")
			body := decoded[struct{ ID, Name, Message string }](t, w, tt.status)
			if !strings.Contains(body.Message, tt.message) || body.ID == "" || body.Name == "" {
				t.Errorf("the body is %s, want %q", w.Body, tt.message)
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("ETag") != "" {
				t.Errorf("the headers are %v", w.Header())
			}
		})
	}
	if w := call(h, "POST", "/api/frontend", "{}", "Authorization: frontend", "Content-Type: text/plain"); w.Code != 415 {
		t.Errorf("text: status %d, want 415", w.Code)
	}
}

func manyProperties(n int) string {
	properties := map[string]string{}
	for i := range n {
		properties[fmt.Sprint("property-", i)] = "value"
	}
	text, err := json.Marshal(properties)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestFrontendETag checks that an ETag changes when the answer to this token changes, and not otherwise.
func TestFrontendETag(t *testing.T) {
	f := newFixture()
	f.addStrategies("for-7", constrained("userId", "7"))
	f.add("default", "plain", nil)
	h := f.handler(httpapi.Config{})
	get := func(target, etag string) (status int, newETag string) {
		w := call(h, "GET", target, "", "Authorization: frontend", "If-None-Match: "+etag)
		if w.Code == http.StatusNotModified && (w.Body.Len() > 0 || w.Header().Get("Content-Type") != "" || w.Header().Get("Cache-Control") != "no-cache") {
			t.Errorf("a 304 has the body %q and the headers %v", w.Body, w.Header())
		}
		return w.Code, w.Header().Get("ETag")
	}
	_, seven := get("/api/frontend?userId=7", "")
	if len(seven) != len(`W/"`)+32+1 {
		t.Errorf("the ETag is %s", seven)
	}
	check := func(what, target, etag string, want int) string {
		t.Helper()
		status, newETag := get(target, etag)
		if status != want {
			t.Errorf("%s: status %d, want %d", what, status, want)
		}
		return newETag
	}
	check("unchanged", "/api/frontend?userId=7", seven, 304)
	check("strong", "/api/frontend?userId=7", strings.TrimPrefix(seven, "W/"), 304)
	check("in a list", "/api/frontend?userId=7", `"x", `+seven, 304)
	check("another user", "/api/frontend?userId=8", seven, 200)
	f.add("other", "other-project", nil)
	check("a flag of another project", "/api/frontend?userId=7", seven, 304)
	f.next(func(s *State) {
		changed := *s.Flags["plain"].Feature
		changed.Description = new("other")
		changed.Version++
		s.Flags["plain"] = &Flag{Feature: &changed, Changed: s.Number}
	})
	check("a description", "/api/frontend?userId=7", seven, 304)
	f.add("default", "plain", func(feature *flags.Feature, fe *flags.FeatureEnvironment) {
		fe.Strategies = []flags.Strategy{{Name: "default"}}
		feature.ImpressionData = true
	})
	seven = check("impression data", "/api/frontend?userId=7", seven, 200)
	f.add("default", "new", nil)
	seven = check("a new flag", "/api/frontend?userId=7", seven, 200)
	f.next(func(s *State) { delete(s.Flags, "new") })
	check("a flag that is gone", "/api/frontend?userId=7", seven, 200)
	if w := call(h, "POST", "/api/frontend", `{"context": {"userId": "7"}}`, "Authorization: frontend", "If-None-Match: *"); w.Code != 304 {
		t.Errorf("POST: status %d, want 304", w.Code)
	}
	if w := call(h, "HEAD", "/api/frontend?userId=7", "", "Authorization: frontend"); w.Code != 200 {
		t.Errorf("HEAD: status %d, want 200", w.Code)
	}
}

// TestSwitches follows the changes of flags, segments, projects and environments. Each must be seen by the next request.
func TestSwitches(t *testing.T) {
	f := newFixture()
	f.add("default", "plain", nil)
	f.addSegment(evaluate.Segment{ID: 1, Constraints: []evaluate.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"7"}}}})
	f.addStrategies("with-segment", flags.Strategy{Name: "default", Segments: []int64{1}})
	f.add("default", "child", func(feature *flags.Feature, fe *flags.FeatureEnvironment) {
		fe.Strategies = []flags.Strategy{{Name: "default"}}
		feature.Dependencies = []flags.Dependency{{Feature: "plain", Enabled: true}}
	})
	h := f.handler(httpapi.Config{})
	expect := func(what, want string) {
		t.Helper()
		if got := on(t, h, "GET", "/api/frontend?userId=7", ""); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	expect("at first", "child plain with-segment")
	f.addSegment(evaluate.Segment{ID: 1, Constraints: []evaluate.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"8"}}}})
	expect("another segment", "child plain")
	f.addSegment(evaluate.Segment{ID: 1})
	expect("an empty segment", "child plain with-segment")
	f.next(func(s *State) { delete(s.Segments, 1) })
	expect("a missing segment", "child plain")
	f.add("default", "plain", func(_ *flags.Feature, fe *flags.FeatureEnvironment) { fe.EnabledIn = "" })
	expect("the parent is off", "")
	f.add("default", "plain", nil)
	expect("the parent is on again", "child plain")
	f.next(func(s *State) { delete(s.Flags, "child") })
	expect("archived", "plain")
	f.add("default", "aaa", nil)
	f.add("default", "zzz", nil)
	expect("new flags", "aaa plain zzz")
	project := f.project("default")
	f.next(func(s *State) {
		detached := project.Clone()
		detached.Detach(f.env("default", "development"))
		s.Projects["default"] = detached
	})
	expect("the project has the environment no more", "")
	f.next(func(s *State) { s.Projects["default"] = project })
	expect("the project has it again", "aaa plain zzz")
	f.next(func(s *State) { s.Epoch, s.Number = "other", 1; delete(s.Flags, "aaa") })
	expect("another epoch with a lower number", "plain zzz")
	f.next(func(s *State) { delete(s.Projects, "default") })
	if w := call(h, "GET", "/api/frontend", "", "Authorization: frontend"); w.Code != 401 {
		t.Errorf("the project was deleted: status %d, want 401", w.Code)
	}
}

// TestSets checks which parts of a Set are taken over, and how many Sets are kept.
func TestSets(t *testing.T) {
	f := newFixture()
	f.add("default", "one", nil)
	f.add("default", "two", nil)
	environment := f.state.Environments.Find("development")
	responder := answers.NewResponder(answers.Options{})
	encode := func(set *answers.Set) {
		if _, err := responder.Features(set, answers.Scope{All: true}, answers.Query{}, answers.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(s *sets, environment *flags.Environment) *answers.Set {
		set := s.of(f.state, environment)
		encode(set)
		return set
	}
	kept := sets{max: 1 << 20}
	first := count(&kept, environment)
	size := first.Size()
	if size == 0 {
		t.Fatal("a Set with encoded flags has no size")
	}
	old := f.state
	f.add("default", "two", nil)
	second := kept.of(f.state, environment)
	if left := second.Size(); left == 0 || left >= size {
		t.Errorf("after one of two flags changed, %d of %d bytes are taken over", left, size)
	}
	if kept.of(old, environment) != second {
		t.Error("a request with an older state does not get the newer flags")
	}
	f.next(func(s *State) { s.Flags["one"] = &Flag{Feature: s.Flags["one"].Feature, Changed: s.Number} })
	encode(second)
	if third := kept.of(f.state, environment); third == second || third.Size() != second.Size() {
		t.Errorf("a flag that was only marked as changed is encoded again: %d and %d bytes", third.Size(), second.Size())
	}
	named := func(i int) *flags.Environment {
		return &flags.Environment{Name: fmt.Sprint("environment-", i), UID: fmt.Sprint(i)}
	}
	kept = sets{max: 3 * count(&sets{}, named(0)).Size()}
	for i := range 10 {
		count(&kept, named(i))
		if n := len(kept.list); n != min(i+1, 4) { // the last one is kept at any size
			t.Fatalf("%d Sets are kept after %d", n, i+1)
		}
	}
	if last := kept.list[len(kept.list)-1]; last.environment != "environment-9 9" {
		t.Errorf("the Set that was used last is not kept, but %s", last.environment)
	}
}
