package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// render is the description as it is committed. It fails when something has no words for it.
func render() ([]byte, error) {
	document, err := describe(httpapi.Groups())
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// describe makes the description of some groups.
func describe(groups []httpapi.Group) (*openapi3.T, error) {
	d := newDescriber()
	document := &openapi3.T{
		OpenAPI: "3.0.3",
		Info:    &openapi3.Info{Title: "Guidon", Version: "1", Description: introduction, License: &openapi3.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}},
		Paths:   openapi3.NewPaths(),
		Components: &openapi3.Components{
			Schemas: d.components, Responses: d.failures,
			SecuritySchemes: openapi3.SecuritySchemes{securityScheme: {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("header").
				WithName("Authorization").WithDescription("An API token of type admin, or a user's personal token, as it is or after `Bearer `.")}},
		},
		Security: openapi3.SecurityRequirements{openapi3.NewSecurityRequirement().Authenticate(securityScheme)},
	}
	d.components["Error"] = errorSchema().NewRef()
	for status, name := range failureNames {
		d.failures[name] = failure(failures[status], status)
	}
	unchanged := openapi3.NewResponse().WithDescription("The answer is still the one whose `ETag` the request has in `If-None-Match`. There is no body.")
	unchanged.Headers = etagHeader()
	d.failures[notModified] = &openapi3.ResponseRef{Value: unchanged}
	documented := map[string]bool{}
	for _, group := range groups {
		if len(group.Operations) == 0 {
			continue
		}
		document.Tags = append(document.Tags, &openapi3.Tag{Name: group.Name, Description: groupWords[group.Name]})
		if groupWords[group.Name] == "" {
			d.fault("the group %q has no description: add one to groupWords (operations.go)", group.Name)
		}
		for _, op := range group.Operations {
			documented[op.Route] = true
			method, path, _ := strings.Cut(op.Route, " ")
			if same := sameShape[path]; same != "" {
				path = same
			}
			document.AddOperation(strings.ReplaceAll(path, "...}", "}"), method, d.operation(group.Name, op))
		}
	}
	for route := range operations {
		if !documented[route] {
			d.fault("operations has an entry for %s, which is no operation", route)
		}
	}
	for name := range members {
		if !d.used[name] {
			d.fault("members has an entry for %q, which no body has", name)
		}
	}
	if len(d.faults) > 0 {
		slices.Sort(d.faults)
		return nil, errors.New(strings.Join(d.faults, "\n"))
	}
	return document, nil
}

const securityScheme = "token"

// sameShape renames the parameter of a path that another path has under another name: OpenAPI takes them for one.
var sameShape = map[string]string{"/api/admin/api-tokens/{name}": "/api/admin/api-tokens/{token}"}

var pathParameter = regexp.MustCompile(`\{(\w+)(?:\.\.\.)?\}`)

func (d *describer) operation(group string, op httpapi.Operation) *openapi3.Operation {
	words, ok := operations[op.Route]
	if !ok {
		d.fault("%s has no words: add an entry to operations (operations*.go)", op.Route)
	}
	described := &openapi3.Operation{
		OperationID: words.id, Summary: words.summary, Description: about(words, op), Tags: []string{group},
	}
	if op.Permission == "" {
		described.Security = openapi3.NewSecurityRequirements()
	}
	_, path, _ := strings.Cut(op.Route, " ")
	for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
		parameter, ok := parameters[m[1]]
		if !ok {
			d.fault("the path parameter %q has no words: add it to parameters (parameters.go)", m[1])
			continue
		}
		name := m[1]
		if same := sameShape[path]; same != "" {
			name = pathParameter.FindStringSubmatch(same)[1]
		}
		described.AddParameter(openapi3.NewPathParameter(name).WithDescription(parameter.doc).WithSchema(parameter.schema()))
	}
	for _, name := range words.query {
		parameter := queries[name]
		name = name[strings.LastIndex(name, ".")+1:]
		described.AddParameter(openapi3.NewQueryParameter(name).WithDescription(parameter.doc).WithSchema(parameter.schema()))
	}
	d.body(described, words, op)
	d.answers(described, words, op)
	return described
}

