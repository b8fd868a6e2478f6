package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"guidon/infra"
	"guidon/pkg/admin"
	"guidon/pkg/httpapi"
)

// A Description is infra/openapi.json. Every response of a server in these tests is checked against it.
type Description struct {
	document   *openapi3.T
	routes     *httpapi.Mux                   // finds the route of a request
	operations map[string]*openapi3.Operation // by route without parameter names
}

// TheDescription is read once. The tests of infra/openapi check that it matches the code.
var TheDescription = sync.OnceValues(func() (*Description, error) {
	d := &Description{routes: &httpapi.Mux{}, operations: map[string]*openapi3.Operation{}}
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC4122))
	var err error
	if d.document, err = openapi3.NewLoader().LoadFromData(infra.OpenAPI); err != nil {
		return nil, err
	}
	for path, item := range d.document.Paths.Map() {
		for method, op := range item.Operations() {
			d.operations[shapeOf(method+" "+path)] = op
		}
	}
	for _, group := range admin.Groups() {
		for _, route := range group.Routes() {
			d.routes.Handle(route, http.NotFoundHandler())
		}
	}
	return d, nil
})

var parameterName = regexp.MustCompile(`\{[^}]*\}`)

func shapeOf(route string) string { return parameterName.ReplaceAllString(route, "{}") }

// Described passes on a handler's responses. It fails the test for each response that does not match the description, such as
// an unknown status, a body of another type, or a missing or additional field.
func Described(t *testing.T, handler http.Handler) http.Handler {
	t.Helper()
	d, err := TheDescription()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := ""
		if path.Clean(r.URL.EscapedPath()) == r.URL.EscapedPath() {
			_, route = d.routes.Handler(r)
		}
		copied := &copyingWriter{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(copied, r)
		if r.Method == http.MethodOptions {
			return
		}
		body := Uncompressed(t, copied.Header(), &copied.body)
		if err := d.check(route, copied.status, copied.Header(), body); err != nil {
			t.Errorf("%s %s: %d %.300s is not in infra/openapi.json: %v", r.Method, r.URL.Path, copied.status, body, err)
		}
	})
}

// unlisted are the parameters of queries that the description leaves out, each with a part of the routes that read it: they are
// synonyms, which the text of another parameter names, or are refused with a message that says what to use instead.
var unlisted = map[string]string{
	"tag[]": "/features", "type[]": "/search/features", "status[]": "/search/features", "createdAtFrom": "/events", "createdAtTo": "/events",
	"archived": "/search/features", "offset": "/events", "feature": "/events/{featureName}",
}

// describedQuery fails a test if an operation reads a parameter of the query that the description does not list.
func describedQuery(t *testing.T) func(route, name string) {
	t.Helper()
	d, err := TheDescription()
	if err != nil {
		t.Fatal(err)
	}
	return func(route, name string) {
		op, readers := d.Operation(route), unlisted[name]
		if (op == nil || op.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil) && (readers == "" || !strings.Contains(route, readers)) {
			t.Errorf("%s reads the parameter %q of the query, which infra/openapi.json does not have: add it to the operation in infra/openapi/words", route, name)
		}
	}
}

// Operation is what the description says of a route; nil for nothing.
func (d *Description) Operation(route string) *openapi3.Operation {
	return d.operations[shapeOf(strings.ReplaceAll(route, "...}", "}"))]
}

// check compares a response with the description of a route. The route is "" for unknown paths.
func (d *Description) check(route string, status int, header http.Header, body []byte) error {
	if route == "" {
		if status == http.StatusFound && header.Get("Location") == "/docs" {
			return nil // /docs/
		}
		return matches(d.document.Components.Schemas["Error"], body)
	}
	op := d.Operation(route)
	if op == nil {
		return fmt.Errorf("there is no operation %s", route)
	}
	response := op.Responses.Value(strconv.Itoa(status))
	if response == nil {
		return fmt.Errorf("%s has no status %d", op.OperationID, status)
	}
	for name, described := range response.Value.Headers {
		if described.Value.Required && header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if len(response.Value.Content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("%s %d has no body", op.OperationID, status)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || response.Value.Content[media] == nil {
		return fmt.Errorf("%s %d has no content of type %q", op.OperationID, status, header.Get("Content-Type"))
	}
	if media != "application/json" {
		return response.Value.Content[media].Schema.Value.VisitJSON(string(body))
	}
	return matches(response.Value.Content[media].Schema, body)
}

func matches(schema *openapi3.SchemaRef, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.EnableFormatValidation())
}

// A copyingWriter keeps a copy of what it writes.
type copyingWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *copyingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *copyingWriter) Write(b []byte) (int, error) {
	w.body.Write(b)
	return w.ResponseWriter.Write(b)
}
