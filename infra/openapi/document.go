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

	"guidon/pkg/access"
	"guidon/pkg/version"
)

const introduction = "The API to administer feature flags (projects, environments, strategies, variants, users and tokens), and to read and evaluate them. " +
	"All errors have the same format. They are checked in this order: 401, 403, 415 and 413, 400, 404, 409, 412. Unknown fields of a body are ignored. " +
	"Wrong types, duplicate keys, and numbers that would be rounded get a 400. Every change is made completely or not at all."

// render returns the description as it is committed. It fails if an operation, field or group has no text.
func render() ([]byte, error) {
	document, err := describe(groups())
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err = encoder.Encode(document)
	return out.Bytes(), err
}

func describe(groups []group) (*openapi3.T, error) {
	texts, err := readWords()
	if err != nil {
		return nil, err
	}
	d := &describer{words: texts, components: openapi3.Schemas{}, failures: openapi3.ResponseBodies{}, types: map[string]reflect.Type{}, used: map[string]bool{}}
	document := &openapi3.T{
		OpenAPI: "3.0.3",
		Info:    &openapi3.Info{Title: "Guidon", Version: version.Number(), Description: introduction, License: &openapi3.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}},
		Paths:   openapi3.NewPaths(),
		Components: &openapi3.Components{
			Schemas: d.components, Responses: d.failures,
			SecuritySchemes: openapi3.SecuritySchemes{securityScheme: {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("header").
				WithName("Authorization").WithDescription("An API token, or a personal token, optionally after `Bearer `. The administration takes those of type admin and personal ones. " +
				"A session, which is in a cookie, has the permissions of its user; see `POST /auth/link`.")}},
		},
		Security: openapi3.SecurityRequirements{openapi3.NewSecurityRequirement().Authenticate(securityScheme)},
	}
	d.components["Error"], d.components["ManifestError"] = written(texts.Schemas["error"]).NewRef(), written(texts.Schemas["manifestError"]).NewRef()
	for status, f := range texts.Errors {
		d.failures[f.Component] = d.failure(f.Text, status)
	}
	unchanged := openapi3.NewResponse().WithDescription("The response has not changed since the one whose `ETag` is in `If-None-Match`. There is no body.")
	unchanged.Headers = etagHeader()
	d.failures[notModified] = &openapi3.ResponseRef{Value: unchanged}
	documented := map[string]bool{}
	for _, group := range groups {
		if len(group.operations) == 0 {
			continue
		}
		document.Tags = append(document.Tags, &openapi3.Tag{Name: group.name, Description: d.words.Groups[group.name]})
		if d.words.Groups[group.name] == "" {
			d.fault("the group %q has no description: add one to groups in words/common.yaml", group.name)
		}
		for _, op := range group.operations {
			documented[op.route] = true
			method, path, _ := strings.Cut(op.route, " ")
			path = cmp.Or(sameShape[path], path)
			document.AddOperation(strings.ReplaceAll(path, "...}", "}"), method, d.operation(group.name, op))
		}
	}
	for route := range d.words.Operations {
		if !documented[route] {
			d.fault("words/ describes %s, which is not an operation", route)
		}
	}
	for name := range d.words.Fields {
		if !d.used[name] {
			d.fault("words/ describes the field %q, which no body or response has", name)
		}
	}
	for name := range d.words.Shapes {
		if !d.used["shape "+name] {
			d.fault("words/ has a shape for %q, which is no body", name)
		}
	}
	if len(d.faults) > 0 {
		slices.Sort(d.faults)
		return nil, errors.New(strings.Join(d.faults, "\n"))
	}
	return document, nil
}

const securityScheme = "token"

// sameShape renames path parameters: to OpenAPI, paths that differ only in the names of parameters are the same.
var sameShape = map[string]string{"/api/admin/api-tokens/{name}": "/api/admin/api-tokens/{token}"}

var pathParameter = regexp.MustCompile(`\{(\w+)(?:\.\.\.)?\}`)

