package serving

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	ofrepOne = "/ofrep/v1/evaluate/flags/"
	ofrepAll = "/ofrep/v1/evaluate/flags"

	ofrepStatic    = "STATIC"
	ofrepTargeting = "TARGETING_MATCH"
	ofrepSplit     = "SPLIT"
	ofrepDisabled  = "DISABLED"
	ofrepUnknown   = "UNKNOWN"

	codeFlagNotFound   = "FLAG_NOT_FOUND"
	codeParseError     = "PARSE_ERROR"
	codeInvalidContext = "INVALID_CONTEXT"
	codeGeneral        = "GENERAL"
	seven              = `{"context": {"targetingKey": "7"}}`
)

// withPayload returns variants of which every user gets the first.
func withPayload(kind, value string) []flags.Variant {
	return []flags.Variant{{Name: "first", Weight: 1000, Stickiness: "default", Payload: &flags.Payload{Type: kind, Value: value}}}
}

// rollout returns a strategy for a percentage of users.
func rollout(percentage, stickiness string) flags.Strategy {
	return flags.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": percentage, "stickiness": stickiness, "groupId": "g"}}
}

// TestOFREPAnswers checks the value, reason and variant of flags, alone and in the list of all flags.
func TestOFREPAnswers(t *testing.T) {
	half := []flags.Variant{{Name: "a", Weight: 500, Stickiness: "default"}, {Name: "b", Weight: 500, Stickiness: "default"}}
	everyone, seven8 := flags.Strategy{Name: "default"}, constrained("userId", "8")
	set := func(variants []flags.Variant, strategies ...flags.Strategy) func(*flags.Feature, *flags.FeatureEnvironment) {
		return func(_ *flags.Feature, fe *flags.FeatureEnvironment) {
			fe.Variants, fe.Strategies = variants, strategies
		}
	}
	off := func(variants []flags.Variant) func(*flags.Feature, *flags.FeatureEnvironment) {
		return func(_ *flags.Feature, fe *flags.FeatureEnvironment) {
			fe.Variants, fe.Strategies, fe.EnabledIn = variants, []flags.Strategy{everyone}, ""
		}
	}
	child := func(parent string) func(*flags.Feature, *flags.FeatureEnvironment) {
		return func(f *flags.Feature, fe *flags.FeatureEnvironment) {
			fe.Strategies = []flags.Strategy{everyone}
			f.Dependencies = []flags.Dependency{{Feature: parent, Enabled: true}}
		}
	}
	typed := func(kind flags.ValueType, value string, change func(*flags.Feature, *flags.FeatureEnvironment)) func(*flags.Feature, *flags.FeatureEnvironment) {
		return func(f *flags.Feature, fe *flags.FeatureEnvironment) {
			f.Typing = flags.Typing{ValueType: kind, DefaultValue: jsontext.Value(value)}
			change(f, fe)
		}
	}
	inStrategy := everyone
	inStrategy.Variants = withPayload("string", "of the strategy")
	tests := []struct {
		name, value, variant, reason, decision string
		enabled                                bool
		change                                 func(*flags.Feature, *flags.FeatureEnvironment)
	}{
		{"everyone", "true", "", ofrepStatic, "strategy matched", true, set(nil, everyone)},
		{"off", "false", "", ofrepDisabled, "flag disabled", false, off(nil)},
		{"complete-rollout", "true", "", ofrepStatic, "strategy matched", true, set(nil, rollout("100", "default"))},
		{"complete-rollout-by-user", "true", "", ofrepTargeting, "strategy matched", true, set(nil, rollout("100", "userId"))},
		{"rollout", "true", "", ofrepSplit, "strategy matched", true, set(nil, rollout("99", "default"))},
		{"no-rollout", "false", "", ofrepSplit, "no strategy matched", false, set(nil, rollout("0", "default"))},
		{"constraint", "true", "", ofrepTargeting, "strategy matched", true, set(nil, constrained("userId", "7"))},
		{"other-constraint", "false", "", ofrepTargeting, "no strategy matched", false, set(nil, seven8)},
		{"second-strategy", "true", "", ofrepTargeting, "strategy matched", true, set(nil, seven8, everyone)},
		{"users", "true", "", ofrepTargeting, "strategy matched", true, set(nil, flags.Strategy{Name: "userWithId", Parameters: map[string]string{"userIds": "7,8"}})},
		{"missing-segment", "false", "", ofrepUnknown, "segment unknown", false, set(nil, flags.Strategy{Name: "default", Segments: []int64{9}})},
		{"child-of-off", "false", "", ofrepTargeting, "parent unmet", false, child("off")},
		{"child-of-on", "true", "", ofrepTargeting, "strategy matched", true, child("everyone")},
		{"variants", "true", "b", ofrepSplit, "strategy matched", true, set(half, everyone)},
		{"text", `"<é>"`, "first", ofrepStatic, "strategy matched", true, set(withPayload("string", "<é>"), everyone)},
		{"text-in-strategy", `"of the strategy"`, "first", ofrepStatic, "strategy matched", true, set(withPayload("string", "of the flag"), inStrategy)},
		{"csv", `"a,b"`, "first", ofrepStatic, "strategy matched", true, set(withPayload("csv", "a,b"), everyone)},
		{"number", `-1.5e3`, "first", ofrepStatic, "strategy matched", true, set(withPayload("number", "-1.5e3"), everyone)},
		{"number-with-plus", `5`, "first", ofrepStatic, "strategy matched", true, set(withPayload("number", "+5."), everyone)},
		{"object", `{"a":{"b":[1,null]}}`, "first", ofrepStatic, "strategy matched", true, set(withPayload("json", ` {"a": {"b": [1, null]}} `), everyone)},
		{"list", `[1]`, "first", ofrepStatic, "strategy matched", true, set(withPayload("json", `[1]`), everyone)},
		{"null", ``, "first", ofrepStatic, "strategy matched", true, set(withPayload("json", `null`), everyone)},
		{"not-json", `"{"`, "first", ofrepStatic, "strategy matched", true, set(withPayload("json", `{`), everyone)}, // an import can have it
		{"text-off", ``, "", ofrepDisabled, "flag disabled", false, off(withPayload("string", "x"))},
		{"text-for-others", ``, "", ofrepTargeting, "no strategy matched", false, set(withPayload("string", "x"), seven8)},
		{"variants-off", `false`, "", ofrepDisabled, "flag disabled", false, off(half)},
		{"typed-boolean-off", `false`, "", ofrepDisabled, "flag disabled", false, typed(flags.BooleanValue, "true", off(nil))},
		{"typed-boolean", `true`, "", ofrepStatic, "strategy matched", true, typed(flags.BooleanValue, "false", set(nil, everyone))},
		{"typed-boolean-text", `false`, "first", ofrepStatic, "strategy matched", true, typed(flags.BooleanValue, "true", set(withPayload("string", "false"), everyone))},
		{"typed-boolean-json", `true`, "first", ofrepStatic, "strategy matched", true, typed(flags.BooleanValue, "false", set(withPayload("json", "true"), everyone))},
		{"typed-boolean-for-others", `false`, "", ofrepTargeting, "no strategy matched", false, typed(flags.BooleanValue, "true", set(withPayload("json", "true"), seven8))},
		{"typed-text-off", `"small"`, "", ofrepDisabled, "flag disabled", false, typed(flags.StringValue, `"small"`, off(withPayload("string", "x")))},
		{"typed-text-without-payload", `"small"`, "", ofrepStatic, "strategy matched", true, typed(flags.StringValue, `"small"`, set(nil, everyone))},
		{"typed-text-in-variants-without-payload", `"small"`, "b", ofrepSplit, "strategy matched", true, typed(flags.StringValue, `"small"`, set(half, everyone))},
		{"typed-text", `"7"`, "first", ofrepStatic, "strategy matched", true, typed(flags.StringValue, `"small"`, set(withPayload("string", "7"), everyone))},
		{"typed-integer", `7`, "first", ofrepStatic, "strategy matched", true, typed(flags.IntegerValue, `1`, set(withPayload("number", "7"), everyone))},
		{"typed-number-for-others", `0.5`, "", ofrepTargeting, "no strategy matched", false, typed(flags.NumberValue, `0.5`, set(withPayload("number", "7"), seven8))},
		{"typed-child-of-off", `{"size":1}`, "", ofrepTargeting, "parent unmet", false, typed(flags.ObjectValue, `{"size":1}`, child("off"))},
		{"typed-object", `[2]`, "first", ofrepStatic, "strategy matched", true, typed(flags.ObjectValue, `{"size":1}`, set(withPayload("json", "[2]"), everyone))},
	}
	f := newFixture()
	want := map[string]answers.OfrepEvaluation{}
	without := map[bool]string{true: "enabled", false: "disabled"} // variants: the provider for Python needs a name
	for _, tt := range tests {
		f.add("default", tt.name, tt.change)
		variant := tt.variant
		if variant == "" {
			variant = without[tt.enabled]
		}
		want[tt.name] = answers.OfrepEvaluation{Key: tt.name, Value: []byte(tt.value), Variant: variant, Reason: tt.reason,
			Metadata: answers.OfrepMetadata{Enabled: tt.enabled, Project: "default", Type: "release", Decision: tt.decision}}
	}
	f.add("other", "other-project", nil)
	h := f.handler(httpapi.Config{})
	check := func(t *testing.T, got answers.OfrepEvaluation) {
		t.Helper()
		if diff := cmp.Diff(want[got.Key], got, cmp.Comparer(func(a, b jsontext.Value) bool { return string(a) == string(b) })); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t, decoded[answers.OfrepEvaluation](t, call(h, "POST", ofrepOne+tt.name, seven, "Authorization: Bearer frontend"), 200))
		})
	}
	bulk := decoded[answers.OfrepBulk](t, call(h, "POST", ofrepAll, seven, "X-API-Key: client"), 200)
	for _, got := range bulk.Flags {
		check(t, got)
	}
	if len(bulk.Flags) != len(tests) || bulk.Metadata.Environment != "development" {
		t.Errorf("%d flags of %s, want %d of development", len(bulk.Flags), bulk.Metadata.Environment, len(tests))
	}
	if got := decoded[answers.OfrepBulk](t, call(h, "POST", ofrepAll, seven, "Authorization: frontend-all"), 200); len(got.Flags) != len(tests)+1 {
		t.Errorf("a token of all projects gets %d flags", len(got.Flags))
	}
	if got := decoded[answers.OfrepBulk](t, call(h, "POST", ofrepAll+"?environment=development", seven, "Authorization: admin"), 200); len(got.Flags) != len(tests)+1 || got.Flags[0].Metadata.Decision != "parent unmet" {
		t.Errorf("an admin token gets %d flags", len(got.Flags))
	}
}

