package main

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	// ours is the prefix of the names of the benchmark's flags. A later run archives what an interrupted one left, and never
	// changes other flags.
	ours = "bench-"

	projectPath = "/api/admin/projects/default/features"
	environment = "development"
)

// A request is sent and must get the status want.
type request struct {
	method, path, body string
	want               int
	header             map[string]string // in addition to the token and the content type, or instead of them
}

// A phase measures one operation.
type phase struct {
	name string
	goal float64 // how many times less own processor time than Unleash's; 0 for none

	// reads says that the requests change nothing. Such phases share a server and its flags.
	reads bool

	strategy func(flag string) request // adds a strategy to each prepared flag; nil for none
	enabled  bool                      // whether the prepared flags are on

	// application is the type of the token that the requests are sent with, "client" or "frontend"; "" for the admin token.
	// The requests have the headers of an SDK, and those in header. With unchanged, they have the ETag of the current answer.
	application string
	header      map[string]string
	unchanged   bool

	// request returns the i-th request of the phase; flag is one of the prepared flags, in turn.
	request func(i int, prefix, flag string) request

	// undo, if set, is sent for each flag after a pass over all flags, so that the requests of the next pass change state again.
	undo func(flag string) request
}

// A group is a set of phases that run together.
type group int

const (
	writes       group = iota // each run starts with a new project
	reads                     // these share the flags
	applications              // these, too: their flags have other strategies and are on
)

func (p phase) group() group {
	switch {
	case p.application != "":
		return applications
	case p.reads:
		return reads
	default:
		return writes
	}
}

var phases = []phase{
	{name: "create", goal: 8, request: func(i int, prefix, _ string) request {
		return create(fmt.Sprintf("%snew-%d", prefix, i))
	}},
	{name: "add strategy", goal: 8, request: func(_ int, _, flag string) request { return addStrategy(flag) }},
	{name: "on", goal: 8, strategy: addStrategy, undo: off,
		request: func(_ int, _, flag string) request { return on(flag) }},
	{name: "off", goal: 5, strategy: addStrategy, enabled: true, undo: on,
		request: func(_ int, _, flag string) request { return off(flag) }},
	{name: "PUT", goal: 5, request: func(i int, _, flag string) request {
		// A new description each time: a request that changes nothing is not written.
		body := fmt.Sprintf(`{"name":%q,"description":"description %d","type":"release"}`, flag, i)
		return request{method: http.MethodPut, path: projectPath + "/" + flag, body: body, want: http.StatusOK}
	}},
	{name: "read one", goal: 10, reads: true, strategy: addStrategy, request: func(_ int, _, flag string) request {
		return request{method: http.MethodGet, path: projectPath + "/" + flag, want: http.StatusOK}
	}},
	{name: "list", goal: 40, reads: true, strategy: addStrategy, request: func(int, string, string) request { return list() }},
	{name: "search", reads: true, strategy: addStrategy, request: func(_ int, _, flag string) request {
		return request{method: http.MethodGet, path: "/api/admin/search/features?limit=50&query=" + flag, want: http.StatusOK}
	}},
	{name: "poll 304", strategy: addServedStrategy, enabled: true, application: client, header: gzip, unchanged: true,
		request: poll(http.StatusNotModified)},
	{name: "poll 200", strategy: addServedStrategy, enabled: true, application: client, header: gzip,
		request: poll(http.StatusOK)},
	{name: "poll 200 plain", strategy: addServedStrategy, enabled: true, application: client, // as the Python SDK
		request: poll(http.StatusOK)},
	{name: "frontend", strategy: addServedStrategy, enabled: true, application: frontend, header: gzip,
		request: func(i int, _, _ string) request { return evaluate(i) }},
}

// The types of tokens of applications.
const (
	client   = "client"
	frontend = "frontend"
)

// gzip is what nearly all SDKs and browsers send.
var gzip = map[string]string{"Accept-Encoding": "gzip"}

// choose returns the phases with these names, or all.
func choose(names string) ([]phase, error) {
	if names == "" {
		return phases, nil
	}
	var chosen []phase
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for _, p := range phases {
			if p.name == strings.TrimSpace(name) {
				chosen, found = append(chosen, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown phase %q", name)
		}
	}
	return chosen, nil
}

func create(name string) request {
	body := fmt.Sprintf(`{"name":%q,"description":"created by the benchmark"}`, name)
	return request{method: http.MethodPost, path: projectPath, body: body, want: http.StatusCreated}
}

// addStrategy sends all parameters: Unleash adds no defaults, and both servers should store the same.
func addStrategy(flag string) request {
	body := fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"default","groupId":%q}}`, flag)
	return request{method: http.MethodPost, path: environmentPath(flag) + "/strategies", body: body, want: http.StatusOK}
}

// addServedStrategy adds a strategy with a constraint and two variants. The flag is on for every request of evaluate.
func addServedStrategy(flag string) request {
	body := fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"default","groupId":%q},
		"constraints":[{"contextName":"appName","operator":"IN","values":["web","bench"]}],
		"variants":[{"name":"blue","weight":500,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"b"}},
			{"name":"green","weight":500,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"g"}}]}`, flag)
	return request{method: http.MethodPost, path: environmentPath(flag) + "/strategies", body: body, want: http.StatusOK}
}

// poll returns the requests of a server-side SDK, which must get a status.
func poll(want int) func(int, string, string) request {
	return func(int, string, string) request {
		return request{method: http.MethodGet, path: "/api/client/features", want: want}
	}
}

// evaluate is the request of a browser: another user each time.
func evaluate(i int) request {
	return request{method: http.MethodGet, path: fmt.Sprintf("/api/frontend?appName=bench&userId=%d", i), want: http.StatusOK}
}

func on(flag string) request {
	return request{method: http.MethodPost, path: environmentPath(flag) + "/on", want: http.StatusOK}
}

func off(flag string) request {
	return request{method: http.MethodPost, path: environmentPath(flag) + "/off", want: http.StatusOK}
}

func list() request {
	return request{method: http.MethodGet, path: projectPath, want: http.StatusOK}
}

func environmentPath(flag string) string {
	return projectPath + "/" + flag + "/environments/" + environment
}
