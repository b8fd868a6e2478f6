package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A stub is a server with given answers, by method and path. What it has none for is a 404, or, if it writes, a success.
type stub struct {
	url     string
	answers map[string]string // a status before a body that is no success: "403 {…}"
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

// withProject are the answers about a project, "one", with one flag, "f".
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

func both(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

func TestMoves(t *testing.T) {
	const importFlags = "POST " + importPath
	empty := both(withProject(), map[string]string{"GET " + projectsPath + "/one/features": `{"features":[]}`, "GET " + projectsPath + "/one/features/f": "404 {}"})
	for _, tt := range []struct {
		name           string
		source, target map[string]string
		args           []string
		code           int
		says           []string
		writes         []string // on the target
	}{
		{"the same on both sides", withProject(), withProject(), nil, same, []string{"1 flags are the same on both sides, 0 are not; 1 archived flag was left"}, nil},
		{"dry", withProject(), nil, []string{"--dry-run"}, same, []string{"would bring project one", "would bring 1 of 1 flags of project one"}, nil},
		{"a flag that does not arrive", withProject(), both(empty, map[string]string{importFlags: `{"features":[{"name":"f","outcome":"skipped","reasons":["for a reason"]}]}`}),
			nil, different, []string{"differs: f: it is not there", "the target did not take it: for a reason", "0 flags are the same on both sides, 1 are not"},
			[]string{importFlags + " dev", importFlags + " prod"}},
		{"an import that is refused whole", withProject(), both(empty, map[string]string{importFlags: `409 {"message":"all of it"}`}), nil, different,
			[]string{"the target did not take it: the target answers 409", "all of it"}, []string{importFlags + " dev", importFlags + " prod"}},
		{"one environment", withProject(), empty, []string{"--environment", "prod"}, different, nil, []string{importFlags + " prod"}},
		{"no such environment", withProject(), empty, []string{"--environment", "nosuch"}, failed, []string{"nothing to move"}, nil},
		{"no such project", withProject(), empty, []string{"--project", "nosuch"}, failed, []string{"nothing to move"}, nil},
		{"a target that makes no projects", withProject(), map[string]string{"POST " + projectsPath: `404 {"message":"no such path"}`}, nil, different,
			[]string{"could not bring project one: the target answers 404", "0 flags are the same on both sides, 1 are not", "1 other things could not be brought"},
			[]string{"POST " + projectsPath + " Oneone"}},
		{"a project that may not be read", both(withProject(), map[string]string{
			"GET " + projectsPath: `{"projects":[{"id":"one"},{"id":"two"}]}`, "GET " + projectsPath + "/two/environments": `403 {"message":"not yours"}`,
		}), withProject(), nil, same, []string{"project two is left out", "not yours", "1 flags are the same"}, nil},
		{"a token that is not known", map[string]string{"GET " + environmentsPath: `401 {"message":"who are you"}`}, nil, nil, failed, []string{"who are you", "is its token right"}, nil},
		{"a token that may not", map[string]string{"GET " + segmentsPath: `403 {"message":"not you"}`}, nil, nil, failed, []string{"not you", "lacks a permission"}, nil},
		{"an own strategy type and a built-in one", both(withProject(), map[string]string{"GET " + strategiesPath: `{"strategies":[{"name":"mine","editable":true},{"name":"gone"},{"name":"default"},{"name":"userWithId","editable":true}]}`}),
			both(withProject(), map[string]string{"GET " + strategiesPath: `{"strategies":[{"name":"default","description":"x"},{"name":"userWithId","description":"x"}]}`}),
			nil, same, nil, []string{"POST " + strategiesPath + " mine", "POST " + strategiesPath + " gone"}},
		{"a version that lists flags by searching", both(withProject(), map[string]string{
			"GET " + projectsPath + "/one/features": "404 {}", "GET /api/admin/archive/features/one": "404 {}",
			"GET /api/admin/search/features": `{"features":[{"name":"f"}],"total":3}`,
		}), withProject(), nil, same, []string{"1 flags are the same on both sides, 0 are not; 3 archived flags"}, nil},
		{"tag types that say the same in other words", both(withProject(), map[string]string{"GET " + tagTypesPath: `{"tagTypes":[{"name":"t","description":"","icon":null}]}`}),
			both(withProject(), map[string]string{"GET " + tagTypesPath: `{"tagTypes":[{"name":"t","description":null,"icon":""}]}`}), nil, same, nil, nil},
		{"a segment that differs", both(withProject(), map[string]string{"GET " + segmentsPath: `{"segments":[{"id":1,"name":"s","constraints":[]}]}`}),
			both(withProject(), map[string]string{"GET " + segmentsPath: `{"segments":[{"id":7,"name":"s","constraints":[{"contextName":"a"}]}]}`}), nil, same, nil,
			[]string{"PUT " + segmentsPath + "/7 s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source, target := stubOf(t, tt.source), stubOf(t, tt.target)
			var out bytes.Buffer
			args := append([]string{"--from", source.url, "--from-token", "a", "--to", target.url, "--to-token", "b"}, tt.args...)
			if code := run(t.Context(), args, func(string) string { return "" }, &out, &out); code != tt.code {
				t.Errorf("exit status is %d, want %d; it printed\n%s", code, tt.code, &out)
			}
			for _, words := range tt.says {
				if !strings.Contains(out.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, &out)
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

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		code       int
		says       string
	}{
		{"help", "--help", same, "-dry-run"},
		{"nothing", "", failed, "--from and --to are required"},
		{"no token", "--from http://a --to http://b --from-token x", failed, "--from-token and --to-token are required"},
		{"no address", "--from a --to http://b --from-token x --to-token x", failed, `"a" is not an address`},
		{"the same", "--from http://a/ --to http://a/api --from-token x --to-token x", failed, "the same server"},
		{"too much", "--from http://a --to http://b x", failed, `no argument "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(t.Context(), strings.Fields(tt.line), func(string) string { return "" }, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.says) {
				t.Errorf("exit status %d, want %d; it printed\n%swant %q", code, tt.code, &out, tt.says)
			}
		})
	}
}
