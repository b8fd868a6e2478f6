package agents_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/serving"
)

// TestRandomSequences has editors and a viewer use tools in 1,050 random sequences. What applications in the guarded environment get of
// the flags stays the same, byte by byte, except for flags that are switched off where that is allowed. No call ends with a defect.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		role       int64
		offAllowed bool
	}{{"editor", access.RoleEditor, false}, {"editor who may switch off", access.RoleEditor, true}, {"viewer", access.RoleViewer, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, agent := serve(t)
			names := []string{"f0", "f1", "f2", "f3"}
			s.OnInProduction(t, names...)
			for _, name := range names {
				s.AddStrategy(t, name, `{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"default","groupId":"g"}}`)
			}
			s.Review(t)
			s.Must(t, "PUT", "/api/admin/environments/update/production", fmt.Sprintf(`{"offAllowed":%t}`, tt.offAllowed))
			_, header := s.Person(t, tt.role)
			session := connect(t, agent, token(header), []string{modern, legacy}[rand.N(2)])
			served := servedBy(t, s)
			before, seed := served("production"), rand.Uint64()
			inDevelopment := served("development")
			g := generator{rand.New(rand.NewPCG(seed, 0))}
			for range 350 {
				for range 1 + g.IntN(3) {
					tool, with := g.call()
					if _, refusal := use(t, session, tool, with); strings.Contains(refusal, "(5") {
						t.Fatalf("seed %d: %s %v: %s", seed, tool, with, refusal)
					}
				}
			}
			off := 0
			after := served("production")
			for name, flag := range after {
				switch was, had := before[name]; {
				case !had && strings.Contains(flag, `"enabled":false`), flag == was:
				case had && tt.offAllowed && tt.role == access.RoleEditor && flag == strings.Replace(was, `"enabled":true`, `"enabled":false`, 1):
					off++
				default:
					t.Errorf("seed %d: applications get of %s\n %s\nand got\n %s", seed, name, flag, was)
				}
			}
			if (off > 0) != (tt.offAllowed && tt.role == access.RoleEditor) {
				t.Errorf("seed %d: %d flags are off", seed, off)
			}
			changed := fmt.Sprint(served("development")) != fmt.Sprint(inDevelopment)
			if changed != (tt.role == access.RoleEditor) {
				t.Errorf("seed %d: changed in development: %t", seed, changed)
			}
			if drafts := s.Must(t, "GET", "/api/admin/events?type=change-request-created", "").Body; !strings.Contains(drafts, `"agent":`) {
				t.Errorf("seed %d: nothing was proposed", seed)
			}
		})
	}
}

// servedBy returns what applications get of each flag in an environment.
func servedBy(t *testing.T, s *apitest.Server) func(environment string) map[string]string {
	t.Helper()
	config := httpapi.Config{}
	handler := httpapi.New(s.Store, serving.ClientGroup(serving.NewReader(s.Store, serving.OptionsOf(config)), s.Store, config), config)
	return func(environment string) map[string]string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/client/features?environment="+environment, nil)
		r.Header.Set("Authorization", dynamotest.AdminToken)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		list := apitest.Decode[struct{ Features []json.RawMessage }](t, w.Body.String())
		flags := map[string]string{}
		for _, flag := range list.Features {
			flags[apitest.Decode[struct{ Name string }](t, string(flag)).Name] = string(flag)
		}
		if len(flags) == 0 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return flags
	}
}

// A generator makes calls of tools, most of which are valid.
type generator struct{ *rand.Rand }

func (g generator) of(values ...any) any { return values[g.IntN(len(values))] }

func (g generator) call() (tool string, with args) {
	with = args{"project": g.of("default", "default", "default", "default", "gone", ".."), "flag": g.of("f0", "f1", "f2", "f3", "new", "gone", "f0/../f1"),
		"environment": g.of("production", "production", "production", "development", "gone")}
	switch tool = g.of("search_flags", "get_flag", "explain_flag", "find_stale_flags", "get_change_request", "create_flag",
		"propose_change", "propose_change", "propose_change", "propose_change", "switch_off").(string); tool {
	case "search_flags":
		with = args{"query": g.of("f", "", ",", "n"), "state": g.of("active", "stale", "archived", "other"), "limit": g.of(0, -1, 3, 1000)}
	case "find_stale_flags":
		with = args{"limit": g.of(0, 2, 50)}
	case "get_flag":
		delete(with, "environment")
	case "explain_flag":
		with["context"] = args{"userId": fmt.Sprint(g.IntN(50)), "currentTime": g.of("2026-01-01T00:00:00Z", "never")}
	case "get_change_request":
		with = args{"project": "default", "id": g.IntN(30) - 3}
	case "create_flag":
		with = args{"project": "default", "name": fmt.Sprint("new", g.IntN(40)), "type": g.of("release", "kill-switch", "other", "")}
	case "propose_change":
		for range 1 + g.IntN(5)/4 {
			with[g.of("enabled", "rollout", "strategy").(string)] = nil
		}
		for name := range with {
			switch name {
			case "enabled":
				with[name] = g.of(true, false)
			case "rollout":
				with[name] = g.IntN(130) - 15
			case "strategy":
				with[name] = args{"name": g.of("default", "flexibleRollout", "userWithId", "none"), "parameters": args{"rollout": g.of("10", "x"), "groupId": "g", "stickiness": "default", "userIds": "1"},
					"constraints": g.of([]args{}, []args{{"contextName": "userId", "operator": g.of("IN", "SEMVER_GT", "NO"), "values": []string{"1"}}})}
			}
		}
		with["submit"], with["title"] = g.of(true, false), g.of("", "Less", strings.Repeat("t", 300))
	}
	return tool, with
}
