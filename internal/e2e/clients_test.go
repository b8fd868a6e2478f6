//go:build clients

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/internal/child"
)

// The test of `make test-clients`: unmodified SDKs read their flags from a server.

// seenTimeout is how long a client may take to show a change. Each of them asks once a second, or every three.
const seenTimeout = 45 * time.Second

// A clientFlag is evaluated by every client.
type clientFlag struct {
	Name string `json:"name"`
	Type string `json:"type"` // of the value that OpenFeature is asked for
}

// A clientUser is a context to evaluate flags for.
type clientUser struct {
	Name   string `json:"name"`
	UserID string `json:"userId"`
	Plan   string `json:"plan"`
}

var (
	clientFlags = []clientFlag{
		{"clients-all", "boolean"}, {"clients-off", "boolean"}, {"clients-gold", "boolean"}, {"clients-segment", "boolean"},
		{"clients-child", "boolean"}, {"clients-archived", "boolean"},
		{"clients-text", "string"}, {"clients-json", "object"}, {"clients-number", "number"},
	}
	clientUsers = []clientUser{{"seven", "7", "gold"}, {"eight", "8", "free"}}
)

// set changes the answers for a flag: for both users, or for each.
func (a answers) set(flag string, texts ...string) {
	for i, user := range clientUsers {
		a[user.Name+" clients-"+flag] = texts[min(i, len(texts)-1)]
	}
}

// TestClients runs every client twice: on one server, and on Guidon Edge in front of it. Flags change while they run. All of them must
// show the right answers at the start and after each change, without a restart.
func TestClients(t *testing.T) {
	s := &clientScenario{t: t, g: start(t, "LOG_LEVEL=debug"), want: answers{}} // with a line for each request of an application
	s.create()
	s.start(clientRun{flags: clientFlags})
	s.await("the start")
	s.follow()
	if !moreClients() {
		awaitRequests(t, &s.g.stderr)
		s.awaitEdgeRequests()
	}
	for _, c := range s.clients {
		c.end(t)
	}
}

// follow changes flags while the clients run. All of them must show the right answers after each change.
func (s *clientScenario) follow() {
	s.t.Helper()
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"a flag is switched off, and so is its child", s.switchOff},
		{"it is switched on again", s.switchOn},
		{"the segment changes", s.changeSegment},
		{"the constraint changes", s.changeConstraint},
		{"a variant and its payload change", s.changeVariant},
		{"a flag is archived", s.archive},
		{"it is revived", s.revive},
		{"the server restarts, and a flag is switched off", s.restart},
		{"Guidon Edge restarts, and the flag is switched on", s.restartEdge},
	} {
		step.change()
		s.await(step.name)
	}
}

// A clientScenario is a server with flags, and the clients that read them.
type clientScenario struct {
	t       *testing.T
	g       *gateway
	edge    *guidonEdge // nil for none
	clients []*client
	want    answers
	segment int
	gold    string // the path of the strategy with the constraint
}

// start starts every client on the server, and again on a Guidon Edge.
func (s *clientScenario) start(run clientRun) {
	s.t.Helper()
	s.edge = startGuidonEdge(s.t, s.g)
	s.clients = startClients(s.t, s.g, run)
	run.url, run.prefix = s.edge.url(), throughEdge
	s.clients = append(s.clients, startClients(s.t, s.g, run)...)
}

// requests returns the requests with which the clients use all endpoints, as they were told to. They get a 304 while nothing changes.
func requests() []string {
	return []string{
		"200 GET /api/client/features", "304 GET /api/client/features",
		"200 GET /api/client/delta", "304 GET /api/client/delta",
		"200 GET /api/frontend", "304 GET /api/frontend",
		"200 POST /api/frontend", "304 POST /api/frontend",
		"200 POST /ofrep/v1/evaluate/flags", "304 POST /ofrep/v1/evaluate/flags",
		"200 POST /ofrep/v1/evaluate/flags/{key}",
		"202 POST /api/client/metrics", "200 POST /api/frontend/client/metrics",
	}
}

