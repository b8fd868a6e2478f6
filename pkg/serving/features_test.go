package serving

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// recorded has the flags whose answers were recorded from Unleash 5.12.8 (shared design, sdk-wire).
func recorded(t testing.TB) *world {
	w := newWorld(t)
	add := func(name string, kind flags.FeatureType) {
		w.addFlag("default", name, func(f *flags.Feature) {
			description := "d of " + name
			f.Type, f.Description = kind, &description
		})
	}
	w.setSegment(3, func(s *flags.Segment) {
		s.Name, s.Constraints = "dif-sdk-segment", []flags.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"7", "8"}}}
	})
	add("dif-sdk-on", flags.Release)
	first := w.strategy("dif-sdk-on")
	first.Constraints = []flags.Constraint{{ContextName: "appName", Operator: "NOT_IN", Values: []string{"nobody"}}}
	w.on("dif-sdk-on", "development", first)
	w.on("dif-sdk-on", "development", flags.Strategy{ID: w.newID(), Name: "default", SortOrder: 1, Segments: []int64{3}, Parameters: map[string]string{}})
	w.on("dif-sdk-on", "development", flags.Strategy{ID: w.newID(), Name: "default", SortOrder: 2, Disabled: true})
	add("dif-sdk-off", "kill-switch")
	add("dif-sdk-variants", "experiment")
	with := w.strategy("dif-sdk-variants")
	with.Variants = []flags.Variant{{Name: "sv", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "from-strategy"}}}
	w.on("dif-sdk-variants", "development", with)
	w.changeFlag("dif-sdk-variants", func(f *flags.Feature) {
		f.ImpressionData = true
		f.SetVariants(w.environment("default", "development"), []flags.Variant{
			{Name: "a", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "json", Value: `{"x":1}`}, Overrides: []flags.Override{{ContextName: "userId", Values: []string{"9"}}}},
			{Name: "b", WeightType: flags.Variable, Stickiness: "default"},
		})
	})
	add("dif-sdk-child", flags.Release)
	w.on("dif-sdk-child", "development", flags.Strategy{ID: w.newID(), Name: "userWithId", Parameters: map[string]string{"userIds": "1,2"}})
	if err := w.changeFlags(func(f []*flags.Feature) error {
		return f[0].SetDependency(f[1], flags.Dependency{Feature: "dif-sdk-on", Enabled: true}, nil)
	}, "dif-sdk-child", "dif-sdk-on"); err != nil {
		t.Fatal(err)
	}
	return w
}

const (
	recordedOn = `{"name": "dif-sdk-on", "type": "release", "enabled": true, "project": "default", "stale": false, "strategies": [{"name": "flexibleRollout", "constraints": [{"values": ["nobody"], "inverted": false, "operator": "NOT_IN", "contextName": "appName", "caseInsensitive": false}], "parameters": {"groupId": "dif-sdk-on", "rollout": "100", "stickiness": "default"}, "variants": []}, {"name": "default", "constraints": [%s], "parameters": {}, "variants": []%s}], "variants": [], "description": "d of dif-sdk-on", "impressionData": false}`

	recordedOff = `{"name": "dif-sdk-off", "type": "kill-switch", "enabled": false, "project": "default", "stale": false, "strategies": [], "variants": [], "description": "d of dif-sdk-off", "impressionData": false}`

	recordedVariants = `{"name": "dif-sdk-variants", "type": "experiment", "enabled": true, "project": "default", "stale": false, "strategies": [{"name": "flexibleRollout", "constraints": [], "parameters": {"groupId": "dif-sdk-variants", "rollout": "100", "stickiness": "default"}, "variants": [{"name": "sv", "weight": 1000, "payload": {"type": "string", "value": "from-strategy"}, "stickiness": "default", "weightType": "variable"}]}], "variants": [{"name": "a", "weight": 500, "payload": {"type": "json", "value": "{\"x\":1}"}, "overrides": [{"values": ["9"], "contextName": "userId"}], "stickiness": "default", "weightType": "variable"}, {"name": "b", "weight": 500, "stickiness": "default", "weightType": "variable"}], "description": "d of dif-sdk-variants", "impressionData": true}`

	recordedChild = `{"name": "dif-sdk-child", "type": "release", "enabled": true, "project": "default", "stale": false, "strategies": [{"name": "userWithId", "constraints": [], "parameters": {"userIds": "1,2"}, "variants": []}], "variants": [], "description": "d of dif-sdk-child", "impressionData": false, "dependencies": [{"feature": "dif-sdk-on", "enabled": true, "variants": []}]}`

	// Unleash leaves out the members of a segment's constraint that the caller did not send; Guidon has them all.
	segmentConstraint = `{"values": ["7", "8"], "operator": "IN", "contextName": "userId", "caseInsensitive": false, "inverted": false}`
	recordedSegments  = `"segments": [{"id": 3, "name": "dif-sdk-segment", "constraints": [` + segmentConstraint + `]}], `
)

