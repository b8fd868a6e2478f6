// Package agents lets AI agents work with flags over the Model Context Protocol (MCP): at /api/admin/mcp, and with `guidon mcp` over standard
// input and output.
//
// A tool only calls operations of the API with the caller's own token, so it has the permissions, guards, limits, events and errors of the API.
// No tool approves, applies or deletes anything, and an agent skips neither change requests nor freezes, even if its caller may (see
// access.Caller).
package agents

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"guidon/pkg/admin/eventlog"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/metrics"
	"guidon/pkg/admin/playground"
	"guidon/pkg/admin/projects"
	"guidon/pkg/admin/requests"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Path is where clients send their messages. It is that of Unleash.
const Path = "/api/admin/mcp"

// maxBody is the size of the largest message in bytes.
const maxBody = 256 << 10

// anyCaller is the path of an operation that every caller with a valid token may call.
const anyCaller = "/api/admin/feature-types"

// reachable are the operations that tools call. There are no others behind a tool.
var reachable = []string{
	"GET " + anyCaller,
	"GET /api/admin/search/features",
	"GET /api/admin/projects/{projectId}/features/{featureName}",
	"GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies",
	"GET /api/admin/client-metrics/features/{featureName}",
	"GET /api/admin/events/{featureName}",
	"POST /api/admin/playground",
	"POST /api/admin/projects/{projectId}/features",
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on",
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off",
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies",
	"PUT /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}",
	"GET /api/admin/projects/{projectId}/change-requests/config",
	"POST /api/admin/projects/{projectId}/environments/{environment}/change-requests",
	"GET /api/admin/projects/{projectId}/change-requests/{changeRequestId}",
	"PUT /api/admin/projects/{projectId}/change-requests/{changeRequestId}/title",
	"PUT /api/admin/projects/{projectId}/change-requests/{changeRequestId}/state",
}

// Group is the endpoint of MCP: Streamable HTTP without sessions, in which each message is a POST.
func Group(store httpapi.Store, config httpapi.Config) httpapi.Group {
	e := &endpoint{operations: sync.OnceValue(func() http.Handler { return httpapi.New(store, operations(), config) })}
	message, none := httpapi.Serve(nil, nil, e.serve), http.StatusMethodNotAllowed
	return httpapi.Group{Name: "agents", Function: "transfer", Operations: []httpapi.Operation{
		{Route: "POST " + Path, MaxBody: maxBody, Handle: message},
		{Route: "GET " + Path, Status: none, Handle: message}, // 405 tells clients that there is no stream, and no session to end
		{Route: "DELETE " + Path, Status: none, Handle: message},
	}}
}

// operations are the reachable ones.
func operations() httpapi.Group {
	all := httpapi.Join(features.Group(), strategies.Group(), requests.Group(), projects.Projects(), eventlog.Group(), metrics.Group(), playground.Group())
	return httpapi.Group{Operations: slices.DeleteFunc(all.Operations, func(op httpapi.Operation) bool { return !slices.Contains(reachable, op.Route) })}
}

// An endpoint serves MCP in the process of the operations.
type endpoint struct {
	operations func() http.Handler // made for the first request: most starts of the function have other reasons
}

// serve authenticates a request and passes it to the SDK.
func (e *endpoint) serve(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	local := &inProcess{ctx, r, e.operations()}
	if refused := local.send(http.MethodGet, anyCaller, nil, ""); refused.Status != http.StatusOK {
		return refused.Response(), nil
	}
	if r.Method == http.MethodPost {
		body, err := httpapi.ReadBody(r, maxBody)
		if err != nil {
			return httpapi.Response{}, err
		}
		if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) { // a list would be many calls in one request
			return httpapi.Response{}, flags.Errorf(flags.Invalid, "the body must be one JSON-RPC message, not a list")
		}
		r = r.Clone(ctx)
		r.ContentLength = int64(len(body))
		r.Header.Del("Content-Encoding")
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	server := NewServer(local.call, r.UserAgent())
	options := &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // pkg/server checks names, and behind a proxy or in a container they are others
	}
	w := httpapi.NewRecorder()
	mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options).ServeHTTP(w, r)
	return w.Response(), nil
}

// inProcess calls operations for the caller of a request.
type inProcess struct {
	ctx        context.Context
	caller     *http.Request
	operations http.Handler
}

// call is an API.
func (p *inProcess) call(_ context.Context, method, path string, body []byte, agent string) (status int, answer []byte, err error) {
	w := p.send(method, path, body, agent)
	return w.Status, w.Body.Bytes(), nil
}

// send calls an operation with the credentials of the caller: its token, and, where none is needed, what tells its origin.
func (p *inProcess) send(method, path string, body []byte, agent string) *httpapi.Recorder {
	w := httpapi.NewRecorder()
	r, err := http.NewRequestWithContext(p.ctx, method, path, bytes.NewReader(body))
	if err != nil {
		httpapi.WriteError(w, flags.Errorf(flags.Invalid, "a name is not valid"))
		return w
	}
	for _, name := range []string{"Authorization", "Origin", "Sec-Fetch-Site"} {
		r.Header[name] = p.caller.Header[name]
	}
	r.Header.Set("User-Agent", cmp.Or(agent, p.caller.UserAgent()))
	r.Host, r.RemoteAddr = p.caller.Host, p.caller.RemoteAddr
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	p.operations.ServeHTTP(w, r)
	return w
}
