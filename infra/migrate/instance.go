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
	strategyTypes []strategyType // those that were defined there
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

type contextField struct {
	Name        string       `json:"name"`
	Description *string      `json:"description"`
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
	Description *string      `json:"description"`
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
	in.strategyTypes = slices.DeleteFunc(strategies.Strategies, func(t strategyType) bool { return !t.Editable })
	if o.project != "" {
		in.projects = slices.DeleteFunc(in.projects, func(p project) bool { return p.ID != o.project })
	}
	if o.environment != "" {
		in.environments = slices.DeleteFunc(in.environments, func(e environment) bool { return e.Name != o.environment })
	}
	known := in.environmentNames()
	for i := range in.projects {
		p := &in.projects[i]
		if err := readProject(ctx, s, p); err != nil {
			return nil, err
		}
		p.environments = slices.DeleteFunc(p.environments, func(name string) bool { return !known[name] })
	}
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
	var archive struct{ Features []struct{ Name string } }
	err = s.get(ctx, "/api/admin/archive/features/"+url.PathEscape(p.ID), &archive)
	if p.archived = len(archive.Features); refused(err, http.StatusNotFound) { // newer versions search the archive; it is not moved anyway
		return nil
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
	var overview struct{ Environments []struct{ Environment string } }
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
