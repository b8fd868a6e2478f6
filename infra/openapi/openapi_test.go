package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"guidon/internal/engine"
)

// TestCommittedFileIsFresh checks that the committed description is the one that the code generates.
func TestCommittedFileIsFresh(t *testing.T) {
	root, err := engine.Root()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(committed)))
	if err != nil {
		t.Error(err)
	}
	want, err := render()
	if err != nil {
		t.Fatalf("the description is incomplete:\n%v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; run `make openapi`", committed)
	}
}

// load parses the description, as clients do.
func load(t *testing.T) *openapi3.T {
	t.Helper()
	rendered, err := render()
	if err != nil {
		t.Fatalf("the description is incomplete:\n%v", err)
	}
	document, err := openapi3.NewLoader().LoadFromData(rendered)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestDescriptionIsValid validates the description against OpenAPI, and its examples against its schemas.
func TestDescriptionIsValid(t *testing.T) {
	if err := load(t).Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Error(err)
	}
}

// TestEveryOperationIsDescribed checks that each operation has an id, a summary, descriptions, examples and its errors.
func TestEveryOperationIsDescribed(t *testing.T) {
	document := load(t)
	ids := map[string]string{}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			if other := ids[op.OperationID]; other != "" || op.OperationID == "" {
				t.Errorf("%s has the operationId %q, like %q; expected a unique one", name, op.OperationID, other)
			}
			ids[op.OperationID] = name
			if op.Summary == "" || strings.HasSuffix(op.Summary, ".") || len(op.Summary) > 90 || len(op.Tags) != 1 {
				t.Errorf("%s has the summary %q and tags %q, expected a short line and one tag", name, op.Summary, op.Tags)
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" || p.Value.Schema.Value.Example == nil {
					t.Errorf("%s: parameter %s has no description or example", name, p.Value.Name)
				}
			}
			for status, response := range op.Responses.Map() {
				if response.Value.Description == nil || *response.Value.Description == "" {
					t.Errorf("%s: %s has no description", name, status)
				}
			}
			if path == "/health" || path == "/ready" {
				continue
			}
			withToken := !strings.HasPrefix(path, "/edge/") && path != "/auth/methods" && !strings.HasPrefix(path, "/auth/oidc/") // the 401 of /auth/link is about the link
			if (op.Responses.Value("401") != nil) != withToken || op.Responses.Value("500") == nil {
				t.Errorf("%s has the responses %v; expected 500, and 401 if it needs a token", name, op.Responses.Keys())
			}
		}
	}
}

// TestEveryFieldIsDescribed checks that each field of a body or response has a description and an example.
func TestEveryFieldIsDescribed(t *testing.T) {
	for name, component := range load(t).Components.Schemas {
		for member, schema := range component.Value.Properties {
			s := schema.Value
			if s.Description == "" {
				t.Errorf("%s.%s has no description", name, member)
			}
			nested := len(s.AllOf) > 0 || s.Items != nil || len(s.Properties) > 0
			if !nested && s.Example == nil && s.Enum == nil && !s.Nullable {
				t.Errorf("%s.%s has no example", name, member)
			}
		}
	}
}

// TestEveryTextIsBounded checks that each text in a request body has a maxLength, an enum or a format. Import data is excluded:
// its texts are checked with the rest of each flag, and the response lists what is skipped.
func TestEveryTextIsBounded(t *testing.T) {
	document := load(t)
	var walk func(at string, ref *openapi3.SchemaRef, seen map[string]bool, known openapi3.Schemas)
	walk = func(at string, ref *openapi3.SchemaRef, seen map[string]bool, known openapi3.Schemas) {
		if ref == nil || seen[ref.Ref] || strings.Contains(ref.Ref, "/Import") || strings.HasSuffix(ref.Ref, "/Anything") {
			return
		}
		if ref.Ref != "" {
			at, seen[ref.Ref] = strings.TrimPrefix(ref.Ref, "#/components/schemas/"), true
		}
		s := ref.Value
		if s.Type.Is("string") && s.MaxLength == nil && s.Enum == nil && s.Format == "" {
			t.Errorf("%s: text without a maxLength", at)
		}
		for name, property := range s.Properties {
			if known[name] == nil { // an alternative repeats the fields that it restricts
				walk(at+"."+name, property, seen, nil)
			}
		}
		walk(at+"[]", s.Items, seen, nil)
		walk(at+".*", s.AdditionalProperties.Schema, seen, nil)
		for _, alternatives := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
			for _, alternative := range alternatives {
				walk(at, alternative, seen, s.Properties)
			}
		}
	}
	seen := map[string]bool{"": false}
	for _, path := range document.Paths.Map() {
		for _, op := range path.Operations() {
			if op.RequestBody != nil {
				walk(op.OperationID, op.RequestBody.Value.Content["application/json"].Schema, seen, nil)
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("visited %d components; expected those of all bodies, at least 40", len(seen))
	}
}
