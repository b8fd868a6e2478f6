package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// An instance is what one side has, less the flags themselves.
type instance struct {
	environments  []environment
	projects      []project
	tagTypes      []tagType
	contextFields []contextField
	segments      []segment
	strategyTypes []strategyType // built in or defined there
}

type environment struct {
	Name      string  `json:"name"`
	Type      string  `json:"type"`
	SortOrder float64 `json:"sortOrder"`
	Enabled   bool    `json:"enabled"`
}

type project struct {
	ID                string `json:"id"`
	Name              string `json:"name"`
	Description       string `json:"description"`
	DefaultStickiness string `json:"defaultStickiness"`

	environments []string // that flags of the project can be switched in
	flags        []string // the names of the active ones
	archived     int      // how many more are in the archive
}

type tagType struct {
	Name        string  `json:"name"`
	Description *string `json:"description,omitempty"`
	Icon        *string `json:"icon,omitempty"`
}

// plain are what things are as the two sides compare: having none is having an empty one, and ids are each side's own.
func (t tagType) plain() tagType {
	t.Description, t.Icon = words(t.Description), words(t.Icon)
	return t
}

func (f contextField) plain() contextField {
	f.Description, f.LegalValues = words(f.Description), each(f.LegalValues, func(v legalValue) legalValue {
		return legalValue{v.Value, words(v.Description)}
	})
	return f
}

func (s segment) plain() segment {
	s.ID, s.Description, s.Project, s.Constraints = 0, words(s.Description), words(s.Project), each(s.Constraints, constraint.normal)
	return s
}

func (t strategyType) plain() strategyType {
	t.Parameters, t.Editable = each(t.Parameters, func(p strategyParameter) strategyParameter { return p }), true
	return t
}

// words is nil for a text that says nothing.
func words(text *string) *string {
	if text == nil || *text == "" {
		return nil
	}
	return text
}

type contextField struct {
	Name        string       `json:"name"`
	Description *string      `json:"description,omitempty"`
	Stickiness  bool         `json:"stickiness"`
	SortOrder   float64      `json:"sortOrder"`
	LegalValues []legalValue `json:"legalValues"`
}

type legalValue struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitempty"`
}

type segment struct {
	ID          int64        `json:"id,omitempty"`
	Name        string       `json:"name"`
	Description *string      `json:"description,omitempty"`
	Project     *string      `json:"project,omitempty"`
	Constraints []constraint `json:"constraints"`
}

type strategyType struct {
	Name        string              `json:"name"`
	Description string              `json:"description"`
	Parameters  []strategyParameter `json:"parameters"`
	Editable    bool                `json:"editable"` // defined there, not built in
}

type strategyParameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// The paths of the interface that are used more than once.
const (
	environmentsPath = "/api/admin/environments"
	projectsPath     = "/api/admin/projects"
	tagTypesPath     = "/api/admin/tag-types"
	contextPath      = "/api/admin/context"
	segmentsPath     = "/api/admin/segments"
	strategiesPath   = "/api/admin/strategies"
)

