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
}

// A phase measures one operation.
type phase struct {
	name   string
	target float64 // of the ratio of the rates of Guidon and Unleash; 0 for none

	strategy bool // whether the prepared flags have a gradual rollout
	enabled  bool // whether they are on

	// request returns the i-th request of the phase; flag is one of the prepared flags, in turn.
	request func(i int, prefix, flag string) request

	// undo, if set, is sent for each flag after a pass over all flags, so that the requests of the next pass change state again.
	undo func(flag string) request
}

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
		// A new description each time: a request that changes nothing is not written.
		body := fmt.Sprintf(`{"name":%q,"description":"description %d","type":"release"}`, flag, i)
		return request{http.MethodPut, projectPath + "/" + flag, body, http.StatusOK}
	}},
}

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
	return request{http.MethodPost, projectPath, body, http.StatusCreated}
}

// addStrategy sends all parameters: Unleash adds no defaults, and both servers should store the same.
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