// TestOFREPErrors checks the errors of the specification.
func TestOFREPErrors(t *testing.T) {
	f := newFixture()
	f.add("default", "plain", nil)
	f.add("other", "other-project", nil)
	h := f.handler(httpapi.Config{})
	long := strings.Repeat("x", 1000)
	tests := []struct {
		name, key, body string
		status          int
		code            string
	}{
		{"unknown flag", "nosuch", seven, 404, codeFlagNotFound},
		{"flag of another project", "other-project", seven, 404, codeFlagNotFound},
		{"long key", long, seven, 404, codeFlagNotFound},
		{"no body", "plain", "", 400, codeParseError},
		{"broken JSON", "plain", `{"context": {`, 400, codeParseError},
		{"no context", "plain", `{}`, 400, codeInvalidContext},
		{"a list", "plain", `{"context": [1]}`, 400, codeInvalidContext},
		{"key that is a list", "plain", `{"context": {"targetingKey": [7]}}`, 400, codeInvalidContext},
		{"key that is an object", "plain", `{"context": {"targetingKey": {"id": 7}}}`, 400, codeInvalidContext},
		{"too many properties", "plain", `{"context": ` + manyProperties(1001) + `}`, 400, codeInvalidContext},
		{"too large", "plain", `{"context": {"x": "` + strings.Repeat("x", answers.MaxContextBody) + `"}}`, 413, codeGeneral},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decoded[answers.OfrepFailure](t, call(h, "POST", ofrepOne+tt.key, tt.body, "Authorization: client"), tt.status)
			if got.ErrorCode != tt.code || got.ErrorDetails == "" || got.Key != tt.key && (tt.key != long || len(got.Key) > 100) {
				t.Errorf("%+v, want %s", got, tt.code)
			}
			if tt.code == codeFlagNotFound {
				return
			}
			w := call(h, "POST", ofrepAll, tt.body, "Authorization: client")
			if got := decoded[answers.OfrepFailure](t, w, tt.status); got.ErrorCode != tt.code || strings.Contains(w.Body.String(), `"key"`) {
				t.Errorf("all flags: %s, want %s", w.Body, tt.code)
			}
		})
	}
	if w := call(h, "POST", ofrepAll, seven, "Authorization: client", "Content-Type: text/plain"); w.Code != 415 {
		t.Errorf("text: status %d, want 415", w.Code)
	}
	r := httptest.NewRequest(http.MethodPost, ofrepAll, strings.NewReader(seven))
	r.Header.Set("Authorization", "client")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("no content type: status %d, want 200", w.Code)
	}
	for token, status := range map[string]int{"": 401, "nonsense": 401, "personal": 403} {
		for _, target := range []string{ofrepAll, ofrepOne + "plain", ofrepOne + "nosuch"} {
			if w := call(h, "POST", target, "{", "Authorization: "+token); w.Code != status || strings.Contains(w.Body.String(), "errorCode") {
				t.Errorf("%s with the token %q: %d %s, want %d", target, token, w.Code, w.Body, status)
			}
		}
	}
}