// about is the long description: what the table says, and who may.
func about(words operation, op httpapi.Operation) string {
	may := "Needs the permission `" + string(op.Permission) + "`."
	switch op.Permission {
	case "":
		may = "Public: needs no token."
	case flags.Read:
		may = "Everybody with an account or an admin token may."
	case flags.Admin:
		may = "For administrators of the whole service only."
	}
	return strings.TrimSpace(words.about + "\n\n" + cmp.Or(words.may, may))
}

func (d *describer) body(described *openapi3.Operation, words operation, op httpapi.Operation) {
	takes := op.Shape().Takes
	if takes == nil {
		if words.example != "" {
			d.fault("%s takes no body, and has an example of one", op.Route)
		}
		return
	}
	if words.example == "" {
		d.fault("%s takes a body and has no example: add it to operations (operations*.go)", op.Route)
		return
	}
	var example any
	if err := json.Unmarshal([]byte(words.example), &example); err != nil {
		d.fault("the example of %s is no JSON: %v", op.Route, err)
	}
	media := openapi3.NewMediaType().WithSchemaRef(d.schema(reflect.TypeOf(takes), in)).WithExample("example", example)
	described.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithRequired(!op.Shape().Optional).
		WithContent(openapi3.Content{"application/json": media})}
}

func (d *describer) answers(described *openapi3.Operation, words operation, op httpapi.Operation) {
	shape := op.Shape()
	if shape.Status == 0 {
		d.fault("%s does not say what it answers: in its row, put .answers(200, theView{}) behind does(…) or takes(…)", op.Route)
		return
	}
	success := openapi3.NewResponse().WithDescription(http.StatusText(shape.Status))
	switch answer := reflect.TypeOf(shape.Answers); {
	case answer == nil:
	case answer.String() == "httpapi.csvText":
		text := openapi3.NewStringSchema()
		text.Example = words.csv
		success.WithDescription(words.answer()).WithContent(openapi3.NewContentWithSchema(text, []string{"text/csv"}))
	default:
		success.WithDescription(words.answer()).WithJSONSchemaRef(d.schema(reflect.TypeOf(shape.Answers), out))
	}
	if shape.Status == http.StatusCreated {
		success.Headers = openapi3.Headers{"Location": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "The path at which it is read, if there is one.", Schema: openapi3.NewStringSchema().NewRef(),
		}}}}
	}
	described.Responses = openapi3.NewResponses(openapi3.WithStatus(shape.Status, &openapi3.ResponseRef{Value: success}))
	described.Responses.Delete("default")
	if strings.HasPrefix(op.Route, "GET ") {
		success.Headers = etagHeader()
		described.Responses.Set("304", &openapi3.ResponseRef{Ref: "#/components/responses/" + notModified, Value: d.failures[notModified].Value})
	}
	for _, status := range failuresOf(op, words) {
		response := failure(words.failures[status], status)
		if words.failures[status] == "" {
			response = &openapi3.ResponseRef{Ref: "#/components/responses/" + failureNames[status], Value: d.failures[failureNames[status]].Value}
		}
		described.Responses.Set(strconv.Itoa(status), response)
	}
}

// notModified is the component that describes the 304 of every read.
const notModified = "NotModified"

// etagHeader is what the answers to reads carry.
func etagHeader() openapi3.Headers {
	return openapi3.Headers{"ETag": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Description: "Changes when the answer changes; send it back in `If-None-Match`. Lists of tokens have none.", Schema: openapi3.NewStringSchema().NewRef(),
	}}}}
}

