package agents_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"guidon/pkg/agents"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

// The revisions of the protocol that clients speak.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// serve serves the administration, and MCP with the rights of its function.
func serve(t *testing.T, changes ...func(*httpapi.Config)) (s, agent *apitest.Server) {
	t.Helper()
	var config httpapi.Config
	s = apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) {
		for _, change := range changes {
			change(c)
		}
		config = *c
	})
	return s, s.Over(t, apitest.ByFunction("transfer", httpapi.New(s.Store, agents.Group(s.Store, config), config)))
}

// withToken sends a token with each request.
type withToken struct{ authorization, userAgent string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", w.authorization)
	if w.userAgent != "" {
		r.Header.Set("User-Agent", w.userAgent)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connect is the official client with the value of the header Authorization.
func connect(t *testing.T, agent *apitest.Server, authorization, revision string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1.2"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: agent.URL + agents.Path, HTTPClient: &http.Client{Transport: withToken{authorization, "by-agent/7"}}}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// token is the token in a header that apitest makes.
func token(header string) string { return strings.TrimPrefix(header, "Authorization: ") }

// use calls a tool, and returns its structured result, or the text of its error.
func use(t *testing.T, session *mcp.ClientSession, tool string, arguments any) (structured, refusal string) {
	t.Helper()
	got, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := got.Content[0].(*mcp.TextContent).Text
	if got.IsError {
		return "", text
	}
	raw, err := json.Marshal(got.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var inText, inStructure any
	if json.Unmarshal([]byte(text), &inText) != nil || json.Unmarshal(raw, &inStructure) != nil {
		t.Errorf("%s: the text %.200s is not the result %.200s", tool, text, raw)
	}
	return string(raw), ""
}

// args are the arguments of a call.
type args = map[string]any

// jsonOf is a text in JSON.
func jsonOf(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// contains reports whether a text contains all parts of another, which are split by ….
func contains(text, parts string) bool {
	for part := range strings.SplitSeq(parts, "…") {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
