package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo/dynamotest"
)

// TestBudget holds every operation to its calls of DynamoDB on an instance that knows the tokens: a report costs one write, and a request
// that is refused writes nothing.
func TestBudget(t *testing.T) {
	count := &counter{}
	s := serve(t, count, still)
	for _, tt := range []struct{ path, token, wrong, body, bad string }{
		{"/api/client/register", dynamotest.ClientToken, dynamotest.FrontendToken, nodeRegister, "{}"},
		{"/api/client/metrics", dynamotest.ClientToken, dynamotest.FrontendToken, nodeMetrics, `{"appName": "a"}`},
		{"/api/client/metrics/bulk", dynamotest.ClientToken, dynamotest.FrontendToken, bulkMetricsOfEdge, "["},
		{"/api/frontend/client/register", dynamotest.FrontendToken, dynamotest.ClientToken, frontendRegister, "{}"},
		{"/api/frontend/client/metrics", dynamotest.FrontendToken, dynamotest.ClientToken, browserMetrics, `{"appName": "a", "bucket": 1}`},
	} {
		send := func(what, want, token, body string, status int, headers ...string) {
			t.Helper()
			s.forget()
			got := count.during(func() {
				if w := s.post(tt.path, token, body, headers...); w.Code/100 != status {
					t.Errorf("%s: %s: %d %s", tt.path, what, w.Code, w.Body)
				}
			})
			if got != want {
				t.Errorf("%s: %s: calls %q, want %q", tt.path, what, got, want)
			}
		}
		send("a report", "PutItem", tt.token, tt.body, 2)
		named := "TransactWriteItems"
		if tt.token == dynamotest.FrontendToken {
			named = "PutItem"
		}
		send("a report with a name", named, tt.token, tt.body, 2, "Guidon-Batch: "+uuid.NewString())
		send("without a token", "", "", tt.body, 4)
		send("with an unknown token", "BatchGetItem", "unknown", tt.body, 4)
		send("with a token of another type", "", tt.wrong, tt.body, 4)
		send("with a bad body", "", tt.token, tt.bad, 4)
		send("with a body that is not JSON", "", tt.token, tt.body, 4, "Content-Type: text/plain")
	}
	for _, tt := range []struct{ what, path, token, body, want string }{
		{"the first use of a token in an hour", "/api/client/metrics/edge", dynamotest.ClientToken, `{"appName": "edge"}`, "PutItem"},
		{"a report of Edge about itself", "/api/client/metrics/edge", dynamotest.ClientToken, `{"appName": "edge"}`, ""},
		{"no valid token", "/edge/validate", "", `{"tokens": ["unknown", "unknown", ""]}`, "BatchGetItem"},
		{"no token", "/edge/validate", "", `{"tokens": []}`, ""},
		{"valid tokens", "/edge/validate", "", `{"tokens": ["` + dynamotest.ClientToken + `", "` + dynamotest.FrontendToken + `"]}`, "BatchGetItem BatchGetItem"},
		{"metrics of an old Edge", "/edge/metrics", "", bulkMetricsOfEdge, ""},
		{"an empty bulk", "/api/client/metrics/bulk", dynamotest.ClientToken, `{"applications": [], "metrics": []}`, ""},
	} {
		if got := count.during(func() { s.post(tt.path, tt.token, tt.body) }); got != tt.want {
			t.Errorf("%s: calls %q, want %q", tt.what, got, tt.want)
		}
	}
}

// TestTokenUse checks that a report tells when its token was used, with and without content, and that one that is refused does not.
func TestTokenUse(t *testing.T) {
	count := &counter{}
	s := serve(t, count)
	if got := count.during(func() { s.post("/api/client/metrics", dynamotest.ClientToken, "{}") }); strings.Contains(got, "PutItem") {
		t.Errorf("a bad request: calls %q", got)
	}
	used := func(want ...string) {
		t.Helper()
		if _, err := aggregate.New(s.store, aggregate.Settings{}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, token := range s.administer(t, "tokens", "GET", "/api/admin/api-tokens", "")["tokens"].([]any) {
			if token := token.(map[string]any); token["seenAt"] != nil && token["type"] != "admin" {
				got = append(got, token["type"].(string))
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("tokens of the types %q were used, want %q", got, want)
		}
	}
	used()
	s.post("/api/frontend/client/metrics", dynamotest.FrontendToken, browserMetrics)
	used("frontend")
	s.post("/api/client/metrics/bulk", dynamotest.ClientToken, `{"applications": [], "metrics": []}`)
	used("client", "frontend")
}
