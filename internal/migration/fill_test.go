//go:build migration

package migration

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"guidon/internal/adminapi"
	"guidon/internal/clientspec"
)

// environments are those of the only project of open source Unleash.
var environments = []string{"development", "production"}

const flagsPath = "/api/admin/projects/default/features"

func flagPath(name string) string { return flagsPath + "/" + url.PathEscape(name) }

func inEnvironment(name, environment string) string {
	return flagPath(name) + "/environments/" + environment
}

// A filler creates flags in Unleash and counts the requests that Unleash refuses.
type filler struct {
	c       *server
	refused map[string][]string // descriptions of the refused items, by reason
	flags   int
}

// quoted matches the parts of a message that differ between items.
var quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// try sends a request that Unleash may refuse. It reports whether Unleash accepted it.
func (f *filler) try(what, method, path string, body, into any) (accepted bool) {
	err := f.c.Call(f.c.t.Context(), method, path, body, into)
	if refused, is := errors.AsType[*adminapi.Refusal](err); is && refused.Status < 500 {
		reason := quoted.ReplaceAllString(refused.Message, "…")
		f.refused[reason] = append(f.refused[reason], what)
		return false
	}
	f.c.t.must(err)
	return true
}

// must sends a request that Unleash must accept.
func (f *filler) must(method, path string, body, into any) { f.c.call(method, path, body, into) }

// fill creates the flags of the specification and those of extras_test.go.
func fill(c *server) *filler {
	files, err := clientspec.Load(c.t.Context(), os.Stderr)
	c.t.must(err)
	suites := make([]suite, len(files))
	for i, file := range files {
		c.t.must(json.Unmarshal(file.JSON, &suites[i]))
		suites[i].name = file.Name
	}
	f := &filler{c: c, refused: map[string][]string{}}
	f.extraFields() // first, because those of the suites have only names
	f.contextFields(suites)
	f.strategyTypes(suites)
	for _, s := range suites {
		f.suite(s)
	}
	f.extras()
	return f
}

// A suite is one file of the specification: the parts that concern the administration of flags.
type suite struct {
	name  string
	State struct {
		Features []specFlag
		Segments []struct {
			ID          int
			Constraints []specConstraint
		}
	}
}

type specFlag struct {
	Name           string
	Type           string
	Description    *string
	ImpressionData bool
	Enabled        bool
	Strategies     []specStrategy
	Variants       []object
	Dependencies   []object
}

type specStrategy struct {
	Name        string           `json:"name"`
	Parameters  object           `json:"parameters,omitempty"`
	Segments    []int            `json:"segments,omitempty"`
	Constraints []specConstraint `json:"constraints,omitempty"`
	Variants    []object         `json:"variants,omitempty"`
}

// A specConstraint is sent as it is.
type specConstraint object

