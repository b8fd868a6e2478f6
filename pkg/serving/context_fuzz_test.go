package serving

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/answers"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// FuzzContexts puts any JSON beside the fields of a context that decide, and any text into a query. The fields decide as they do without
// it, and a body of any form is no server error.
func FuzzContexts(f *testing.F) {
	for _, part := range []string{
		"null", "[]", "{}", "true", "-1", "1e999", "18446744073709551616", `"\ud83d"`, "\"\xff\"", `"\u0000"`, `["\ud83d", null]`, `{"a": 1, "a": 2}`, `{"\ud83d": 1, "\ud83e": 1}`,
		`{"a": {"b": {"c": [1]}}}`, "{", "\ufeff{}", `{"context": []}`, "a;b", "%zz", "%", "=&&", "%ff",
	} {
		f.Add(part)
	}
	fixture := newFixture()
	fixture.addStrategies("for-7", constrained("userId", "7"))
	fixture.addStrategies("gold", constrained("plan", "gold"))
	h := fixture.handler(httpapi.Config{})
	f.Fuzz(func(t *testing.T, part string) {
		for _, path := range []string{"/api/frontend", ofrepAll, ofrepOne + "gold"} {
			if w := call(h, "POST", path, part, "Authorization: frontend"); w.Code >= 500 {
				t.Errorf("%s with %s: %d %s", path, part, w.Code, w.Body)
			}
		}
		if !strings.ContainsAny(part, "&#") && len(part) < 10_000 {
			r := httptest.NewRequest(http.MethodGet, "/api/frontend", nil)
			r.URL.RawQuery = "userId=7&x=" + part + "&plan=gold"
			r.Header.Set("Authorization", "frontend")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			checkBoth(t, r.URL.RawQuery, w)
		}
		if !jsontext.Value(part).IsValid(jsonbody.Lenient) || len(part) > 10_000 || strings.Count(part, ":")+strings.Count(part, "[") > 500 {
			return
		}
		for _, hole := range []string{`"x": %`, `"properties": {"x": %}`, `"sessionId": %`, `"remoteAddress": %`, `"currentTime": %`, `"x": {"y": %}`, `"x": [%]`, `"appName": %`} {
			context := `{"userId": 7, ` + strings.Replace(hole, "%", part, 1) + `, "plan": "gold"}`
			if strings.Contains(hole, "properties") && strings.Contains(part, "plan") {
				continue // a property precedes the field of its name
			}
			checkBoth(t, context, call(h, "POST", "/api/frontend", context, "Authorization: frontend"))
			checkBoth(t, context, call(h, "POST", "/api/frontend", `{"context": `+context+`}`, "Authorization: frontend"))
			if w := call(h, "POST", ofrepOne+"gold", `{"context": `+context+`}`, "Authorization: frontend"); !strings.Contains(w.Body.String(), `"value":true`) {
				t.Errorf("%s: %d %s", context, w.Code, w.Body)
			}
		}
	})
}

// checkBoth fails unless both flags are on.
func checkBoth(t *testing.T, sent string, w *httptest.ResponseRecorder) {
	t.Helper()
	if got := decoded[answers.FrontendAnswer](t, w, 200); len(got.Toggles) != 2 {
		t.Errorf("%s: %s", sent, w.Body)
	}
}