// readInstance reads all that a side has, as far as the options ask for it.
func readInstance(ctx context.Context, s *server, o options, tell *teller) (*instance, error) {
	in := &instance{}
	var environments struct{ Environments []environment }
	var projects struct{ Projects []project }
	var tagTypes struct{ TagTypes []tagType }
	var segments struct{ Segments []segment }
	var strategies struct{ Strategies []strategyType }
	for _, list := range []struct {
		path string
		into any
	}{
		{environmentsPath, &environments}, {projectsPath, &projects}, {tagTypesPath, &tagTypes}, {contextPath, &in.contextFields},
		{segmentsPath, &segments}, {strategiesPath, &strategies},
	} {
		if err := s.get(ctx, list.path, list.into); err != nil {
			return nil, err
		}
	}
	in.environments, in.projects, in.tagTypes, in.segments = environments.Environments, projects.Projects, tagTypes.TagTypes, segments.Segments
	in.strategyTypes = strategies.Strategies
	if o.project != "" {
		in.projects = slices.DeleteFunc(in.projects, func(p project) bool { return p.ID != o.project })
	}
	if o.environment != "" {
		in.environments = slices.DeleteFunc(in.environments, func(e environment) bool { return e.Name != o.environment })
	}
	known := in.environmentNames()
	readable := in.projects[:0]
	for _, p := range in.projects {
		err := readProject(ctx, s, &p)
		if refused(err, http.StatusForbidden) {
			tell.line("project %s is left out: %v", p.ID, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		p.environments = slices.DeleteFunc(p.environments, func(name string) bool { return !known[name] })
		readable = append(readable, p)
	}
	in.projects = readable
	tell.read(s, in)
	return in, nil
}

func (in *instance) environmentNames() map[string]bool {
	names := make(map[string]bool, len(in.environments))
	for _, e := range in.environments {
		names[e.Name] = true
	}
	return names
}

// project is the one with that id, or nil.
func (in *instance) project(id string) *project {
	i := slices.IndexFunc(in.projects, func(p project) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &in.projects[i]
}

// segmentNames are the names of the segments by id: ids differ from side to side.
func (in *instance) segmentNames() map[int64]string {
	names := make(map[int64]string, len(in.segments))
	for _, s := range in.segments {
		names[s.ID] = s.Name
	}
	return names
}

// flagCount is how many flags the projects have in all.
func (in *instance) flagCount() (active, archived int) {
	for _, p := range in.projects {
		active, archived = active+len(p.flags), archived+p.archived
	}
	return active, archived
}

// readProject reads which environments and flags a project has.
func readProject(ctx context.Context, s *server, p *project) (err error) {
	if p.environments, err = readProjectEnvironments(ctx, s, p.ID); err != nil {
		return err
	}
	if p.flags, err = readFlagNames(ctx, s, p.ID); err != nil {
		return err
	}
	var archive struct {
		Features []named
		Total    int
	}
	err = s.get(ctx, "/api/admin/archive/features/"+url.PathEscape(p.ID), &archive)
	if p.archived = len(archive.Features); refused(err, http.StatusNotFound) { // newer versions search the archive
		query := url.Values{"project": {"IS:" + p.ID}, "archived": {"IS:true"}, "limit": {"1"}}
		err = s.get(ctx, "/api/admin/search/features?"+query.Encode(), &archive)
		p.archived = archive.Total
	}
	return err
}

// readProjectEnvironments asks for the list that Guidon has, or for the overview that Unleash has.
func readProjectEnvironments(ctx context.Context, s *server, id string) ([]string, error) {
	path := projectsPath + "/" + url.PathEscape(id)
	var list struct{ Environments []environment }
	err := s.get(ctx, path+"/environments", &list)
	if err == nil {
		return each(list.Environments, func(e environment) string { return e.Name }), nil
	}
	if !refused(err, http.StatusNotFound) {
		return nil, err
	}
	var overview struct {
		Environments []struct{ Environment string }
	}
	if err = s.get(ctx, path+"/overview", &overview); refused(err, http.StatusNotFound) {
		err = s.get(ctx, path, &overview)
	}
	return each(overview.Environments, func(e struct{ Environment string }) string { return e.Environment }), err
}

// A named is all that matters of a row in a list.
type named struct {
	Name string `json:"name"`
}

// readFlagNames lists a project's active flags, or, where that list has gone, searches for them.
func readFlagNames(ctx context.Context, s *server, id string) ([]string, error) {
	var list struct{ Features []named }
	err := s.get(ctx, projectsPath+"/"+url.PathEscape(id)+"/features", &list)
	if !refused(err, http.StatusNotFound) {
		return sortedNames(list.Features), err
	}
	const page = 100
	for all := []named{}; ; {
		var found struct{ Features []named }
		query := url.Values{"project": {"IS:" + id}, "limit": {strconv.Itoa(page)}, "offset": {strconv.Itoa(len(all))}}
		if err := s.get(ctx, "/api/admin/search/features?"+query.Encode(), &found); err != nil {
			return nil, err
		}
		if all = append(all, found.Features...); len(found.Features) < page {
			return sortedNames(all), nil
		}
	}
}

func sortedNames(list []named) []string {
	names := each(list, func(n named) string { return n.Name })
	slices.Sort(names)
	return slices.Compact(names)
}

// each makes a list of another.
func each[A, B any](list []A, make func(A) B) []B {
	made := []B{}
	for _, a := range list {
		made = append(made, make(a))
	}
	return made
}