// failure describes a failure of a status, with an example: its name is the one that the description has in backquotes.
func failure(description string, status int) *openapi3.ResponseRef {
	message, rest, _ := strings.Cut(description, " (`")
	name, _, _ := strings.Cut(rest, "`")
	example := map[string]any{"id": anUUID, "name": name, "message": message}
	media := openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef("#/components/schemas/Error", errorSchema())).WithExample("example", example)
	response := openapi3.NewResponse().WithDescription(description).WithContent(openapi3.Content{"application/json": media})
	if status == http.StatusServiceUnavailable {
		response.Headers = openapi3.Headers{"Retry-After": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "Seconds to wait before trying again.", Required: true, Schema: openapi3.NewIntegerSchema().WithMin(0).NewRef(),
		}}}}
	}
	return &openapi3.ResponseRef{Value: response}
}

// failuresOf lists the statuses that an operation can fail with.
func failuresOf(op httpapi.Operation, words operation) []int {
	if op.Permission == "" {
		return nil
	}
	method, path, _ := strings.Cut(op.Route, " ")
	statuses := []int{401, 403, 500, 503}
	if method != http.MethodGet {
		statuses = append(statuses, 400, 413, 415) // a body is read even where none is wanted
	}
	if strings.Contains(path, "{") {
		statuses = append(statuses, 404)
	}
	for status := range words.failures {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses
}

// failures are the words for each status; those of 409 are the operation's own.
var failures = map[int]string{
	400: "The request breaks a rule, or names something unknown in its body (`ValidationError`). `details` has one entry a fault.",
	401: "The token is missing, unknown, deleted or expired (`AuthenticationRequired`).",
	403: "The caller lacks the permission (`NoAccessError`).",
	404: "Something that the path names is not there (`NotFoundError`).",
	413: "The body is too large (`PayloadTooLargeError`).",
	415: "The body's content type is not `application/json` (`ContentTypeerror`).",
	500: "Internal error (`InternalError`); search the log for the `id`.",
	503: "The store is busy or does not answer, or it could not be known in time whether the change was made (`ServiceUnavailableError`). Try again.",
}

// failureNames are what the components of those failures are called.
var failureNames = map[int]string{
	400: "Invalid", 401: "Unauthenticated", 403: "Forbidden", 404: "NotFound", 413: "TooLarge", 415: "UnsupportedMediaType", 500: "Internal", 503: "Unavailable",
}

// errorSchema is the body of every failure.
func errorSchema() *openapi3.Schema {
	text := func(doc, example string) *openapi3.Schema {
		s := openapi3.NewStringSchema()
		s.Description, s.Example = doc, example
		return s
	}
	detail := openapi3.NewObjectSchema().WithoutAdditionalProperties().WithRequired([]string{"description", "message"}).
		WithProperty("message", text("What is wrong.", "is required")).
		WithProperty("description", text("The same as message: some clients of Unleash read this one.", "is required")).
		WithProperty("path", text("Where, as a JSON pointer into the body; absent for the body as a whole.", "/name"))
	details := openapi3.NewArraySchema().WithItems(detail)
	details.Description = "One entry a fault, so that all can be mended at once; the first hundred of them."
	id := text("Identifier of this very failure, also in the log.", "5e0cf0b1-6b8a-4a3e-9d2e-0c1f7a9b2d44")
	id.Format = "uuid"
	name := text("What sort of failure it is.", "ValidationError").WithEnum("ValidationError", "AuthenticationRequired", "NoAccessError",
		"NotFoundError", "NameExistsError", "ConflictError", "PayloadTooLargeError", "ContentTypeerror", "InternalError", "ServiceUnavailableError")
	failure := openapi3.NewObjectSchema().WithoutAdditionalProperties().WithRequired([]string{"id", "message", "name"}).
		WithProperty("id", id).WithProperty("name", name).WithProperty("message", text("What was wrong, and what is allowed.", "/name: is required")).
		WithProperty("details", details)
	failure.Description = "The body of every failure."
	return failure
}

// answer is the description of a successful answer.
func (o operation) answer() string { return cmp.Or(o.answers, o.summary+".") }