// TestRecordedAnswers compares answers with those of Unleash 5.12.8, except for the order of the flags and the meta.
func TestRecordedAnswers(t *testing.T) {
	w := recorded(t)
	w.addFlag("default", "another", nil)
	w.addProject("other")
	w.addFlag("other", "dif-sdk-other", nil)
	c := w.client(w.token("t", "default"), w.token("star"))
	withIDs, inlined := fmt.Sprintf(recordedOn, "", `, "segments": [3]`), fmt.Sprintf(recordedOn, segmentConstraint, "")
	list := func(features ...string) string { return `"features": [` + strings.Join(features, ",") + `]` }
	adminOff := func(feature string) string { // as the admin token without an environment gets it
		var f map[string]any
		if err := json.Unmarshal([]byte(feature), &f); err != nil {
			t.Fatal(err)
		}
		f["enabled"], f["strategies"], f["variants"] = false, []any{}, []any{}
		b, _ := json.Marshal(f)
		return string(b)
	}
	for _, tt := range []struct{ name, path, token, spec, want string }{
		{"with segments", "?namePrefix=dif-sdk", "t", newSpec, list(recordedChild, recordedOff, withIDs, recordedVariants) +
			`, ` + recordedSegments + `"query": {"project": ["default"], "namePrefix": "dif-sdk", "environment": "development", "inlineSegmentConstraints": false}`},
		{"inlined", "?namePrefix=dif-sdk", "t", "", list(recordedChild, recordedOff, inlined, recordedVariants) +
			`, "query": {"project": ["default"], "namePrefix": "dif-sdk", "environment": "development", "inlineSegmentConstraints": true}`},
		{"project and tag", "?project=default&namePrefix=dif-sdk&tag=simple%3Adif-none", "t", newSpec, list() +
			`, ` + recordedSegments + `"query": {"tag": [["simple", "dif-none"]], "project": ["default"], "namePrefix": "dif-sdk", "environment": "development", "inlineSegmentConstraints": false}`},
		{"admin", "?namePrefix=dif-sdk&project=default", "admin", newSpec, list(adminOff(recordedChild), adminOff(withIDs), recordedOff, adminOff(recordedVariants)) +
			`, ` + recordedSegments + `"query": {"project": ["default"], "namePrefix": "dif-sdk", "inlineSegmentConstraints": false}`},
		{"all projects", "?namePrefix=dif-sdk-of&environment=production", "star", newSpec, list(recordedOff) +
			`, ` + recordedSegments + `"query": {"namePrefix": "dif-sdk-of", "environment": "development", "inlineSegmentConstraints": false}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := c.get("/api/client/features"+tt.path, tt.token, "Unleash-Client-Spec", tt.spec)
			etag := answer.Header().Get("ETag")
			var got, want map[string]any
			c.decode(answer, &got)
			if err := json.Unmarshal([]byte(`{"version": 2, `+tt.want+`}`), &want); err != nil {
				t.Fatal(err)
			}
			meta := got["meta"].(map[string]any)
			if meta["etag"] != etag || meta["revisionId"] != float64(w.state.Number) || len(meta["queryHash"].(string)) != 8 || len(meta) != 3 {
				t.Errorf("meta %v with the ETag %s at %d", meta, etag, w.state.Number)
			}
			delete(got, "meta")
			for _, answer := range []map[string]any{got, want} {
				slices.SortFunc(answer["features"].([]any), func(a, b any) int {
					return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
				})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFeature answers with one flag.
func TestFeature(t *testing.T) {
	w := recorded(t)
	w.addProject("other")
	w.addFlag("other", "secret", nil)
	w.addFlag("default", "archived", nil)
	w.changeFlag("archived", func(f *flags.Feature) { f.Archived = true })
	c := w.client(w.token("t", "default"))
	answer := c.get("/api/client/features/dif-sdk-variants", "t")
	var got, want any
	etag := answer.Header().Get("ETag")
	c.decode(answer, &got)
	_ = json.Unmarshal([]byte(recordedVariants), &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := c.get("/api/client/features/dif-sdk-variants", "t", "If-None-Match", etag); again.Code != http.StatusNotModified {
		t.Errorf("the same again: %d", again.Code)
	}
	for _, name := range []string{"none", "secret", "archived"} {
		answer := c.get("/api/client/features/"+name, "t")
		_, body, _ := strings.Cut(answer.Body.String(), ",") // without the id
		want := `"name":"NotFoundError","message":"there is no flag \"` + name + `\", or the token gives no access to it"}`
		if answer.Code != http.StatusNotFound || body != want {
			t.Errorf("%s: %d %s, want %s", name, answer.Code, body, want)
		}
	}
}

func TestFilters(t *testing.T) {
	w := newWorld(t)
	w.addProject("other")
	tags := func(tags ...flags.Tag) func(*flags.Feature) {
		return func(f *flags.Feature) {
			if err := f.ChangeTags(tags, nil, flags.DefaultLimits()); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, two := flags.Tag{Type: "simple", Value: "one"}, flags.Tag{Type: "simple", Value: "two:2"}
	w.addFlag("default", "a", tags(one))
	w.addFlag("default", "ab", tags(two))
	w.addFlag("other", "abc", tags(one, two))
	w.addFlag("other", "b", nil)
	w.on("b", "production", w.strategy("b"))
	c := w.client(w.token("t", "default"), w.token("both", "default", "other"), w.token("star"),
		testToken(access.ClientToken, "any", flags.All), testToken(access.FrontendToken, "frontend", "development"))
	for _, tt := range []struct{ query, token, want string }{
		{"", "t", "a ab"},
		{"", "star", "a ab abc b"},
		{"namePrefix=ab", "star", "ab abc"},
		{"namePrefix=a%25", "star", ""}, // not a pattern, as it is in Unleash
		{"namePrefix=c", "star", ""},
		{"namePrefix=", "star", "a ab abc b"},
		{"tag=simple:one", "star", "a abc"},
		{"tag=simple:one&tag=simple:two:2", "star", "a ab abc"}, // one of them, as in Unleash
		{"tag=simple:one&namePrefix=ab", "star", "abc"},
		{"tag=none:one", "star", ""},
		{"project=other", "star", "abc b"},
		{"project=other&project=default&project=none", "star", "a ab abc b"},
		{"project=none", "star", ""},
		{"project=*", "star", "a ab abc b"},
		{"project=", "star", "a ab abc b"},
		{"project=other", "t", "a ab"}, // the token settles the projects, as in Unleash
		{"project=other", "both", "a ab abc b"},
		{"environment=production", "star", "a ab abc b"}, // and the environment
		{"environment=production", "any", "a ab abc b+"},
		{"environment=production", "admin", "a ab abc b+"},
		{"environment=none", "admin", "a ab abc b"},
		{"unknown=x&unknown=y", "star", "a ab abc b"},
	} {
		if got := c.names(c.get("/api/client/features?"+tt.query, tt.token)); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.token, tt.query, got, tt.want)
		}
	}
}

// TestBadRequests are refused with a 400 that names the parameter, at any size.
func TestBadRequests(t *testing.T) {
	w := newWorld(t)
	c := w.client(w.token("t"))
	for _, tt := range []struct{ query, spec, want string }{
		{"namePrefix=a&namePrefix=b", newSpec, `must appear once, but appears 2 times`},
		{"environment=a&environment=b", newSpec, `must appear once, but appears 2 times`},
		{"namePrefix=" + strings.Repeat("a", 101), newSpec, `"path":"/namePrefix"`},
		{"environment=" + strings.Repeat("a", 101), newSpec, `"path":"/environment"`},
		{"tag=simple", newSpec, "with a colon between them"},
		{"tag=simple:", newSpec, "with a colon between them"},
		{"tag=:one", newSpec, "with a colon between them"},
		{strings.Repeat("tag=simple:a&", 101), newSpec, "must have at most 100 values"},
		{strings.Repeat("project=a&", 101), newSpec, "must have at most 100 values"},
		{strings.Repeat("tag=simple:a&", 5_000), newSpec, "must have at most 16384 bytes"},
		{strings.Repeat("a=b&", 10_000), newSpec, "must have at most 16384 bytes"},
		{"namePrefix=" + strings.Repeat("a", 100_000), newSpec, "must have at most 16384 bytes"},
		{"namePrefix=%ff", newSpec, "/namePrefix: must be valid UTF-8"},
		{"environment=%ff", newSpec, "/environment: must be valid UTF-8"},
		{"project=a&project=%ff", newSpec, "/project: must be valid UTF-8"},
		{"tag=simple:%ff", newSpec, "/tag: must be valid UTF-8"},
		{"tag=simple:%c3&tag=%a9:b", newSpec, "/tag: must be valid UTF-8"},
		{"", "5", `Invalid SemVer in the Unleash-Client-Spec header: \"5\"`},
		{"", "4.2", "Invalid SemVer"},
		{"", "v5.0.0", "Invalid SemVer"},
		{"", "garbage", "Invalid SemVer"},
		{"", "05.0.0", "Invalid SemVer"},
		{"", "5.0.0-" + strings.Repeat("a", 10_000), "Invalid SemVer"},
	} {
		for _, path := range []string{"/api/client/features?", "/api/client/delta?", "/api/client/features/x?"} {
			answer := c.get(path+tt.query, "t", "Unleash-Client-Spec", tt.spec)
			if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), tt.want) || answer.Body.Len() > 1000 {
				t.Errorf("%s %.60s %.30s: %d %.1000s, want %s", path, tt.query, tt.spec, answer.Code, answer.Body, tt.want)
			}
			if answer := c.get(path+tt.query, "unknown", "Unleash-Client-Spec", tt.spec); answer.Code != http.StatusUnauthorized {
				t.Errorf("%.60s with an unknown token: %d", tt.query, answer.Code)
			}
		}
	}
}

