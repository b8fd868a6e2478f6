package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/admin"
	"guidon/pkg/agents"
	"guidon/pkg/apipath"
	"guidon/pkg/docs"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/serving"
)

const (
	maxHeader    = 10240            // bytes of request line and headers, as in API Gateway
	callTimeout  = 28 * time.Second // the longest timeout of the functions in the template
	maxSiteCalls = 4                // calls that respond with files at the same time: each has a copy of its file in memory
)

// A function serves the groups of a Lambda function.
type function struct {
	handler http.Handler
	maxBody int           // bytes of the largest body of its operations
	slots   chan struct{} // room for its calls at the same time; nil for all others than the site, whose files are large and need no token
}

// groups are all groups of operations: those of the administration, those for applications, and the page with the description.
func groups(reader *serving.Reader, store *dynamo.Store, config httpapi.Config) []httpapi.Group {
	return append(slices.Concat(admin.Groups(), serving.Groups(reader, store, config), ingest.Groups(store, reader, config)), agents.Group(store, config), docs.Group())
}

// mount makes a handler of the groups of each function.
func (a *app) mount(store *dynamo.Store, config httpapi.Config) {
	all, byFunction := groups(a.reader, store, config), map[string][]httpapi.Group{}
	for _, group := range all {
		byFunction[group.Function] = append(byFunction[group.Function], group)
	}
	a.mux, a.functions = &httpapi.Mux{}, map[string]*function{}
	for _, joined := range byFunction {
		group := httpapi.Join(joined...)
		f := &function{handler: httpapi.New(store, group, config)}
		if group.Site != nil {
			f.slots, a.site = make(chan struct{}, maxSiteCalls), f
		}
		if group.Function == "features" {
			a.features = f
		}
		for _, op := range group.Operations {
			f.maxBody = max(f.maxBody, op.Shape().MaxBody)
			a.functions[op.Route] = f
		}
		if group.Site == nil { // which gets all paths that no other function has
			for route := range group.Gone {
				a.functions[route] = f
			}
		}
	}
	for route, f := range a.functions {
		a.mux.Handle(route, f.handler)
	}
}

// greedy are the paths below which a route of the template takes any path ({proxy+}), and so a slash at its end, which the function ignores
// for most methods.
var greedy = regexp.MustCompile(`^(/api/admin/(projects/[^/]+|features/[^/]+/tags|archive|tags|freezes|environments|instance-admin|segments|release-plan-templates|context|` +
	`strategies|tag-types|user-admin|user|service-account|roles|api-tokens|invite-link|features-batch|events|client-metrics|metrics|playground|addons)|` +
	`/auth|/api/openfeature|/api/client/metrics|/api/frontend/client|/edge)/.`)

// find returns the function of a request, as the routes of the template choose it, by its path only: the function itself responds to a method
// that the path does not have. Other paths with an additional slash belong to the site, as on AWS. route is "" if no operation has path and
// method.
func (a *app) find(r *http.Request) (f *function, route string) {
	escaped := r.URL.EscapedPath()
	clean := path.Clean(escaped)
	if clean != escaped && (clean+"/" != escaped || !greedy.MatchString(clean)) {
		return a.site, ""
	}
	other := *r
	other.URL = &url.URL{Path: strings.TrimSuffix(r.URL.Path, "/"), RawPath: strings.TrimSuffix(r.URL.RawPath, "/")}
	if escaped == "/" {
		other.URL = r.URL
	}
	for _, method := range []string{r.Method, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other.Method = method
		_, found := a.mux.Handler(&other)
		switch {
		case found == "":
		case clean != escaped && strings.HasPrefix(clean, "/api/admin/projects/"):
			return a.features, ""
		case method != r.Method:
			return a.functions[found], ""
		default:
			return a.functions[found], found
		}
	}
	return a.site, ""
}

// ServeHTTP responds to a request and counts it.
func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == prometheusPath {
		a.metrics.page.ServeHTTP(w, r)
		return
	}
	started := time.Now()
	response := &httpapi.StatusWriter{ResponseWriter: w, Status: http.StatusOK}
	f, route := a.find(r)
	a.serve(response, r, f)
	a.metrics.observe(r.Method, route, response.Status, time.Since(started))
}

// serve reads the body, calls the function, and sends its response.
func (a *app) serve(w http.ResponseWriter, r *http.Request, f *function) {
	body, release, err := a.requests.readBody(r, f.maxBody)
	if err != nil {
		refuse(w, err)
		return
	}
	release = sync.OnceFunc(release)
	defer release()
	response, err := f.call(r, body)
	release() // a caller that reads slowly needs no room for its request
	if err == nil {
		a.respond(r.Context(), w, response)
	}
}

// call runs the function. Its context is not the caller's: as on AWS, it continues when the caller disconnects. Only a call that waits for a
// slot ends then. Probes wait for nobody. The
// response is kept in memory until the function has returned: a caller that reads slowly must not hold more than that.
func (f *function) call(r *http.Request, body []byte) (*httpapi.Recorder, error) {
	if f.slots != nil && r.URL.Path != apipath.Health {
		select {
		case f.slots <- struct{}{}:
			defer func() { <-f.slots }()
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), callTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if tokens := r.Header["Authorization"]; len(tokens) > 1 { // API Gateway joins them, and the function refuses what results
		r.Header.Set("Authorization", strings.Join(tokens, ","))
	}
	r.Header.Del("X-Forwarded-Proto") // API Gateway sets it; here anyone could have sent it
	response := httpapi.NewRecorder()
	f.handler.ServeHTTP(response, r)
	return response, nil
}

// respond sends a response. It gives up on a caller that reads too slowly.
func (a *app) respond(ctx context.Context, w http.ResponseWriter, response *httpapi.Recorder) {
	size := response.Body.Len()
	release, err := a.answers.take(ctx, size)
	if err != nil {
		refuse(w, err)
		return
	}
	defer release()
	patience := a.readGrace + time.Duration(size)*time.Second/slowestReader
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // the writer of a test has none
	header := w.Header()
	for name, values := range response.Header() {
		header[name] = values
	}
	if response.Status != http.StatusNoContent {
		header.Set("Content-Length", strconv.Itoa(size))
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body.Bytes()) // fails only if the caller has disconnected
}

// errTooLarge is a refusal before the body is read to its end. The operations have lower limits of their own.
var errTooLarge = errors.New("the body is larger than API Gateway accepts (10 MB)")

// refuse writes the error of a request or response for which there is no room.
func refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errTooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, "PayloadTooLargeError", err.Error())
	case errors.Is(err, errNoRoom):
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "ServiceUnavailableError", err.Error())
	default:
		writeError(w, http.StatusBadRequest, "ValidationError", err.Error())
	}
}

// writeError writes an error of the server itself, in the form of the API's errors.
func writeError(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "{\"id\":%q,\"name\":%q,\"message\":%q}", uuid.NewString(), name, message)
}
