package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/goccy/go-yaml"
)

//go:embed words/*.yaml
var wordFiles embed.FS

// words is the text of the description, which the code cannot provide. words/ has one file for each area.
type words struct {
	Texts      map[string]string // repeated texts, for YAML aliases
	Groups     map[string]string
	Operations map[string]operation // by route
	Path       map[string]parameter
	Query      map[string]parameter // the name without what precedes a dot, which separates parameters of the same name
	Fields     map[string]field     // by type and field, "createUserBody.email", or by field if it means the same everywhere

	Schemas     map[string]any // of types whose schema does not follow from Go
	Shapes      map[string]any // of bodies: rules for several fields, or for a whole list
	Errors      map[int]failure
	OFREPErrors map[int]string `yaml:"ofrepErrors"`
}

// A failure is what a status means, and the component that describes it.
type failure struct{ Component, Text string }

type operation struct {
	ID, Summary string
	Description text
	Access      text // who may call it, if the permission does not say so
	Query       []string
	IfMatch     bool `yaml:"ifMatch"` // whether it takes the header If-Match
	Example     any  // of the body
	Response    string
	CSV         string         // example of a CSV response
	Errors      map[int]string // statuses that are special here, and what they mean
}

type parameter struct {
	Description text
	Limit       string
	Example     any
}

type field struct {
	Description string
	Example     any
	Required    bool // in bodies
	Deprecated  bool
	Default     any    // of a body that omits it
	Limit       string // of bodies, see addLimit

	owner string // the type that the entry is for, "" for all; set by lookUp
}

// text is one text, or several that are joined.
type text string

func (t *text) UnmarshalYAML(unmarshal func(any) error) error {
	var parts []string
	if unmarshal(&parts) != nil {
		return unmarshal((*string)(t))
	}
	*t = text(strings.Join(parts, " "))
	return nil
}

// readWords merges the files. A key of fields can name several fields: "a.x, b.x".
func readWords() (*words, error) {
	all := &words{
		Groups: map[string]string{}, Operations: map[string]operation{}, Path: map[string]parameter{}, Query: map[string]parameter{}, Fields: map[string]field{},
		Schemas: map[string]any{}, Shapes: map[string]any{}, Errors: map[int]failure{}, OFREPErrors: map[int]string{},
	}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := wordFiles.ReadFile(path.Join("words", file.Name()))
		if err != nil {
			return nil, err
		}
		var area words
		if err := yaml.UnmarshalWithOptions([]byte(expand(string(raw))), &area, yaml.DisallowUnknownField()); err != nil {
			return nil, fmt.Errorf("words/%s: %w", file.Name(), err)
		}
		maps.Copy(all.Groups, area.Groups)
		maps.Copy(all.Operations, area.Operations)
		maps.Copy(all.Path, area.Path)
		maps.Copy(all.Query, area.Query)
		maps.Copy(all.Schemas, area.Schemas)
		maps.Copy(all.Errors, area.Errors)
		maps.Copy(all.OFREPErrors, area.OFREPErrors)
		for keys, shape := range area.Shapes {
			for key := range strings.SplitSeq(keys, ", ") {
				all.Shapes[key] = shape
			}
		}
		for keys, f := range area.Fields {
			for key := range strings.SplitSeq(keys, ", ") {
				if strings.Contains(key, ".") {
					key = lowerFirst(key)
				}
				if all.Fields[key].Description != "" {
					return nil, fmt.Errorf("words/%s: there is another entry for %s", file.Name(), key)
				}
				all.Fields[key] = f
			}
		}
	}
	return all, nil
}

// written returns a schema as words/ has it, or an empty one.
func written(text any) *openapi3.Schema {
	schema := &openapi3.Schema{}
	if err := json.Unmarshal([]byte(asJSON(text)), schema); err != nil {
		panic(fmt.Errorf("words/schemas.yaml: %w", err))
	}
	return schema
}

func (o operation) response() string { return cmp.Or(o.Response, o.Summary+".") }

func (p parameter) schema() (*openapi3.Schema, error) {
	s := openapi3.NewStringSchema()
	if _, isNumber := p.Example.(uint64); isNumber {
		s = openapi3.NewInt64Schema().WithMin(1).WithMax(1<<31 - 1)
	}
	s.Example = p.Example
	return s, addLimit(s, p.Limit)
}