// TestClientSpec inlines segments for clients of a specification before 4.2.0.
func TestClientSpec(t *testing.T) {
	w := recorded(t)
	c := w.client(w.token("t"))
	for spec, want := range map[string]bool{
		"": true, "3.0.0": true, "4.1.9": true, "4.2.0-beta": true, "4.2.0": false, "6.1.0": false, "4.3.0-rc.1": false, "99999999999.0.0": false,
	} {
		var answer struct {
			Segments *[]any
			Query    struct{ InlineSegmentConstraints bool }
		}
		c.decode(c.get("/api/client/features", "t", "Unleash-Client-Spec", spec), &answer)
		if answer.Query.InlineSegmentConstraints != want || (answer.Segments == nil) != want {
			t.Errorf("%q: inlined %t, segments %v, want %t", spec, answer.Query.InlineSegmentConstraints, answer.Segments, want)
		}
	}
}

// TestEncodings are compressed if the caller accepts that, except for short ones.
func TestEncodings(t *testing.T) {
	w := recorded(t)
	c := w.client(w.token("t"))
	for _, tt := range []struct{ path, accept, want string }{
		{"/api/client/features", "gzip, deflate", "gzip"},
		{"/api/client/features", "", ""},
		{"/api/client/features", "gzip;q=0", ""},
		{"/api/client/features?namePrefix=none", "gzip", ""},
		{"/api/client/delta", "gzip", "gzip"},
		{"/api/client/delta?namePrefix=none", "gzip", ""},
	} {
		for range 2 { // made, and kept
			answer := c.get(tt.path, "t", "Accept-Encoding", tt.accept)
			if got := answer.Header().Get("Content-Encoding"); got != tt.want || answer.Header().Get("Content-Length") != fmt.Sprint(answer.Body.Len()) {
				t.Errorf("%s accepts %q: %q, %v, %d bytes; want %q", tt.path, tt.accept, got, answer.Header(), answer.Body.Len(), tt.want)
			}
			c.decode(answer, &map[string]any{})
		}
	}
}

