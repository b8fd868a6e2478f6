package main

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	// ours begins every name that a run makes, so that a later run finds what
	// an interrupted one left and never touches a flag of somebody else's.
	ours = "bench-"

	projectPath = "/api/admin/projects/default/features"
	environment = "development"
)

// request is one call and the status it must be answered with.
type request struct {
	method, path, body string
	want               int
}

// phase is one operation to measure.
type phase struct {
	name   string
	target float64 // requests a second, as a multiple of Unleash's, to reach; 0: none set

	// The 1,000 flags beforehand: strategy gives each one a gradual rollout,
	// enabled also switches it on.
	strategy, enabled bool

	// request is the i-th measured one. i counts from 0 through the whole
	// phase; flag is the i-th of the prepared flags, taken in turn.
	request func(i int, prefix, flag string) request

	// undo, where there is one, is sent to each flag after every flag has had
	// its request, with the clock stopped: the next pass changes state again.
	undo func(flag string) request
}

// phases are the measured operations, in the order of the table.
var phases = []phase{
	{name: "create", target: 4, request: func(i int, prefix, _ string) request {
		return create(fmt.Sprintf("%snew-%d", prefix, i))
	}},
	{name: "add strategy", request: func(_ int, _, flag string) request { return addStrategy(flag) }},
	{name: "on", target: 4, strategy: true, undo: off,
		request: func(_ int, _, flag string) request { return on(flag) }},
	{name: "off", strategy: true, enabled: true, undo: on,
		request: func(_ int, _, flag string) request { return off(flag) }},
	{name: "read one", target: 8, strategy: true, request: func(_ int, _, flag string) request {
		return request{method: http.MethodGet, path: projectPath + "/" + flag, want: http.StatusOK}
	}},
	{name: "list", target: 6, strategy: true, request: func(int, string, string) request { return list() }},
	{name: "PUT", target: 2, request: func(i int, _, flag string) request {
		// Another description each time: what changes nothing is not written.
		body := fmt.Sprintf(`{"name":%q,"description":"description %d","type":"release"}`, flag, i)
		return request{http.MethodPut, projectPath + "/" + flag, body, http.StatusOK}
	}},
}

// choose picks phases by name, all when none is named.
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
			return nil, fmt.Errorf("no phase is called %q", name)
		}
	}
	return chosen, nil
}

func create(name string) request {
	body := fmt.Sprintf(`{"name":%q,"description":"made by the benchmark"}`, name)
	return request{http.MethodPost, projectPath, body, http.StatusCreated}
}

// addStrategy spells all parameters out: Unleash fills none in, and both
// servers should store the same.
func addStrategy(flag string) request {
	body := fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"default","groupId":%q}}`, flag)
	return request{http.MethodPost, environmentPath(flag) + "/strategies", body, http.StatusOK}
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

func archive(flag string) request {
	return request{method: http.MethodDelete, path: projectPath + "/" + flag, want: http.StatusAccepted}
}

func environmentPath(flag string) string {
	return projectPath + "/" + flag + "/environments/" + environment
}