func (d *describer) operation(group string, op endpoint) *openapi3.Operation {
	texts, ok := d.words.Operations[op.route]
	if !ok {
		d.fault("%s has no description: add it to the operations of a file in words/", op.route)
	}
	described := &openapi3.Operation{OperationID: texts.ID, Summary: texts.Summary, Description: description(texts, op), Tags: []string{group}}
	if op.permission == "" || op.permission == withoutToken {
		described.Security = openapi3.NewSecurityRequirements()
	}
	_, path, _ := strings.Cut(op.route, " ")
	for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
		name := m[1]
		if same := sameShape[path]; same != "" {
			name = pathParameter.FindStringSubmatch(same)[1]
		}
		described.AddParameter(d.parameter(openapi3.NewPathParameter(name), d.words.Path, m[1]))
	}
	for _, name := range texts.Query {
		parameter := d.parameter(openapi3.NewQueryParameter(name[strings.LastIndex(name, ".")+1:]), d.words.Query, name)
		if isNumber(name) {
			parameter.Schema.Value.Pattern = patterns["decimalOrEmpty"]
		}
		described.AddParameter(parameter)
	}
	if texts.IfMatch {
		described.AddParameter(ifMatch())
	}
	d.body(described, texts, op)
	d.responses(described, texts, op)
	return described
}

func (d *describer) parameter(described *openapi3.Parameter, known map[string]parameter, name string) *openapi3.Parameter {
	if known[name].Description == "" {
		d.fault("the parameter %q has no description: add it to path or query of a file in words/", name)
	}
	schema, err := known[name].schema()
	if err != nil {
		d.fault("the parameter %q: %v", name, err)
	}
	return described.WithDescription(string(known[name].Description)).WithSchema(schema)
}

// description adds who may call the operation.
func description(texts operation, op endpoint) string {
	who := "Needs the permission `" + op.permission + "`."
	switch access.Permission(op.permission) {
	case "", withoutToken:
		who = "Public: needs no token."
	case access.Read:
		who = "Needs a user or admin token, but no permission."
	case access.Admin:
		who = "Needs the permission `ADMIN`."
	case forApplications:
		who = "Needs a token of an application, or an admin token."
	}
	return strings.TrimSpace(string(texts.Description) + "\n\n" + cmp.Or(string(texts.Access), who))
}

func (d *describer) body(described *openapi3.Operation, texts operation, op endpoint) {
	if op.body == nil {
		if texts.Example != nil {
			d.fault("%s has no body, but words/ has an example of one", op.route)
		}
		return
	}
	if texts.Example == nil {
		d.fault("%s has a body without an example: add it to its entry in words/", op.route)
		return
	}
	media := openapi3.NewMediaType().WithSchemaRef(d.schema(op.body, in)).WithExample("example", texts.Example)
	described.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithRequired(!op.optional).
		WithContent(openapi3.Content{"application/json": media})}
}

func (d *describer) responses(described *openapi3.Operation, texts operation, op endpoint) {
	if op.status == 0 {
		d.fault("%s does not declare the status and type of its response", op.route)
		return
	}
	success := openapi3.NewResponse().WithDescription(http.StatusText(op.status))
	switch {
	case op.answer == nil:
	case op.answer.Name() == "CSV":
		csv := openapi3.NewStringSchema()
		csv.Example = texts.CSV
		success.WithDescription(texts.response()).WithContent(openapi3.NewContentWithSchema(csv, []string{"text/csv"}))
	default:
		success.WithDescription(texts.response()).WithJSONSchemaRef(d.schema(op.answer, out))
	}
	if op.status == http.StatusCreated {
		success.Headers = header("Location", "Path of the new resource, if it can be read.")
	}
	described.Responses = openapi3.NewResponses(openapi3.WithStatus(op.status, &openapi3.ResponseRef{Value: success}))
	described.Responses.Delete("default")
	if op.status == http.StatusFound {
		success.Headers = header("Location", "Where the browser goes on to.")
	} else if strings.HasPrefix(op.route, "GET ") {
		success.Headers = etagHeader()
		described.Responses.Set("304", &openapi3.ResponseRef{Ref: "#/components/responses/" + notModified, Value: d.failures[notModified].Value})
	}
	for _, status := range failuresOf(op, texts) {
		common := d.words.Errors[status].Component
		response := &openapi3.ResponseRef{Ref: "#/components/responses/" + common, Value: d.failures[common].Value}
		if text := texts.Errors[status]; text != "" {
			response = d.failure(text, status)
		}
		if text := d.words.OFREPErrors[status]; text != "" && strings.Contains(op.route, " /ofrep/") {
			response = &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(text).WithJSONSchema(written(d.words.Schemas["ofrepError"]))}
		}
		if strings.Contains(op.route, "/openfeature/v0/") {
			response = &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(*response.Value.Description).
				WithJSONSchemaRef(openapi3.NewSchemaRef("#/components/schemas/ManifestError", d.components["ManifestError"].Value))}
		}
		described.Responses.Set(strconv.Itoa(status), response)
	}
}