// TestMissingSegment matches no user: a strategy without its constraints would match everyone.
func TestMissingSegment(t *testing.T) {
	w := newWorld(t)
	w.addFlag("default", "a", nil)
	w.on("a", "development", w.strategy("a", 9))
	c := w.client(w.token("t"))
	if body := c.get("/api/client/features", "t", "Unleash-Client-Spec", "").Body.String(); !strings.Contains(body, `"operator":"IN","caseInsensitive":false,"inverted":false,"values":[]`) {
		t.Errorf("%s", body)
	}
	w.setSegment(9, func(s *flags.Segment) {
		s.Constraints = []flags.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"found"}}}
	})
	if body := c.get("/api/client/features", "t", "Unleash-Client-Spec", "").Body.String(); !strings.Contains(body, `"values":["found"]`) {
		t.Errorf("%s", body)
	}
}

// TestDisabledStrategies serves a flag that is enabled with disabled strategies only as disabled: SDKs would evaluate it as on
// for everyone.
func TestDisabledStrategies(t *testing.T) {
	w := newWorld(t)
	w.addFlag("default", "a", nil)
	disabled := w.strategy("a")
	disabled.Disabled = true
	w.on("a", "development", disabled)
	c := w.client(w.token("t"))
	if got := c.names(c.get("/api/client/features", "t")); got != "a" {
		t.Errorf("%s", got)
	}
}

