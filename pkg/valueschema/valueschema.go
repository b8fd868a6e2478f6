// Package valueschema checks values of flags against JSON Schemas. Both come from callers, so its work is bounded: an import of this package
// sets flags.CheckSchema.
package valueschema

import (
	"errors"
	"fmt"
	"reflect"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"guidon/pkg/flags"
)

func init() { flags.CheckSchema = Check }

// The bounds of the work. The library compares each node of a schema with each value below a value, and prints texts that do not match.
const (
	maxNodes    = 1_000     // of a schema, with what its $refs name in their place, and the instructions of its regular expressions
	maxWork     = 4_000_000 // nodes times bytes
	bytesAValue = 32        // what a value below a value counts beside its bytes: a comparison takes as long
	maxError    = 300       // bytes
)

// drafts are the values of $schema that the library reads; it takes a schema without one for 2020-12.
var drafts = []string{"", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#"}

// Check is flags.CheckSchema.
func Check(schema jsontext.Value, values []jsontext.Value) (int, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return -1, errors.New("must be a JSON Schema: " + brief(err))
	}
	if !slices.Contains(drafts, s.Schema) {
		return -1, fmt.Errorf("must be a JSON Schema of draft 2020-12 or 7, not of $schema %.100q", s.Schema)
	}
	c := counter{root: &s, names: map[string]int{}}
	nodes, err := c.count(&s)
	if err != nil {
		return -1, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return -1, errors.New("must be a JSON Schema: " + brief(err))
	}
	left := maxWork / nodes
	for i, text := range values {
		if left -= size(text); left < 0 {
			return i, fmt.Errorf("takes too much work to check: %d nodes of the schema times the size of all values; make one of them smaller", nodes)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return i, errors.New("a number is too large")
		}
		if err := resolved.Validate(value); err != nil {
			return i, errors.New(brief(err))
		}
	}
	return 0, nil
}

// size is what a value counts.
func size(text jsontext.Value) int {
	n, d := len(text), jsontext.NewDecoder(strings.NewReader(string(text)))
	for {
		if _, err := d.ReadToken(); err != nil {
			return n
		}
		n += bytesAValue
	}
}

// brief returns the last part of an error of the library, which names each schema on the way: where in the schema, and why.
func brief(err error) string {
	text := strings.TrimPrefix(err.Error(), "validating root: ")
	for strings.HasPrefix(text, "validating /") {
		_, rest, found := strings.Cut(text, ": ")
		if !found || !strings.HasPrefix(rest, "validating /") {
			break
		}
		text = rest
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "validating "), "jsonschema: ")
	if len(text) > maxError {
		text = text[:maxError] + "…"
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text), "")
}

// A counter counts the nodes of a schema, with those that its $refs name.
type counter struct {
	root  *jsonschema.Schema
	names map[string]int // of definitions that were counted; 0 for those that are being counted
}

var errLarge = fmt.Errorf("must have at most %d nodes, with what each $ref names in its place and the length of regular expressions", maxNodes)

func (c counter) count(s *jsonschema.Schema) (nodes int, err error) {
	switch {
	case s == nil:
		return 0, errors.New("must be a JSON Schema: null is none")
	case s.ID+s.Anchor+s.DynamicRef+s.DynamicAnchor != "":
		return 0, errors.New("must not have $id, $anchor, $dynamicRef or $dynamicAnchor; name definitions with $defs and $ref")
	}
	nodes = 1 + len(s.Enum) + len(s.Required)
	add := func(n int, failed error) {
		if nodes += n; err == nil {
			err = failed
		}
		if err == nil && nodes > maxNodes {
			err = errLarge
		}
	}
	if s.Pattern != "" {
		add(instructions(s.Pattern))
	}
	for pattern := range s.PatternProperties {
		add(instructions(pattern))
	}
	if s.Ref != "" {
		add(c.reference(s.Ref))
	}
	for field, value := range reflect.ValueOf(s).Elem().Fields() {
		if !field.IsExported() {
			continue
		}
		switch below := value.Interface().(type) {
		case *jsonschema.Schema:
			if below != nil {
				add(c.count(below))
			}
		case []*jsonschema.Schema:
			for _, one := range below {
				add(c.count(one))
			}
		case map[string]*jsonschema.Schema:
			for _, one := range below {
				add(c.count(one))
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return nodes, err
}

// reference counts what a $ref names: a definition of the document, which must not lead back to it.
func (c counter) reference(ref string) (int, error) {
	var definition *jsonschema.Schema
	if name, is := strings.CutPrefix(ref, "#/$defs/"); is {
		definition = c.root.Defs[name]
	} else if name, is := strings.CutPrefix(ref, "#/definitions/"); is {
		definition = c.root.Definitions[name]
	}
	if definition == nil || strings.ContainsAny(ref, "%~") {
		return 0, fmt.Errorf(`must have only $refs that name a definition in it, such as "#/$defs/size", not %.100q`, ref)
	}
	nodes, known := c.names[ref]
	if known && nodes == 0 {
		return 0, fmt.Errorf("must not have $refs in a circle, as %.100q is", ref)
	}
	if !known {
		c.names[ref] = 0
		var err error
		if nodes, err = c.count(definition); err != nil {
			return 0, err
		}
		c.names[ref] = nodes
	}
	return nodes, nil
}

// instructions returns about how many instructions a regular expression of Go has. Compiled, each repetition has its own.
func instructions(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("has a pattern that is no regular expression of RE2: %w", err)
	}
	var count func(e *syntax.Regexp) int
	count = func(e *syntax.Regexp) int {
		n := 1
		if e.Op == syntax.OpLiteral {
			n = len(e.Rune)
		}
		for _, sub := range e.Sub {
			n = min(n+count(sub), 2*maxNodes)
		}
		if e.Op == syntax.OpRepeat {
			n *= max(e.Min, e.Max, 1)
		}
		return min(n, 2*maxNodes)
	}
	return count(parsed), nil
}