// ifMatch is the header of a change that must be of what the caller has read.
func ifMatch() *openapi3.Parameter {
	schema := openapi3.NewStringSchema()
	schema.Example = "*"
	return openapi3.NewHeaderParameter("If-Match").WithSchema(schema).WithDescription("The `ETag` of the read that the change is based on. " +
		"If others have changed it since, nothing is saved and the response is a 412. Omit the header, or send `*`, to replace any state.")
}

const notModified = "NotModified" // the component for the 304 of every read

func etagHeader() openapi3.Headers {
	return header("ETag", "Changes when the response changes. Send it in `If-None-Match`, or in `If-Match` where a change takes it. Lists of tokens have none.")
}

func header(name, description string) openapi3.Headers {
	return openapi3.Headers{name: {Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Description: description, Schema: openapi3.NewStringSchema().NewRef(),
	}}}}
}

// failure describes an error with an example, whose name is the text in backquotes.
func (d *describer) failure(description string, status int) *openapi3.ResponseRef {
	message, rest, _ := strings.Cut(description, " (`")
	name, _, _ := strings.Cut(rest, "`")
	example := map[string]any{"id": "8f7a3c1e-5d2b-4c6a-9e0f-1a2b3c4d5e6f", "name": name, "message": message}
	media := openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef("#/components/schemas/Error", d.components["Error"].Value)).WithExample("example", example)
	response := openapi3.NewResponse().WithDescription(description).WithContent(openapi3.Content{"application/json": media})
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		response.Headers = openapi3.Headers{"Retry-After": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "Seconds to wait before retrying.", Required: true, Schema: openapi3.NewIntegerSchema().WithMin(0).NewRef(),
		}}}}
	}
	return &openapi3.ResponseRef{Value: response}
}

// failuresOf returns the statuses of the errors of an operation.
func failuresOf(op endpoint, texts operation) []int {
	if op.permission == "" {
		return nil
	}
	method, path, _ := strings.Cut(op.route, " ")
	statuses := []int{401, 403, 500, 503}
	if op.permission == withoutToken {
		statuses = []int{500, 503}
	}
	if method != http.MethodGet {
		statuses = append(statuses, 400, 413, 415) // the body is checked even if none is expected
	}
	if len(texts.Query) > 0 && op.permission != withoutToken && !slices.Contains(statuses, 400) {
		statuses = append(statuses, 400) // a malformed parameter is refused
	}
	if strings.Contains(path, "{") {
		statuses = append(statuses, 404)
	}
	if texts.IfMatch {
		statuses = append(statuses, 412)
	}
	for status := range texts.Errors {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses
}

// isNumber reports whether a parameter of the query is a number of entries or hours: a word is refused, and a number out of range is the
// default.
func isNumber(name string) bool {
	name = name[strings.LastIndex(name, ".")+1:]
	return name == "limit" || name == "offset" || name == "hoursBack"
}
