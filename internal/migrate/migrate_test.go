package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A stub is a server with given responses, by method and path. Other reads get a 404, other writes a 200.
type stub struct {
	url     string
	answers map[string]string // a body, after its status unless that is 200: "403 {…}"
	mu      sync.Mutex
	writes  []string
}

func stubOf(t *testing.T, answers map[string]string) *stub {
	t.Helper()
	s := &stub{answers: map[string]string{
		"GET " + environmentsPath: `{"environments":[{"name":"dev","type":"development"},{"name":"prod","type":"production"}]}`,
		"GET " + projectsPath:     `{"projects":[]}`, "GET " + tagTypesPath: `{"tagTypes":[]}`, "GET " + contextPath: `[]`,
		"GET " + segmentsPath: `{"segments":[]}`, "GET " + strategiesPath: `{"strategies":[]}`,
	}}
	for call, answer := range answers {
		s.answers[call] = answer
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + r.URL.Path
	answer, known := s.answers[call]
	var status int
	if _, err := fmt.Sscanf(answer, "%d {", &status); err == nil {
		w.WriteHeader(status)
		answer = answer[4:]
	} else if !known && r.Method == http.MethodGet {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"message":"not here"}`
	}
	if r.Method != http.MethodGet && r.URL.Path != exportPath {
		var body struct{ Name, ID, Environment string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		s.writes = append(s.writes, strings.TrimSpace(call+" "+body.Name+body.ID+body.Environment))
		s.mu.Unlock()
	}
	_, _ = fmt.Fprint(w, answer)
}

// withProject has the responses for a project "one" with one flag "f".
func withProject() map[string]string {
	const id = "one"
	at := projectsPath + "/" + id
	return map[string]string{
		"GET " + projectsPath:                                  fmt.Sprintf(`{"projects":[{"id":%q,"name":"One"}]}`, id),
		"GET " + at + "/overview":                              `{"environments":[{"environment":"dev"},{"environment":"prod"}]}`,
		"GET " + at + "/features":                              `{"features":[{"name":"f"}]}`,
		"GET /api/admin/archive/features/" + id:                `{"features":[{"name":"old"}]}`,
		"GET " + at + "/features/f":                            `{"name":"f","type":"release","environments":[{"name":"dev","enabled":true,"strategies":[{"id":"s","name":"default"}]},{"name":"prod"}]}`,
		"GET /api/admin/features/f/tags":                       `{"tags":[]}`,
		"GET " + at + "/features/f/environments/dev/variants":  `{"variants":[]}`,
		"GET " + at + "/features/f/environments/prod/variants": `{"variants":[]}`,
		"POST " + exportPath:                                   `{"features":[{"name":"f"}],"featureStrategies":[]}`,
	}
}

func merge(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

func TestRun(t *testing.T) {
	const importFlags = "POST " + importPath
	empty := merge(withProject(), map[string]string{"GET " + projectsPath + "/one/features": `{"features":[]}`, "GET " + projectsPath + "/one/features/f": "404 {}"})
	for _, tt := range []struct {
		name           string
		source, target map[string]string
		options        Options
		result         string // remaining differences, or the error
		prints         []string
		writes         []string // on the target
	}{
		{"the same on both sides", withProject(), withProject(), Options{}, "0", []string{"1 flags are the same on both sides, 0 differ; 1 archived flag was not copied"}, nil},
		{"dry", withProject(), nil, Options{DryRun: true}, "0", []string{"would create project one", "would create flag f", "would copy 1 of 1 flags of project one"}, nil},
		{"dry, with what exists", merge(withProject(), map[string]string{
			"GET " + segmentsPath: `{"segments":[{"id":1,"name":"s","constraints":[]}]}`, "GET " + projectsPath + "/one/features/f/environments/dev/variants": `{"variants":[{"name":"new","weight":1000}]}`,
		}), merge(withProject(), map[string]string{"GET " + segmentsPath: `{"segments":[{"id":7,"name":"s","constraints":[{"contextName":"a"}]}]}`}),
			Options{DryRun: true}, "0", []string{"would update segment s", "would update flag f", "would copy 1 of 1 flags of project one"}, nil},
		{"a flag that does not arrive", withProject(), merge(empty, map[string]string{importFlags: `{"features":[{"name":"f","outcome":"skipped","reasons":["for a reason"]}]}`}),
			Options{}, "1", []string{"differs: f: the flag is missing", "the target refused it: for a reason", "0 flags are the same on both sides, 1 differ"},
			[]string{importFlags + " dev", importFlags + " prod"}},
		{"a refused import", withProject(), merge(empty, map[string]string{importFlags: `409 {"message":"all of it"}`}), Options{}, "1",
			[]string{"the target refused it: the target answers 409", "all of it"}, []string{importFlags + " dev", importFlags + " prod"}},
		{"one environment", withProject(), empty, Options{Environment: "prod"}, "1", nil, []string{importFlags + " prod"}},
		{"no such environment", withProject(), empty, Options{Environment: "nosuch"}, "nothing to copy", nil, nil},
		{"no such project", withProject(), empty, Options{Project: "nosuch"}, "nothing to copy", nil, nil},
		{"a target that cannot create projects", withProject(), map[string]string{"POST " + projectsPath: `404 {"message":"no such path"}`}, Options{}, "2",
			[]string{"could not copy project one: the target answers 404", "0 flags are the same on both sides, 1 differ", "1 other objects could not be copied"},
			[]string{"POST " + projectsPath + " Oneone"}},
		{"a forbidden project", merge(withProject(), map[string]string{
			"GET " + projectsPath: `{"projects":[{"id":"one"},{"id":"two"}]}`, "GET " + projectsPath + "/two/environments": `403 {"message":"not yours"}`,
		}), withProject(), Options{}, "0", []string{"skipping project two", "not yours", "1 flags are the same"}, nil},
		{"an unknown token", map[string]string{"GET " + environmentsPath: `401 {"message":"who are you"}`}, nil, Options{}, "who are you (check the token", nil, nil},
		{"a token without the permission", map[string]string{"GET " + segmentsPath: `403 {"message":"not you"}`}, nil, Options{}, "not you (the token lacks a permission", nil, nil},
		{"custom and built-in strategy types", merge(withProject(), map[string]string{"GET " + strategiesPath: `{"strategies":[{"name":"mine","editable":true},{"name":"gone"},{"name":"default"},{"name":"userWithId","editable":true}]}`}),
			merge(withProject(), map[string]string{"GET " + strategiesPath: `{"strategies":[{"name":"default","description":"x"},{"name":"userWithId","description":"x"}]}`}),
			Options{}, "0", nil, []string{"POST " + strategiesPath + " mine", "POST " + strategiesPath + " gone"}},
		{"a version that lists flags by searching", merge(withProject(), map[string]string{
			"GET " + projectsPath + "/one/features": "404 {}", "GET /api/admin/archive/features/one": "404 {}",
			"GET /api/admin/search/features": `{"features":[{"name":"f"}],"total":3}`,
		}), withProject(), Options{}, "0", []string{"1 flags are the same on both sides, 0 differ; 3 archived flags"}, nil},
		{"change requests", merge(withProject(), map[string]string{
			"GET " + projectsPath + "/one/change-requests/config": `[{"environment":"prod","type":"production","changeRequestEnabled":true,"requiredApprovals":2},{"environment":"dev","changeRequestEnabled":false,"requiredApprovals":null}]`,
			"GET " + projectsPath + "/one/change-requests":        `[{"id":7,"environment":"prod","state":"Approved","title":"Launch"},{"id":6,"environment":"prod","state":"Applied"}]`,
		}), withProject(), Options{}, "0", []string{"not copied: change requests are on in prod of project one (requiredApprovals: 2)\nnot copied: change request 7 of project one for prod (Approved): \"Launch\"\nreading"}, nil},
		{"change requests that the token cannot read", merge(withProject(), map[string]string{"GET " + projectsPath + "/one/change-requests": `403 {"message":"not you"}`}), withProject(), Options{}, "0", nil, nil},
		{"a flag that cannot be read", merge(withProject(), map[string]string{
			"GET " + projectsPath + "/one/features": `{"features":[{"name":"f"},{"name":"odd"}]}`, "GET " + projectsPath + "/one/features/odd": `{"name":"odd","environments":[{"name":"dev","strategies":7}]}`,
		}), empty, Options{}, "2", []string{"could not copy flag odd: it cannot be read: /environments/0/strategies: must be a list", "differs: odd: it cannot be read", "0 flags are the same on both sides, 2 differ"},
			[]string{importFlags + " dev", importFlags + " prod"}},
		{"numbers in place of texts, and the other way", merge(withProject(), map[string]string{
			"GET " + projectsPath + "/one/features/f/environments/dev/variants": `{"variants":[{"name":"v","weight":"1000","payload":{"type":"number","value":5}}]}`,
			"GET " + segmentsPath: `{"segments":[{"id":"1","name":"s","constraints":[{"contextName":"a","operator":"NUM_GT","value":18}]}]}`,
		}), merge(withProject(), map[string]string{
			"GET " + projectsPath + "/one/features/f/environments/dev/variants": `{"variants":[{"name":"v","weight":1000,"payload":{"type":"number","value":"5"}}]}`,
			"GET " + segmentsPath: `{"segments":[{"id":1,"name":"s","constraints":[{"contextName":"a","operator":"NUM_GT","value":"18"}]}]}`,
		}), Options{}, "0", []string{"1 flags are the same"}, nil},
		{"a segment that cannot be read", merge(withProject(), map[string]string{"GET " + segmentsPath: `{"segments":[{"id":1,"name":"s","constraints":7},{"id":2,"name":"t","constraints":[]}]}`}), withProject(),
			Options{}, "1", []string{"could not copy segment s: it cannot be read: /constraints: must be a list", "1 flags are the same", "1 other objects could not be copied"}, []string{"POST " + segmentsPath + " t"}},
		{"omitted and empty texts", merge(withProject(), map[string]string{"GET " + tagTypesPath: `{"tagTypes":[{"name":"t","description":"","icon":null}]}`}),
			merge(withProject(), map[string]string{"GET " + tagTypesPath: `{"tagTypes":[{"name":"t","description":null,"icon":""}]}`}), Options{}, "0", nil, nil},
		{"a segment that differs", merge(withProject(), map[string]string{"GET " + segmentsPath: `{"segments":[{"id":1,"name":"s","constraints":[]}]}`}),
			merge(withProject(), map[string]string{"GET " + segmentsPath: `{"segments":[{"id":7,"name":"s","constraints":[{"contextName":"a"}]}]}`}), Options{}, "0", nil,
			[]string{"PUT " + segmentsPath + "/7 s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source, target := stubOf(t, tt.source), stubOf(t, tt.target)
			var out bytes.Buffer
			o := tt.options
			o.From, o.FromToken, o.To, o.ToToken = source.url, "a", target.url, "b"
			remaining, err := Run(t.Context(), o, &out, &out)
			result := fmt.Sprint(remaining)
			if err != nil {
				result = err.Error()
			}
			if err == nil && result != tt.result || err != nil && (len(tt.result) == 1 || !strings.Contains(result, tt.result)) {
				t.Errorf("result is %q, want %q; it printed\n%s", result, tt.result, &out)
			}
			for _, text := range tt.prints {
				if !strings.Contains(out.String(), text) {
					t.Errorf("it does not print %q:\n%s", text, &out)
				}
			}
			if !slices.Equal(target.writes, tt.writes) {
				t.Errorf("it wrote %q, want %q", target.writes, tt.writes)
			}
			if len(source.writes) > 0 {
				t.Errorf("it wrote to the source: %q", source.writes)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options Options
		want    string
	}{
		{"no address", Options{}, "--from and --to are required"},
		{"no token", Options{From: "http://a", To: "http://b", FromToken: "x"}, "--from-token and --to-token are required"},
		{"a malformed address", Options{From: "a", To: "http://b", FromToken: "x", ToToken: "x"}, `"a" is not an address`},
		{"the same server", Options{From: "http://a/", To: "http://a/api", FromToken: "x", ToToken: "x"}, "the same server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Run(t.Context(), tt.options, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
