package serving

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"guidon/pkg/answers"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// apiToken creates a client token, and returns its secret; "" if a project does not exist.
func (a *administration) apiToken(environment string, projects ...string) string {
	a.ids++
	list, _ := json.Marshal(projects)
	status, answer := a.try("POST", "/api/admin/api-tokens",
		fmt.Sprintf(`{"tokenName": "poller-%d", "type": "client", "environment": %q, "projects": %s}`, a.ids, environment, list))
	if status != http.StatusCreated {
		return ""
	}
	var created struct{ Secret string }
	if err := json.Unmarshal([]byte(answer), &created); err != nil {
		a.t.Fatal(err)
	}
	return created.Secret
}

// An instance answers applications with a memory of its own.
type instance struct{ http.Handler }

func (a *administration) instance() instance {
	config := httpapi.Config{}
	return instance{httpapi.New(a.store, ClientGroup(NewReader(a.store, ReaderOptions{}), a.store, config), config)}
}

func (i instance) get(path, token, etag string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Authorization", token)
	r.Header.Set("Unleash-Client-Spec", newSpec)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w
}

// A poller is an application that keeps what it reads: everything with one ETag, and the deltas with another. It applies deltas
// as the Node SDK does.
type poller struct {
	t     testing.TB
	token string
	query string

	tag      string
	answer   string // the last answer, without its meta
	whole    string // its flags and segments
	deltaTag string
	features map[string]any // what the deltas add up to
	segments map[float64]any
	kinds    map[string]int // how many events of each type it got
}

// known returns what the deltas add up to, as an answer contains it.
func (p *poller) known() string {
	features, segments := []any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(p.features)) {
		features = append(features, p.features[name])
	}
	for _, id := range slices.Sorted(maps.Keys(p.segments)) {
		segments = append(segments, p.segments[id])
	}
	return encoded(map[string]any{"features": features, "segments": segments})
}