// awaitRequests waits until a server has answered all requests of the clients, and others, as its log shows.
func awaitRequests(t *testing.T, log *child.Output, others ...string) {
	t.Helper()
	missing := append(requests(), others...)
	for began := time.Now(); len(missing) > 0 && time.Since(began) < seenTimeout; time.Sleep(100 * time.Millisecond) {
		for line := range strings.Lines(log.String()) {
			var request struct {
				Route  string
				Status int
			}
			if json.Unmarshal([]byte(line), &request) == nil {
				seen := fmt.Sprintf("%d %s", request.Status, request.Route)
				missing = slices.DeleteFunc(missing, func(want string) bool { return want == seen })
			}
		}
	}
	for _, want := range missing {
		t.Errorf("no request was answered with %s", want)
	}
}

// awaitEdgeRequests waits until Guidon Edge has answered them, too, and has sent streams. Pages that listen to one do not poll.
func (s *clientScenario) awaitEdgeRequests() {
	s.t.Helper()
	missing := append(requests(), "200 GET /api/client/streaming", "200 GET /ofrep/v1/events/{ticket}")
	missing = slices.DeleteFunc(missing, func(request string) bool { return request == "304 POST /ofrep/v1/evaluate/flags" })
	for began := time.Now(); len(missing) > 0 && time.Since(began) < seenTimeout; time.Sleep(100 * time.Millisecond) {
		page := s.edge.get(s.t, "/metrics", "")
		missing = slices.DeleteFunc(missing, func(want string) bool {
			status, route, _ := strings.Cut(want, " ")
			if strings.HasSuffix(route, "/api/frontend") {
				route = "/api/frontend" // for both methods
			}
			return strings.Contains(page, fmt.Sprintf("guidon_edge_requests_total{route=%q,status=%q}", route, status))
		})
	}
	for _, want := range missing {
		s.t.Errorf("Guidon Edge answered no request with %s", want)
	}
}

// call sends a request that must succeed.
func (s *clientScenario) call(method, path string, body any, into any) {
	s.t.Helper()
	status, answer, err := s.g.send(s.t.Context(), method, path, body)
	if err != nil || status >= http.StatusMultipleChoices {
		s.t.Fatalf("%s %s: %d %s, %v", method, path, status, answer, err)
	}
	if into != nil {
		decode(s.t, answer, into)
	}
}

func clientFlagPath(name string) string { return project + "/features/clients-" + name }

func inDevelopment(name string) string { return clientFlagPath(name) + "/environments/development" }

func segmentBody(user string) any {
	return map[string]any{"name": "clients", "constraints": []any{equals("userId", user)}}
}

// equals is a constraint.
func equals(field, value string) any {
	return map[string]any{"contextName": field, "operator": "IN", "values": []string{value}}
}

// rollout is a strategy for all users, with what is in more.
func rollout(more map[string]any) any {
	all := map[string]any{"name": "flexibleRollout", "parameters": map[string]string{"rollout": "100", "stickiness": "default", "groupId": "clients"}}
	maps.Copy(all, more)
	return all
}

// variants is a list of one variant with a payload.
func variants(name, kind, value string) []any {
	return []any{map[string]any{
		"name": name, "weight": 1000, "weightType": "variable", "stickiness": "default",
		"payload": map[string]string{"type": kind, "value": value},
	}}
}

