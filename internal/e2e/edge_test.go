package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEdgeCalls sends what Unleash Edge 19.15.1 sent to Guidon while it was tried (docs/how-to/edge.md). Edge must get what it
// needs: valid tokens, flags, and their changes. What it reports must be counted.
func TestEdgeCalls(t *testing.T) {
	for _, mode := range []string{"polling", "delta"} {
		t.Run(mode, func(t *testing.T) {
			g := start(t)
			e := newEdge(t, g, mode)
			e.replay("Edge starts")
			e.expectTokens("client *", "client *", "client default", "frontend default")
			e.expectFlags("edge-off off", "edge-on on", "edge-text on")
			e.replay("nothing changes")
			g.do(t, 200, "POST", project+"/features/edge-on/environments/development/off", nil, nil)
			e.replay("a flag changes")
			if mode == "delta" {
				e.expectFlags("edge-on off")
			} else {
				e.expectFlags("edge-off off", "edge-on off", "edge-text on")
			}
			e.replay("applications use it")
			e.replay("it reports about itself")
			g.awaitUsage(t, answers{
				"shop development edge-on":   "yes 0, no 20, disabled 10",
				"shop development edge-text": "yes 22, no 0, blue 12",
				"web development edge-text":  "yes 5, no 1, blue 5",
			}, "edge-on", "edge-text")
			// Edge reports the applications of all environments with the token of one.
			g.ask(t, "GET", "/api/admin/metrics/instances/shop/environment/development", g.token, "").has(t, 200, `"instanceId":"shop-1"`)
			g.ask(t, "GET", "/api/admin/metrics/instances/prod-shop/environment/production", g.token, "").has(t, 200, `"instanceId":"p1"`)
			g.ask(t, "GET", "/api/admin/metrics/instances/prod-shop/environment/development", g.token, "").has(t, 200, `"instances":[]`)
			g.do(t, 200, "DELETE", "/api/admin/api-tokens/"+e.secrets["{edge}"], nil, nil)
			e.replay("its token is deleted")
		})
	}
}

// An edgeCall is a request of Edge, and the status of its answer. Texts in braces stand for what differs with each run: {edge},
// {production}, {shop} and {web} for the secrets of tokens, and {etag} for the ETag of the last answer to the same token at the path.
type edgeCall struct {
	Step, Method, Path string
	Header             map[string]string
	Body               json.RawMessage
	Status             int
}

// edgeTokens has the type, the project and the environment of the tokens of the recording. The last two belong to applications.
var edgeTokens = map[string][3]string{
	"{edge}":       {"client", "*", "development"},
	"{production}": {"client", "*", "production"},
	"{shop}":       {"client", "default", "development"},
	"{web}":        {"frontend", "default", "development"},
}

// An edge replays the calls of Edge.
type edge struct {
	t       *testing.T
	g       *gateway
	calls   []edgeCall
	secrets map[string]string   // of edgeTokens
	etags   map[string]string   // by path and token
	answers map[string][]string // those of the last step, by path and token
}

// newEdge creates the flags and tokens of the recording.
func newEdge(t *testing.T, g *gateway, mode string) *edge {
	t.Helper()
	e := &edge{t: t, g: g, secrets: map[string]string{}, etags: map[string]string{}}
	raw, err := os.ReadFile(filepath.Join("testdata", "edge-"+mode+".json"))
	if err != nil {
		t.Fatal(err)
	}
	decode(t, raw, &e.calls)
	for _, name := range []string{"edge-off", "edge-on", "edge-text"} {
		g.do(t, 201, "POST", project+"/features", map[string]string{"name": name}, nil)
		environment := project + "/features/" + name + "/environments/development"
		g.do(t, 200, "POST", environment+"/strategies", `{"name": "flexibleRollout", "parameters": {"rollout": "100"}}`, nil)
		if name == "edge-text" { // a variant that the flag does not have is counted as (other)
			g.do(t, 200, "PUT", environment+"/variants", `[{"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "default"}]`, nil)
		}
		if name != "edge-off" {
			g.do(t, 200, "POST", environment+"/on", nil, nil)
		}
	}
	for name, of := range edgeTokens {
		e.secrets[name] = g.createToken(t, name, of[0], of[1], of[2])
	}
	return e
}

// createToken creates a token and returns its secret.
func (g *gateway) createToken(t *testing.T, name, kind, project, environment string) string {
	t.Helper()
	body := map[string]any{"tokenName": name, "type": kind, "projects": []string{project}, "environment": environment}
	status, answer, err := g.send(t.Context(), "POST", "/api/admin/api-tokens", body)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the token %s: %d %s, %v", name, status, answer, err)
	}
	var created struct{ Secret string }
	decode(t, answer, &created)
	return created.Secret
}

// replay sends the calls of a step.
func (e *edge) replay(step string) {
	e.t.Helper()
	e.answers = map[string][]string{}
	for _, call := range e.calls {
		if call.Step != step {
			continue
		}
		key := call.Path + " " + call.Header["authorization"]
		fill := []string{"{etag}", e.etags[key]}
		for name, secret := range e.secrets {
			fill = append(fill, name, secret)
		}
		filled := strings.NewReplacer(fill...)
		var headers []string
		for name, value := range call.Header {
			headers = append(headers, name, filled.Replace(value))
		}
		reply := e.g.ask(e.t, call.Method, call.Path, "", filled.Replace(string(call.Body)), headers...).has(e.t, call.Status)
		if tag := reply.header.Get("ETag"); tag != "" {
			e.etags[key] = tag
		}
		e.answers[key] = append(e.answers[key], reply.body)
	}
	if len(e.answers) == 0 {
		e.t.Fatalf("the recording has no calls of the step %q", step)
	}
}

// expectTokens checks which tokens are valid.
func (e *edge) expectTokens(want ...string) {
	e.t.Helper()
	var got []string
	for _, body := range e.answers["/edge/validate "] {
		var answer struct {
			Tokens []struct {
				Type     string
				Projects []string
			}
		}
		decode(e.t, []byte(body), &answer)
		for _, token := range answer.Tokens {
			got = append(got, token.Type+" "+strings.Join(token.Projects, ","))
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		e.t.Errorf("the valid tokens are %q, want %q", got, want)
	}
}

// expectFlags checks which flags of development Edge got: all of them, or, in deltas, those that changed.
func (e *edge) expectFlags(want ...string) {
	e.t.Helper()
	type flag struct {
		Name    string
		Enabled bool
	}
	var list []flag
	for _, body := range append(e.answers["/api/client/features {edge}"], e.answers["/api/client/delta {edge}"]...) {
		var answer struct {
			Features []flag
			Events   []struct {
				Type     string
				Features []flag
				Feature  flag
			}
		}
		if body == "" { // 304
			continue
		}
		decode(e.t, []byte(body), &answer)
		list = append(list, answer.Features...)
		for _, event := range answer.Events {
			if list = append(list, event.Features...); event.Type == "feature-updated" {
				list = append(list, event.Feature)
			}
		}
	}
	var got []string
	for _, f := range list {
		state := " off"
		if f.Enabled {
			state = " on"
		}
		got = append(got, f.Name+state)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		e.t.Errorf("the flags are %q, want %q", got, want)
	}
}