// TestTooLarge refuses an answer that Lambda cannot return, and says what to do.
func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	for i := range 110 {
		w.addFlag("default", fmt.Sprintf("f%03d", i), nil)
		s := w.strategy("f")
		s.Parameters["userIds"] = strings.Repeat(fmt.Sprint(i, ","), 60_000/len(fmt.Sprint(i, ",")))
		w.on(fmt.Sprintf("f%03d", i), "development", s)
	}
	c := w.client(w.token("t"))
	for _, path := range []string{"/api/client/features", "/api/client/delta"} {
		for range 2 {
			plain := c.get(path, "t")
			if plain.Code != http.StatusRequestEntityTooLarge || !strings.Contains(plain.Body.String(), "namePrefix") || !strings.Contains(plain.Body.String(), "gzip") || plain.Header().Get("ETag") != "" {
				t.Errorf("%s: %d %.500s", path, plain.Code, plain.Body)
			}
			if compressed := c.get(path, "t", "Accept-Encoding", "gzip"); compressed.Code != http.StatusOK {
				t.Errorf("%s compressed: %d %.500s", path, compressed.Code, compressed.Body)
			}
			if fewer := c.get(path+"?namePrefix=f00", "t"); fewer.Code != http.StatusOK {
				t.Errorf("%s with a filter: %d %.500s", path, fewer.Code, fewer.Body)
			}
		}
	}
}

// TestOpen serves everything without a token with AUTH_TYPE=none.
func TestOpen(t *testing.T) {
	w := newWorld(t)
	w.addProject("other")
	w.addFlag("default", "a", nil)
	w.addFlag("other", "b", nil)
	w.on("b", "development", w.strategy("b"))
	c := w.configured(httpapi.Config{Open: true}, w.token("t", "other"))
	for _, tt := range []struct{ query, token, want string }{
		{"", "", "a b"}, {"?environment=development", "", "a b+"}, {"?environment=development", "unknown", "a b+"}, {"", "t", "b+"},
	} {
		if got := c.names(c.get("/api/client/features"+tt.query, tt.token)); got != tt.want {
			t.Errorf("%q %q: %q, want %q", tt.query, tt.token, got, tt.want)
		}
	}
}

// TestLongDescriptions has so many flags with the longest descriptions that these alone would exceed what Lambda can return.
func TestLongDescriptions(t *testing.T) {
	w := newWorld(t)
	description := strings.Repeat("\U0001F600", flags.MaxDescription)
	const count = (6 << 20) / (4 * flags.MaxDescription)
	for i := range count + 1 {
		w.addFlag("default", fmt.Sprint("flag-", i), func(f *flags.Feature) { f.Description = &description })
	}
	c := w.client(w.token("t", "default"))
	for _, path := range []string{"/api/client/features", "/api/client/features/flag-0", "/api/client/delta"} {
		answer := c.get(path, "t")
		if answer.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
		}
		want := fmt.Sprintf(`"description":"%s"`, strings.Repeat("\U0001F600", flags.MaxServedDescription))
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s does not have the beginning of the description: %.1000s", path, answer.Body)
		}
	}
}

// TestTypedFlags checks that SDKs get the same bytes for a flag with a type, and that only deltas tell it.
func TestTypedFlags(t *testing.T) {
	w := newWorld(t)
	w.addFlag("default", "f", nil)
	c := w.client(w.token("t", "default"))
	body := func(path string) string {
		t.Helper()
		answer := c.get(path, "t")
		if answer.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, answer.Code)
		}
		before, _, _ := strings.Cut(answer.Body.String(), `,"meta":`) // which has the revision
		return before
	}
	paths := []string{"/api/client/features", "/api/client/features?inlineSegmentConstraints=true", "/api/client/features/f"}
	before := map[string]string{}
	for _, path := range paths {
		before[path] = body(path)
	}
	untyped := body("/api/client/delta")
	w.changeFlag("f", func(f *flags.Feature) {
		f.Typing = flags.Typing{ValueType: flags.ObjectValue, DefaultValue: []byte(`{"size":1}`)}
	})
	if delta := body("/api/client/delta"); !strings.Contains(delta, `"valueType":"object","defaultValue":{"size":1}`) || strings.Contains(untyped, "Value") {
		t.Errorf("the delta is %s, and was %s", delta, untyped)
	}
	for _, path := range paths {
		if now := body(path); now != before[path] {
			t.Errorf("%s: %s, want %s", path, now, before[path])
		}
	}
}
