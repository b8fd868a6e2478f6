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

// TestCommittedFileIsFresh sees that the description in the repository is the one that the code makes.
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
		t.Fatalf("the interface is not described:\n%v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: `make openapi` writes it again", committed)
	}
}

// load is the description as others read it.
func load(t *testing.T) *openapi3.T {
	t.Helper()
	rendered, err := render()
	if err != nil {
		t.Fatalf("the interface is not described:\n%v", err)
	}
	document, err := openapi3.NewLoader().LoadFromData(rendered)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestDescriptionIsValid holds the description to OpenAPI, and its examples to its own schemas.
func TestDescriptionIsValid(t *testing.T) {
	if err := load(t).Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Error(err)
	}
}

// TestEveryOperationIsDescribed looks for what a reader wants of each.
func TestEveryOperationIsDescribed(t *testing.T) {
	document := load(t)
	ids := map[string]string{}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			if other := ids[op.OperationID]; other != "" || op.OperationID == "" {
				t.Errorf("%s has the operationId %q, which is also that of %q; want one of its own", name, op.OperationID, other)
			}
			ids[op.OperationID] = name
			if op.Summary == "" || strings.HasSuffix(op.Summary, ".") || len(op.Summary) > 90 || len(op.Tags) != 1 {
				t.Errorf("%s has the summary %q and tags %q, want a short line and one tag", name, op.Summary, op.Tags)
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
			if path != "/health" && (op.Responses.Value("401") == nil || op.Responses.Value("500") == nil) {
				t.Errorf("%s has the answers %v, want 401 and 500 among them", name, op.Responses.Keys())
			}
		}
	}
}

// TestEveryMemberIsDescribed looks for what a reader wants of the members of bodies.
func TestEveryMemberIsDescribed(t *testing.T) {
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

// TestEveryTextIsBounded sees that each text in each request body has a longest length, or is one of some, or of a format.
// Import data is left out: its texts are checked with the rest of each flag, and the answer names what is skipped.
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
			t.Errorf("%s: a text without a maxLength", at)
		}
		for name, property := range s.Properties {
			if known[name] == nil { // an alternative repeats the members that it is about
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
		t.Errorf("%d components seen, want those of all bodies", len(seen))
	}
}