// create creates the flags.
func (s *clientScenario) create() {
	s.call("POST", "/api/admin/context", map[string]string{"name": "plan"}, nil)
	var made struct{ ID int }
	s.call("POST", "/api/admin/segments", segmentBody("7"), &made)
	s.segment = made.ID
	for _, f := range clientFlags {
		name := strings.TrimPrefix(f.Name, "clients-")
		more := map[string]any{}
		switch name {
		case "gold":
			more["constraints"] = []any{equals("plan", "gold")}
		case "segment":
			more["segments"] = []int{s.segment}
		case "number":
			more["variants"] = variants("answer", "number", "42")
		}
		s.call("POST", project+"/features", map[string]string{"name": f.Name}, nil)
		var strategy struct{ ID string }
		s.call("POST", inDevelopment(name)+"/strategies", rollout(more), &strategy)
		if name == "gold" {
			s.gold = inDevelopment(name) + "/strategies/" + strategy.ID
		}
		if s.want.set(name, "off"); name != "off" {
			s.call("POST", inDevelopment(name)+"/on", nil, nil)
			s.want.set(name, "on")
		}
	}
	s.call("PUT", inDevelopment("text")+"/variants", variants("blue", "string", "hello"), nil)
	s.call("PUT", inDevelopment("json")+"/variants", variants("settings", "json", `{"x":1}`), nil)
	s.call("POST", clientFlagPath("child")+"/dependencies", map[string]string{"feature": "clients-all"}, nil)
	s.want.set("gold", "on", "off")
	s.want.set("segment", "on", "off")
	s.want.set("text", "on blue hello")
	s.want.set("json", `on settings {"x":1}`)
	s.want.set("number", "on answer 42")
}

func (s *clientScenario) switchOff() {
	s.call("POST", inDevelopment("all")+"/off", nil, nil)
	s.want.set("all", "off")
	s.want.set("child", "off")
}

func (s *clientScenario) switchOn() {
	s.call("POST", inDevelopment("all")+"/on", nil, nil)
	s.want.set("all", "on")
	s.want.set("child", "on")
}

func (s *clientScenario) changeSegment() {
	s.call("PUT", fmt.Sprintf("/api/admin/segments/%d", s.segment), segmentBody("8"), nil)
	s.want.set("segment", "off", "on")
}

func (s *clientScenario) changeConstraint() {
	s.call("PUT", s.gold, rollout(map[string]any{"constraints": []any{equals("plan", "free")}}), nil)
	s.want.set("gold", "off", "on")
}

func (s *clientScenario) changeVariant() {
	s.call("PUT", inDevelopment("text")+"/variants", variants("green", "string", "good evening"), nil)
	s.want.set("text", "on green good evening")
}

func (s *clientScenario) archive() {
	s.call("DELETE", clientFlagPath("archived"), nil, nil)
	s.want.set("archived", "off")
}

// revive brings the flag back, and switches it on, since a revived flag is off everywhere.
func (s *clientScenario) revive() {
	s.call("POST", "/api/admin/archive/revive/clients-archived", nil, nil)
	s.call("POST", inDevelopment("archived")+"/on", nil, nil)
	s.want.set("archived", "on")
}

func (s *clientScenario) restart() {
	s.g.stop(s.t)
	s.g = s.g.again(s.t)
	s.switchOff()
}

func (s *clientScenario) restartEdge() {
	if s.edge != nil {
		s.edge.signal(s.t, os.Kill)
		s.edge.wait(s.t)
		s.edge.run(s.t)
	}
	s.switchOn()
}

// await waits until every client shows the right answers.
func (s *clientScenario) await(what string) {
	s.t.Helper()
	began := time.Now()
	var seen []string
	late := slices.Clone(s.clients)
	for ; len(late) > 0 && time.Since(began) < seenTimeout; time.Sleep(10 * time.Millisecond) {
		late = slices.DeleteFunc(late, func(c *client) bool {
			if !maps.Equal(c.latest(s.t), s.want) {
				return false
			}
			seen = append(seen, fmt.Sprintf("%s %.1f s", c.name, time.Since(began).Seconds()))
			return true
		})
	}
	s.t.Logf("%s: %s", what, strings.Join(seen, ", "))
	for _, c := range late {
		s.t.Errorf("%s: %s does not show it after %s:\n%s", what, c.name, seenTimeout, differences(c.latest(s.t), s.want))
	}
	if len(late) > 0 {
		s.t.FailNow()
	}
}
