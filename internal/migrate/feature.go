package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"guidon/internal/adminapi"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A feature is a flag in the form that is compared. It leaves out what differs between servers without a meaning for
// users: ids of strategies and segments, times, and additional fields.
type feature struct {
	Type, Description     string
	Stale, ImpressionData bool
	Tags                  []string // type:value
	Parents               []parent
	Environments          map[string]featureEnvironment

	places map[string]float64 // the positions of the strategies, by id; not compared
}

type parent struct {
	Feature  string
	Enabled  bool
	Variants []string
}

type featureEnvironment struct {
	Enabled    bool
	Strategies []strategy
	Variants   []variant
}

type strategy struct {
	Name, Title string
	Disabled    bool
	Segments    []string // by name
	Constraints []constraint
	Parameters  map[string]string
	Variants    []variant
}

// A constraint is read from and written to both servers. An omitted field equals its zero value.
type constraint struct {
	ContextName     string   `json:"contextName"`
	Operator        string   `json:"operator"`
	Values          []string `json:"values,omitempty"`
	Value           string   `json:"value,omitempty"`
	CaseInsensitive bool     `json:"caseInsensitive,omitempty"`
	Inverted        bool     `json:"inverted,omitempty"`
}

type variant struct {
	Name       string
	Weight     float64
	WeightType string
	Stickiness string
	Payload    *payload
	Overrides  []override
}

type payload struct{ Type, Value string }

type override struct {
	ContextName string
	Values      []string
}

// An oddError is the error of a response with a flag that has another form than flags have.
type oddError struct{ err error }

func (e *oddError) Error() string { return "it cannot be read: " + e.err.Error() }

// get decodes a response as other programs write it: older data of Unleash has numbers in place of texts.
func get(ctx context.Context, server *adminapi.Client, path string, into any) error {
	var text json.RawMessage
	if err := server.Get(ctx, path, &text); err != nil || len(text) == 0 {
		return err
	}
	if err := decode(text, into); err != nil {
		return &oddError{err}
	}
	return nil
}

func decode(text []byte, into any) error {
	return jsonbody.DecodeForeign(text, into, jsonv2.MatchCaseInsensitiveNames(true))
}

// A reader reads flags on one side.
type reader struct {
	server   *adminapi.Client
	segments map[int64]string
}

// read reads a flag, its tags, and its variants in each environment; nil if there is no such flag.
func (r reader) read(ctx context.Context, project, name string, environments []string) (*feature, error) {
	path := projectsPath + "/" + url.PathEscape(project) + "/features/" + url.PathEscape(name)
	var record featureRecord
	if err := get(ctx, r.server, path, &record); err != nil {
		if adminapi.Refused(err, http.StatusNotFound) {
			return nil, nil
		}
		return nil, err
	}
	var tags struct {
		Tags []struct{ Type, Value string }
	}
	if err := get(ctx, r.server, "/api/admin/features/"+url.PathEscape(name)+"/tags", &tags); err != nil {
		return nil, err
	}
	f := record.feature()
	for _, t := range tags.Tags {
		f.Tags = append(f.Tags, t.Type+":"+t.Value)
	}
	slices.Sort(f.Tags)
	for _, e := range record.Environments {
		if !slices.Contains(environments, e.Name) {
			continue
		}
		var list struct{ Variants []variant }
		if err := get(ctx, r.server, path+"/environments/"+url.PathEscape(e.Name)+"/variants", &list); err != nil {
			return nil, err
		}
		fe := featureEnvironment{Enabled: e.Enabled, Variants: normalVariants(list.Variants)}
		slices.SortStableFunc(e.Strategies, func(a, b strategyRecord) int { return cmp.Compare(a.SortOrder, b.SortOrder) })
		for i, s := range e.Strategies {
			f.places[s.ID] = float64(i)
			fe.Strategies = append(fe.Strategies, s.strategy(r.segments).withDefaults(name))
		}
		f.Environments[e.Name] = fe
	}
	return &f, nil
}

// A featureRecord is a flag in a response.
type featureRecord struct {
	Type           string
	Description    *string
	Stale          bool
	ImpressionData bool
	Environments   []struct {
		Name       string
		Enabled    bool
		Strategies []strategyRecord
	}
	Dependencies []struct {
		Feature  string
		Enabled  *bool
		Variants []string
	}
}

func (record featureRecord) feature() feature {
	f := feature{
		Type: record.Type, Stale: record.Stale, ImpressionData: record.ImpressionData, Environments: map[string]featureEnvironment{},
		places: map[string]float64{},
	}
	if record.Description != nil {
		f.Description = *record.Description // an omitted description equals an empty one
	}
	for _, d := range record.Dependencies {
		slices.Sort(d.Variants)
		f.Parents = append(f.Parents, parent{d.Feature, d.Enabled == nil || *d.Enabled, nilIfEmpty(d.Variants)})
	}
	slices.SortFunc(f.Parents, func(a, b parent) int { return strings.Compare(a.Feature, b.Feature) })
	return f
}

type strategyRecord struct {
	ID          string
	SortOrder   float64
	Name, Title string
	Disabled    bool
	Segments    []int64
	Constraints []constraint
	Parameters  map[string]*string
	Variants    []variant
}

func (record strategyRecord) strategy(segments map[int64]string) strategy {
	s := strategy{
		Name: record.Name, Title: record.Title, Disabled: record.Disabled, Parameters: map[string]string{},
		Variants: normalVariants(record.Variants),
	}
	for _, id := range record.Segments {
		name, known := segments[id]
		if !known {
			name = fmt.Sprintf("segment %d, which is not in the list of segments", id)
		}
		s.Segments = append(s.Segments, name)
	}
	slices.Sort(s.Segments)
	for _, c := range record.Constraints {
		s.Constraints = append(s.Constraints, c.normal())
	}
	for name, value := range record.Parameters {
		if value != nil {
			s.Parameters[name] = *value
		}
	}
	flags.NormalizeParameters(s.Name, s.Parameters)
	return s
}

// withDefaults adds the defaults that SDKs use for omitted parameters.
func (s strategy) withDefaults(flag string) strategy {
	if s.Name == "flexibleRollout" {
		s.Parameters["groupId"] = cmp.Or(s.Parameters["groupId"], flag)
		s.Parameters["stickiness"] = cmp.Or(s.Parameters["stickiness"], "default")
	}
	return s
}

// normal is the constraint as Guidon stores it, without the value that its operator ignores.
func (c constraint) normal() constraint {
	if c.Values = nilIfEmpty(slices.Clone(c.Values)); len(c.Values) > 0 {
		c.Value = ""
	}
	c.Value = *flags.Constraint{Operator: flags.Operator(c.Operator), Value: &c.Value}.Normalized().Value
	return c
}

func normalVariants(list []variant) []variant {
	normal := slices.Clone(list)
	for i := range normal {
		normal[i].Overrides = nilIfEmpty(normal[i].Overrides)
		normal[i].Stickiness = cmp.Or(normal[i].Stickiness, "default") // the default of SDKs
	}
	return nilIfEmpty(normal)
}

// nilIfEmpty makes an omitted list and an empty list equal.
func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// within is the flag with only these environments.
func (f *feature) within(environments []string) *feature {
	if f == nil {
		return nil
	}
	c := *f
	c.Environments = maps.Clone(f.Environments)
	maps.DeleteFunc(c.Environments, func(name string, _ featureEnvironment) bool { return !slices.Contains(environments, name) })
	return &c
}