// TestOFREPWithoutTargetingKey checks that contexts without a targetingKey are evaluated: providers send none if the application
// sets none.
func TestOFREPWithoutTargetingKey(t *testing.T) {
	f := newFixture()
	f.add("default", "everyone", func(_ *flags.Feature, fe *flags.FeatureEnvironment) {
		fe.Strategies = []flags.Strategy{rollout("100", "default")}
	})
	f.add("default", "gold", func(_ *flags.Feature, fe *flags.FeatureEnvironment) {
		fe.Strategies = []flags.Strategy{constrained("plan", "gold")}
	})
	f.add("default", "user", func(_ *flags.Feature, fe *flags.FeatureEnvironment) {
		fe.Strategies = []flags.Strategy{rollout("100", "userId")}
	})
	h := f.handler(httpapi.Config{})
	for _, tt := range []struct {
		context string
		gold    bool
	}{
		{`{}`, false},
		{`{"targetingKey": ""}`, false},
		{`{"targetingKey": null}`, false},
		{`{"plan": "gold"}`, true},
		{`{"targetingKey": null, "plan": "gold"}`, true},
	} {
		want := map[string]bool{"everyone": true, "gold": tt.gold, "user": false}
		body := `{"context": ` + tt.context + `}`
		got := map[string]bool{}
		for _, e := range decoded[answers.OfrepBulk](t, call(h, "POST", ofrepAll, body, "Authorization: client"), 200).Flags {
			got[e.Key] = string(e.Value) == "true"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.context, diff)
		}
		for name, on := range want {
			if e := decoded[answers.OfrepEvaluation](t, call(h, "POST", ofrepOne+name, body, "Authorization: client"), 200); (string(e.Value) == "true") != on {
				t.Errorf("%s for %s: %s, want %t", name, tt.context, e.Value, on)
			}
		}
	}
}

