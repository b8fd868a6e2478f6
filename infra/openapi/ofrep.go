package main

import (
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// ofrepFailures are the errors that OFREP gives a form of its own.
var ofrepFailures = map[int]string{
	http.StatusBadRequest:            "The body or the context is invalid (`PARSE_ERROR` or `INVALID_CONTEXT`).",
	http.StatusNotFound:              "There is no flag of this name in the projects of the token (`FLAG_NOT_FOUND`).",
	http.StatusRequestEntityTooLarge: "The body is too large (`GENERAL`).",
	http.StatusUnsupportedMediaType:  "The body's content type is not `application/json` (`GENERAL`).",
}

// ofrepFailure describes an error of an operation of OFREP; nil if it has the form of all other errors.
func ofrepFailure(route string, status int) *openapi3.ResponseRef {
	_, path, _ := strings.Cut(route, " ")
	description := ofrepFailures[status]
	if !strings.HasPrefix(path, "/ofrep/") || description == "" {
		return nil
	}
	text := func(doc, example string) *openapi3.Schema {
		s := openapi3.NewStringSchema()
		s.Description, s.Example = doc, example
		return s
	}
	schema := openapi3.NewObjectSchema().WithoutAdditionalProperties().WithRequired([]string{"errorCode", "errorDetails"}).
		WithProperty("key", text("The flag, if one was requested.", "new-checkout")).
		WithProperty("errorCode", text("Type of the error.", "INVALID_CONTEXT").
			WithEnum("FLAG_NOT_FOUND", "PARSE_ERROR", "INVALID_CONTEXT", "TARGETING_KEY_MISSING", "GENERAL")).
		WithProperty("errorDetails", text("Description of the error.", "the body has no context"))
	return &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(description).WithJSONSchema(schema)}
}
