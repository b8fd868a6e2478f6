package main

import (
	"fmt"
	"net/http"
)

const (
	projectPath = "/api/admin/projects/default/features"
	environment = "development"
)

// A request is sent and must get the status want.
type request struct {
	method, path, body string
	want               int
}

// A phase measures one operation on a project of flags that are on, each with a strategy. The phases that change nothing come
// first, so that all meet the same flags.
type phase struct {
	name string

	// application is the type of the token that the requests are sent with, "client" or "frontend"; "" for the admin token. Those of
	// applications accept gzip.
	application string

	unchanged bool // whether the requests have the ETag of the current response

	// request returns the i-th request of the phase; flag is one of the prepared flags, in turn, pass counts the turns.
	request func(i, pass int, flag string) request
}

// The types of tokens of applications.
const (
	client   = "client"
	frontend = "frontend"
)

var phases = []phase{
	{name: "read one", request: func(_, _ int, flag string) request { return get(projectPath + "/" + flag) }},
	{name: "list", request: func(int, int, string) request { return get(projectPath) }},
	{name: "search", request: func(_, _ int, flag string) request { // by a part of the name that ten flags have
		return get(searchPath + "&query=" + flag[:len(flag)-1])
	}},
	{name: "search sorted", request: func(int, int, string) request { return get(searchPath + "&sortBy=createdAt&sortOrder=desc") }},
	{name: "overview", request: func(int, int, string) request { return get("/api/admin/projects/default/overview") }},
	{name: "projects", request: func(int, int, string) request { return get("/api/admin/projects") }},
	{name: "register", application: client, request: func(int, int, string) request { // as one that is known, and changes nothing
		body := `{"appName":"bench","instanceId":"bench","sdkVersion":"bench:1","strategies":["default","flexibleRollout"],"started":"2026-01-02T03:04:05.678Z","interval":60000}`
		return request{http.MethodPost, "/api/client/register", body, http.StatusAccepted}
	}},
	{name: "poll 304", application: client, unchanged: true, request: func(int, int, string) request {
		return request{method: http.MethodGet, path: pollPath, want: http.StatusNotModified}
	}},
	{name: "poll 200", application: client, request: func(int, int, string) request { return get(pollPath) }},
	{name: "frontend", application: frontend, request: func(i, _ int, _ string) request { return evaluate(i) }},
	{name: "switch", request: func(_, pass int, flag string) request { return turn(flag, []string{"off", "on"}[pass%2]) }},
	{name: "PUT", request: func(i, _ int, flag string) request {
		// A new description each time: a request that changes nothing is not written.
		body := fmt.Sprintf(`{"name":%q,"description":"description %d","type":"release"}`, flag, i)
		return request{http.MethodPut, projectPath + "/" + flag, body, http.StatusOK}
	}},
	{name: "add strategy", request: func(_, _ int, flag string) request { return addStrategy(flag) }},
	{name: "create", request: func(i, pass int, flag string) request { return create(fmt.Sprintf("%s-%d", flag, pass)) }},
}

const (
	pollPath   = "/api/client/features"
	searchPath = "/api/admin/search/features?limit=50"
)

func get(path string) request { return request{http.MethodGet, path, "", http.StatusOK} }

func create(name string) request {
	return request{http.MethodPost, projectPath, fmt.Sprintf(`{"name":%q,"description":"created by the benchmark"}`, name), http.StatusCreated}
}

// addStrategy adds a strategy with a constraint and two variants, which is on for every request of evaluate. It sends all
// parameters: Unleash adds no defaults, and both servers should store the same.
func addStrategy(flag string) request {
	body := fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"default","groupId":%q},
		"constraints":[{"contextName":"appName","operator":"IN","values":["web","bench"]}],
		"variants":[{"name":"blue","weight":500,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"b"}},
			{"name":"green","weight":500,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"g"}}]}`, flag)
	return request{http.MethodPost, environmentPath(flag) + "/strategies", body, http.StatusOK}
}

// evaluate is the request of a browser: another user each time.
func evaluate(i int) request { return get(fmt.Sprintf("/api/frontend?appName=bench&userId=%d", i)) }

func turn(flag, to string) request {
	return request{http.MethodPost, environmentPath(flag) + "/" + to, "", http.StatusOK}
}

func environmentPath(flag string) string {
	return projectPath + "/" + flag + "/environments/" + environment
}
