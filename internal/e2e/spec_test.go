package e2e

import (
	"encoding/json"
	"os"
	"testing"

	"guidon/internal/clientspec"
)

// A suite is a file of the specification. Its flags are created in a project with the name of the suite.
type suite struct {
	Name  string `json:"-"` // the file's, without .json
	State struct {
		Version  int             `json:"version"`
		Features []specFlag      `json:"features"`
		Segments []specSegment   `json:"segments"`
		Events   json.RawMessage `json:"events"` // what a server streams to SDKs; no flags of an administrator
	} `json:"state"`
}

// These types have every field of the specification. Decoding rejects unknown fields, so that nothing is lost. They are
// encoded as they were read.
type (
	specFlag struct {
		Name           string           `json:"name"`
		Type           *string          `json:"type,omitzero"`
		Description    *string          `json:"description,omitzero"`
		ImpressionData *bool            `json:"impressionData,omitzero"`
		Enabled        bool             `json:"enabled"`
		Strategies     []specStrategy   `json:"strategies"`
		Variants       []specVariant    `json:"variants,omitzero"`
		Dependencies   []specDependency `json:"dependencies,omitzero"`
	}
	specStrategy struct {
		Name        string            `json:"name"`
		Parameters  map[string]string `json:"parameters,omitzero"`
		Segments    []int             `json:"segments,omitzero"`
		Constraints []specConstraint  `json:"constraints,omitzero"`
		Variants    []specVariant     `json:"variants,omitzero"`
	}
	specConstraint struct {
		ContextName     string   `json:"contextName"`
		Operator        string   `json:"operator"`
		Value           *string  `json:"value,omitzero"`
		Values          []string `json:"values,omitzero"`
		CaseInsensitive *bool    `json:"caseInsensitive,omitzero"`
		Inverted        *bool    `json:"inverted,omitzero"`
	}
	specVariant struct {
		Name       string     `json:"name"`
		Weight     float64    `json:"weight"`
		WeightType *string    `json:"weightType,omitzero"`
		Stickiness *string    `json:"stickiness,omitzero"`
		Payload    *payload   `json:"payload,omitzero"`
		Overrides  []override `json:"overrides,omitzero"`
	}
	specDependency struct {
		Feature  string   `json:"feature"`
		Enabled  *bool    `json:"enabled,omitzero"`
		Variants []string `json:"variants,omitzero"`
	}
	specSegment struct {
		ID          int              `json:"id"`
		Constraints []specConstraint `json:"constraints"`
	}
)

// loadSuites reads the specification and downloads it if necessary. Without it the test fails.
func loadSuites(t *testing.T) []suite {
	t.Helper()
	files, err := clientspec.Load(t.Context(), os.Stderr)
	if err != nil {
		t.Fatalf("this test cannot do without %v", err)
	}
	suites := make([]suite, len(files))
	for i, file := range files {
		var whole struct {
			suite
			Name  string          `json:"name"`
			Tests json.RawMessage `json:"tests"` // what SDKs make of the flags
			Vars  json.RawMessage `json:"variantTests"`
		}
		if err := decodeAll(file.JSON, &whole); err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		suites[i] = whole.suite
		suites[i].Name = file.Name
	}
	return suites
}