// contextFields creates the fields that constraints use: Unleash requires it.
func (f *filler) contextFields(suites []suite) {
	names := map[string]bool{}
	add := func(list []specConstraint) {
		for _, c := range list {
			names[c["contextName"].(string)] = true
		}
	}
	for _, s := range suites {
		for _, segment := range s.State.Segments {
			add(segment.Constraints)
		}
		for _, flag := range s.State.Features {
			for _, strategy := range flag.Strategies {
				add(strategy.Constraints)
			}
		}
	}
	var known []struct{ Name string }
	f.must("GET", "/api/admin/context", nil, &known)
	for _, k := range known {
		delete(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f.try("context field "+name, "POST", "/api/admin/context", object{"name": name}, nil)
	}
}

// strategyTypes creates the custom types that the suites use, with the parameters that they use.
func (f *filler) strategyTypes(suites []suite) {
	used := map[string]map[string]bool{}
	for _, s := range suites {
		for _, flag := range s.State.Features {
			for _, strategy := range flag.Strategies {
				if used[strategy.Name] == nil {
					used[strategy.Name] = map[string]bool{}
				}
				for parameter := range strategy.Parameters {
					used[strategy.Name][parameter] = true
				}
			}
		}
	}
	var known struct{ Strategies []struct{ Name string } }
	f.must("GET", "/api/admin/strategies", nil, &known)
	for _, k := range known.Strategies {
		delete(used, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		parameters := list{}
		for _, parameter := range slices.Sorted(maps.Keys(used[name])) {
			parameters = append(parameters, object{"name": parameter, "type": "string", "description": "", "required": false})
		}
		f.try("strategy type "+name, "POST", "/api/admin/strategies", object{"name": name, "description": "From the specification.", "parameters": parameters}, nil)
	}
}

// suite creates the segments and flags of a suite.
func (f *filler) suite(s suite) {
	segments := map[int]int{}
	for _, segment := range s.State.Segments {
		name := fmt.Sprintf("%s-%d", s.name, segment.ID)
		var made struct{ ID int }
		if f.try("segment "+name, "POST", "/api/admin/segments", object{"name": name, "constraints": segment.Constraints}, &made) {
			segments[segment.ID] = made.ID
		}
	}
	var made []specFlag
	for _, flag := range s.State.Features {
		if f.flag(flag, segments) {
			made = append(made, flag)
		}
	}
	for _, flag := range made {
		for _, parent := range flag.Dependencies {
			f.try("a parent of "+flag.Name, "POST", flagPath(flag.Name)+"/dependencies", parent, nil)
		}
	}
}

// flag creates a flag with its strategies and variants in both environments. If it is enabled, it is on in development, and
// every second flag is on in production too.
func (f *filler) flag(flag specFlag, segments map[int]int) bool {
	body := object{"name": flag.Name, "type": flag.Type, "impressionData": flag.ImpressionData}
	if flag.Type == "" {
		delete(body, "type")
	}
	if flag.Description != nil {
		body["description"] = *flag.Description
	}
	if !f.try("flag "+flag.Name, "POST", flagsPath, body, nil) {
		return false
	}
	f.flags++
	for _, environment := range environments {
		at := inEnvironment(flag.Name, environment)
		what := flag.Name + " in " + environment
		for i, strategy := range flag.Strategies {
			strategy = strategy.with(segments)
			f.try(fmt.Sprintf("strategy %d of %s", i, what), "POST", at+"/strategies", strategy, nil)
		}
		if len(flag.Variants) > 0 {
			f.try("variants of "+what, "PUT", at+"/variants", withWeightTypes(flag.Variants), nil)
		}
		if flag.Enabled && (environment == "development" || f.flags%2 == 0) {
			f.must("POST", at+"/on", nil, nil)
		}
	}
	return true
}

// with returns the strategy with the new ids of its segments.
func (s specStrategy) with(segments map[int]int) specStrategy {
	s.Segments = slices.Clone(s.Segments)
	for i, id := range s.Segments {
		if made := segments[id]; made != 0 {
			s.Segments[i] = made
		} else {
			s.Segments[i] = 1_000_000 + id // does not exist, so Unleash refuses the strategy
		}
	}
	s.Variants = withWeightTypes(s.Variants)
	for i := range s.Variants {
		if s.Variants[i]["stickiness"] == nil {
			s.Variants[i]["stickiness"] = "default"
		}
	}
	return s
}

// withWeightTypes adds the weightType that old variants lack and the API requires.
func withWeightTypes(variants []object) []object {
	given := make([]object, len(variants))
	for i, v := range variants {
		given[i] = maps.Clone(v)
		if given[i]["weightType"] == nil {
			given[i]["weightType"] = "variable"
		}
	}
	return given
}

// refusals returns a line for each reason.
func (f *filler) refusals() []string {
	var lines []string
	for _, reason := range slices.Sorted(maps.Keys(f.refused)) {
		lines = append(lines, fmt.Sprintf("%d × %s (%s)", len(f.refused[reason]), reason, strings.Join(f.refused[reason], ", ")))
	}
	return lines
}