func encoded(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// readWhole polls /api/client/features. The answer must be a 304 if and only if nothing in it changed.
func (p *poller) readWhole(i instance) (status int) {
	answer := i.get("/api/client/features?"+p.query, p.token, p.tag)
	if answer.Code != http.StatusOK {
		return answer.Code
	}
	var document map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil {
		p.t.Fatal(err)
	}
	delete(document, "meta")
	if same := encoded(document); p.tag != "" && same == p.answer {
		p.t.Errorf("%s: the ETag changed from %s to %s, and the answer did not", p.query, p.tag, answer.Header().Get("ETag"))
	} else {
		p.answer = same
	}
	p.whole = encoded(map[string]any{"features": document["features"], "segments": document["segments"]})
	p.tag = answer.Header().Get("ETag")
	return answer.Code
}

// readDelta polls /api/client/delta, and applies the answer. sees reports whether the token may see a project.
func (p *poller) readDelta(i instance, sees func(project string) bool) (status int) {
	answer := i.get("/api/client/delta?"+p.query, p.token, p.deltaTag)
	if answer.Code != http.StatusOK {
		return answer.Code
	}
	var delta struct{ Events []map[string]any }
	if err := json.Unmarshal(answer.Body.Bytes(), &delta); err != nil {
		p.t.Fatal(err)
	}
	if len(delta.Events) == 0 {
		p.t.Errorf("%s: a 200 without an event", p.query)
	}
	last := 0.0
	for _, e := range delta.Events {
		if id := e["eventId"].(float64); id < last {
			p.t.Errorf("event %v after %v", id, last)
		} else {
			last = id
		}
		p.kinds[e["type"].(string)]++
		switch e["type"] {
		case "hydration":
			p.features, p.segments = map[string]any{}, map[float64]any{}
			for _, f := range e["features"].([]any) {
				p.features[f.(map[string]any)["name"].(string)] = f
			}
			for _, s := range e["segments"].([]any) {
				p.segments[s.(map[string]any)["id"].(float64)] = s
			}
		case "feature-updated":
			f := e["feature"].(map[string]any)
			p.features[f["name"].(string)] = f
			if !sees(f["project"].(string)) {
				p.t.Errorf("the token may not see the project of %v", f)
			}
		case "feature-removed":
			delete(p.features, e["featureName"].(string))
			if !sees(e["project"].(string)) {
				p.t.Errorf("the token may not see the project of %v", e)
			}
		case "segment-updated":
			s := e["segment"].(map[string]any)
			p.segments[s["id"].(float64)] = s
		case "segment-removed":
			delete(p.segments, e["segmentId"].(float64))
		default:
			p.t.Errorf("unknown event %v", e)
		}
	}
	p.deltaTag = answer.Header().Get("ETag")
	return answer.Code
}

// TestDeltasAddUp makes random changes. Pollers with several tokens and filters ask one of three instances at random, as behind
// a load balancer. What their deltas add up to must be what /api/client/features answers, and an ETag must change if and only
// if the answer does.
func TestDeltasAddUp(t *testing.T) {
	a := administer(t)
	random := rand.New(rand.NewPCG(7, 5))
	for _, id := range []string{"team", "other"} {
		a.do("POST", "/api/admin/projects", fmt.Sprintf(`{"id": %q, "name": %[1]q}`, id))
	}
	a.do("POST", "/api/admin/environments", `{"name": "qa", "type": "test"}`)
	instances := []instance{a.instance(), a.instance(), a.instance()}
	type tokenScope struct {
		environment, query string
		projects           []string
	}
	scopes := []tokenScope{
		{"development", "", []string{"*"}}, {"development", "", []string{"default"}}, {"production", "", []string{"team"}},
		{"development", "", []string{"team", "other"}}, {"development", "namePrefix=flag-1&project=other&project=team", []string{"*"}},
		{"development", "tag=simple:t", []string{"*"}}, {"qa", "", []string{"team", "default"}},
	}
	pollers := make([]*poller, len(scopes)+1)
	kinds := map[string]int{}
	renew := func(i int) {
		pollers[i] = &poller{t: t, query: scopes[i].query, token: a.apiToken(scopes[i].environment, scopes[i].projects...), kinds: kinds}
	}
	for i := range scopes {
		renew(i)
	}
	pollers[len(scopes)] = &poller{t: t, query: "environment=qa", token: dynamotest.AdminToken, kinds: kinds}

	anInstance := func() instance { return instances[[]int{0, 0, 0, 0, 0, 0, 1, 1, 1, 2}[random.IntN(10)]] } // some sleep long
	polled, revoked, deltas, unchanged := 0, 0, 0, 0
	for step := range dynamotest.Times(300, 5000) {
		randomChanges[random.IntN(len(randomChanges))](a, random)
		for i, p := range pollers {
			if random.IntN(4) > 0 { // it sleeps
				continue
			}
			if p.token == "" {
				renew(i)
				continue
			}
			sees := func(project string) bool {
				return i == len(scopes) || scopes[i].projects[0] == "*" || slices.Contains(scopes[i].projects, project)
			}
			delta, whole := p.readDelta(anInstance(), sees), p.readWhole(anInstance())
			if delta == http.StatusUnauthorized && whole == http.StatusUnauthorized {
				revoked++
				renew(i)
				continue
			}
			if delta >= 400 || whole >= 400 {
				t.Fatalf("step %d: %d and %d", step, delta, whole)
			}
			polled++
			if delta == http.StatusNotModified {
				unchanged++
			} else {
				deltas++
			}
			if diff := gocmp.Diff(p.whole, p.known()); diff != "" {
				t.Fatalf("step %d, poller %d: the deltas do not add up (-features +deltas):\n%s", step, i, diff)
			}
		}
	}
	t.Logf("%d polls: %d with a delta, %d unchanged; %d tokens were revoked; events: %v", polled, deltas, unchanged, revoked, kinds)
	if polled < 300 || deltas < 50 || unchanged < 50 || revoked == 0 || len(kinds) < 5 || kinds["hydration"] > deltas/2 {
		t.Error("too little happened")
	}
}

// TestNextPoll makes each kind of change, and checks what the next poll of another instance tells.
func TestNextPoll(t *testing.T) {
	a := administer(t)
	a.do("POST", "/api/admin/projects", `{"id": "team", "name": "team"}`)
	for _, name := range []string{"a", "b", "c"} {
		a.flag(name)
	}
	segment := a.segment("")
	one, other := a.instance(), a.instance()
	token, teamToken := a.apiToken("development", "default"), a.apiToken("development", "team")

	poll := func(i instance, token, query string) string {
		t.Helper()
		answer := i.get("/api/client/features?"+query, token, "")
		if answer.Code != http.StatusOK {
			return fmt.Sprint(answer.Code)
		}
		var document answers.ClientFeatures
		if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range document.Features {
			text := f.Name
			if f.Enabled {
				text += "+"
			}
			for _, s := range f.Strategies {
				for _, id := range s.Segments {
					text += fmt.Sprintf("[%d]", id)
				}
			}
			list = append(list, text)
		}
		for _, s := range document.Segments {
			list = append(list, fmt.Sprintf("%d=%d", s.ID, len(s.Constraints)))
		}
		return strings.Join(list, " ")
	}
	for _, tt := range []struct{ method, path, body, token, query, want string }{
		{"POST", in("a", "development") + "/on", "", token, "", "a+ b c 1=1"},
		{"POST", in("b", "production") + "/on", "", token, "", "a+ b c 1=1"},
		{"POST", in("a", "development") + "/off", "", token, "", "a b c 1=1"},
		{"POST", in("b", "development") + "/strategies", fmt.Sprintf(`{"name": "default", "segments": [%d]}`, segment), token, "", "a b[1] c 1=1"},
		{"PUT", fmt.Sprintf("/api/admin/segments/%d", segment), `{"name": "s", "constraints": []}`, token, "", "a b[1] c 1=0"},
		{"POST", "/api/admin/features/c/tags", `{"type": "simple", "value": "yes"}`, token, "tag=simple:yes", "c 1=0"},
		{"DELETE", "/api/admin/features/c/tags/simple/yes", "", token, "tag=simple:yes", "1=0"},
		{"DELETE", features + "/c", "", token, "", "a b[1] 1=0"},
		{"POST", "/api/admin/archive/revive/c", "", token, "", "a b[1] c 1=0"},
		{"POST", features + "/c/changeProject", `{"newProjectId": "team"}`, token, "", "a b[1] 1=0"},
		{"POST", in("b", "development") + "/on", "", token, "", "a b+[1] 1=0"},
		{"DELETE", defaultProject + "/environments/development", "", token, "", "a b 1=0"},
		{"POST", defaultProject + "/environments", `{"environment": "development"}`, token, "", "a b[1] 1=0"},
		{"DELETE", "/api/admin/projects/team/features/c", "", teamToken, "", "1=0"},
		{"DELETE", "/api/admin/projects/team", "", teamToken, "", "401"},
		{"POST", "/api/admin/projects", `{"id": "team", "name": "team"}`, teamToken, "", "401"},
		{"DELETE", "/api/admin/api-tokens/" + cmp.Or(token, "none"), "", token, "", "401"},
	} {
		poll(one, tt.token, tt.query) // has a memory
		a.do(tt.method, tt.path, tt.body)
		for _, i := range []instance{other, one, a.instance()} {
			if got := poll(i, tt.token, tt.query); got != tt.want {
				t.Errorf("%s %s %s: %q, want %q", tt.method, tt.path, tt.body, got, tt.want)
			}
		}
	}
}