// TestOFREPETag checks that an ETag is bound to the context, and changes only with the answer.
func TestOFREPETag(t *testing.T) {
	f := newFixture()
	f.add("default", "plain", nil)
	h := f.handler(httpapi.Config{})
	post := func(body, etag string) (int, string) {
		w := call(h, "POST", ofrepAll, body, "Authorization: client", "If-None-Match: "+etag)
		if w.Code == http.StatusNotModified && w.Body.Len() > 0 {
			t.Errorf("a 304 has the body %s", w.Body)
		}
		return w.Code, w.Header().Get("ETag")
	}
	_, etag := post(seven, "")
	for _, step := range []struct {
		name, body string
		change     func()
		want       int
	}{
		{"unchanged", seven, func() {}, 304},
		{"another context", `{"context": {"targetingKey": "8"}}`, func() {}, 200},
		{"a flag of another project", seven, func() { f.add("other", "other-project", nil) }, 304},
		{"a flag that is off", seven, func() {
			f.add("default", "new", func(_ *flags.Feature, fe *flags.FeatureEnvironment) { fe.EnabledIn = "" })
		}, 200},
	} {
		step.change()
		status, newETag := post(step.body, etag)
		if status != step.want {
			t.Errorf("%s: status %d, want %d", step.name, status, step.want)
		}
		if step.body == seven {
			etag = newETag
		}
	}
}
