package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"guidon/internal/clientspec"
)

// environments are those that an Unleash has in its one project, which is all that the open edition has.
var environments = []string{"development", "production"}

const flagsPath = "/api/admin/projects/default/features"

func flagPath(name string) string { return flagsPath + "/" + url.PathEscape(name) }

func inEnvironment(name, environment string) string {
	return flagPath(name) + "/environments/" + environment
}

// A filler fills an Unleash, and counts what that does not take.
type filler struct {
	ctx     context.Context
	c       *client
	refused map[string][]string // what was, by reason
	flags   int
	err     error // the first that is no refusal; nothing is done after it
}

// quoted is what differs from message to message.
var quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// try does what Unleash may refuse, for what.
func (f *filler) try(what, method, path string, body, into any) (taken bool) {
	if f.err != nil {
		return false
	}
	err := f.c.send(f.ctx, method, path, body, into)
	var told *refusal
	if errors.As(err, &told) && told.status < 500 {
		reason := quoted.ReplaceAllString(told.message, "…")
		f.refused[reason] = append(f.refused[reason], what)
		return false
	}
	f.err = err
	return err == nil
}

// must does what is to be taken.
func (f *filler) must(method, path string, body, into any) {
	if f.err == nil {
		f.err = f.c.send(f.ctx, method, path, body, into)
	}
}

// fill fills an Unleash with the flags of the specification, and with those of extras.go.
func fill(ctx context.Context, c *client) (*filler, error) {
	files, err := clientspec.Load(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	suites := make([]suite, len(files))
	for i, file := range files {
		if err := json.Unmarshal(file.JSON, &suites[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		suites[i].name = file.Name
	}
	f := &filler{ctx: ctx, c: c, refused: map[string][]string{}}
	f.extraFields() // with what is their own, before those of the suites, which are mere names
	f.contextFields(suites)
	f.strategyTypes(suites)
	for _, s := range suites {
		f.suite(s)
	}
	f.extras()
	return f, f.err
}

// A suite is one file of the specification, as far as the administration of flags goes.
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

// A specConstraint is sent with all that it says.
type specConstraint object

// contextFields defines what constraints name: Unleash takes no others.
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

// strategyTypes defines those that the suites use and Unleash does not have, with the parameters that they are used with.
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
		f.try("strategy type "+name, "POST", "/api/admin/strategies", object{"name": name, "description": "Of the suites.", "parameters": parameters}, nil)
	}
}

// suite makes the segments and flags of a suite.
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

// flag makes one flag: with its strategies and variants in both environments, on where it says so in development, and every
// other one in production too.
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

// with is the strategy with the ids that its segments have got.
func (s specStrategy) with(segments map[int]int) specStrategy {
	s.Segments = slices.Clone(s.Segments)
	for i, id := range s.Segments {
		if made := segments[id]; made != 0 {
			s.Segments[i] = made
		} else {
			s.Segments[i] = 1_000_000 + id // refused, as it should be
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

// withWeightTypes gives variants the type that those of old exports lack. Nothing takes them without.
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

// refusals are what was not taken, by reason.
func (f *filler) refusals() []string {
	var lines []string
	for _, reason := range slices.Sorted(maps.Keys(f.refused)) {
		lines = append(lines, fmt.Sprintf("%d × %s (%s)", len(f.refused[reason]), reason, strings.Join(f.refused[reason], ", ")))
	}
	return lines
}
