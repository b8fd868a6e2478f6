package migrate

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"guidon/internal/adminapi"
	"guidon/pkg/jsonbody"
)

// An instance is the content of one side, except the flags themselves.
type instance struct {
	environments  []environment
	projects      []project
	tagTypes      []tagType
	contextFields []contextField
	segments      []segment
	strategyTypes []strategyType // built-in and custom

	unreadable int // how many of these cannot be read, and are left out
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

	environments []string // the environments of the project
	flags        []string // the names of its active flags
	archived     int      // how many archived flags it has
}

type tagType struct {
	Name        string  `json:"name"`
	Description *string `json:"description,omitempty"`
	Icon        *string `json:"icon,omitempty"`
}

// The methods normal return the form that is compared: empty texts and lists equal omitted ones, and ids are left out
// because each server assigns its own.
func (t tagType) normal() tagType {
	t.Description, t.Icon = nilIfBlank(t.Description), nilIfBlank(t.Icon)
	return t
}

func (f contextField) normal() contextField {
	f.Description, f.LegalValues = nilIfBlank(f.Description), each(f.LegalValues, func(v legalValue) legalValue {
		return legalValue{v.Value, nilIfBlank(v.Description)}
	})
	return f
}

func (s segment) normal() segment {
	s.ID, s.Description, s.Project, s.Constraints = 0, nilIfBlank(s.Description), nilIfBlank(s.Project), each(s.Constraints, constraint.normal)
	return s
}

func (t strategyType) normal() strategyType {
	t.Parameters, t.Editable = each(t.Parameters, func(p strategyParameter) strategyParameter { return p }), true
	return t
}

// nilIfBlank makes an omitted text and an empty text equal.
func nilIfBlank(text *string) *string {
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
	Editable    bool                `json:"editable"` // custom, not built-in
}

type strategyParameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Paths of the admin API that are used more than once.
const (
	environmentsPath = "/api/admin/environments"
	projectsPath     = "/api/admin/projects"
	tagTypesPath     = "/api/admin/tag-types"
	contextPath      = "/api/admin/context"
	segmentsPath     = "/api/admin/segments"
	strategiesPath   = "/api/admin/strategies"
)

// readInstance reads what the options select from one side.
func readInstance(ctx context.Context, s *adminapi.Client, o options, print *printer) (*instance, error) {
	in := &instance{}
	var environments struct{ Environments jsonbody.Items[environment] }
	var projects struct{ Projects jsonbody.Items[project] }
	var tagTypes struct{ TagTypes jsonbody.Items[tagType] }
	var contextFields jsonbody.Items[contextField]
	var segments struct{ Segments jsonbody.Items[segment] }
	var strategies struct{ Strategies jsonbody.Items[strategyType] }
	for _, list := range []struct {
		path string
		into any
	}{
		{environmentsPath, &environments}, {projectsPath, &projects}, {tagTypesPath, &tagTypes}, {contextPath, &contextFields},
		{segmentsPath, &segments}, {strategiesPath, &strategies},
	} {
		if err := get(ctx, s, list.path, list.into); err != nil {
			return nil, err
		}
	}
	in.environments, in.projects = readable(in, print, "environment", environments.Environments), readable(in, print, "project", projects.Projects)
	in.tagTypes, in.contextFields = readable(in, print, "tag type", tagTypes.TagTypes), readable(in, print, "context field", contextFields)
	in.segments, in.strategyTypes = readable(in, print, "segment", segments.Segments), readable(in, print, "strategy type", strategies.Strategies)
	if o.project != "" {
		in.projects = slices.DeleteFunc(in.projects, func(p project) bool { return p.ID != o.project })
	}
	if o.environment != "" {
		in.environments = slices.DeleteFunc(in.environments, func(e environment) bool { return e.Name != o.environment })
	}
	known := in.environmentNames()
	allowed := in.projects[:0]
	for _, p := range in.projects {
		err := readProject(ctx, s, &p)
		if adminapi.Refused(err, http.StatusForbidden) {
			print.line("skipping project %s: %v", p.ID, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		p.environments = slices.DeleteFunc(p.environments, func(name string) bool { return !known[name] })
		allowed = append(allowed, p)
	}
	in.projects = allowed
	print.instance(s, in)
	return in, nil
}

// readable returns the items of a list that can be read. The others are printed and counted.
func readable[T any](in *instance, print *printer, kind string, items jsonbody.Items[T]) (list []T) {
	for i, item := range items {
		if item.Err == nil {
			list = append(list, item.Value)
			continue
		}
		var named struct{ ID, Name string }
		_ = decode(item.Raw, &named)
		print.notCopied(kind+" "+cmp.Or(named.Name, named.ID, fmt.Sprintf("%d of the list", i+1)), &oddError{item.Err})
		in.unreadable++
	}
	return list
}

func (in *instance) environmentNames() map[string]bool {
	names := make(map[string]bool, len(in.environments))
	for _, e := range in.environments {
		names[e.Name] = true
	}
	return names
}

// project returns the project with that id, or nil.
func (in *instance) project(id string) *project {
	i := slices.IndexFunc(in.projects, func(p project) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &in.projects[i]
}

// segmentNames are the names of the segments by id, which differs between the sides.
func (in *instance) segmentNames() map[int64]string {
	names := make(map[int64]string, len(in.segments))
	for _, s := range in.segments {
		names[s.ID] = s.Name
	}
	return names
}

// flagCount is the number of flags in all projects.
func (in *instance) flagCount() (active, archived int) {
	for _, p := range in.projects {
		active, archived = active+len(p.flags), archived+p.archived
	}
	return active, archived
}

// readProject reads the environments and flag names of a project.
func readProject(ctx context.Context, s *adminapi.Client, p *project) (err error) {
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
	err = get(ctx, s, "/api/admin/archive/features/"+url.PathEscape(p.ID), &archive)
	if p.archived = len(archive.Features); adminapi.Refused(err, http.StatusNotFound) { // newer versions of Unleash search the archive instead
		query := url.Values{"project": {"IS:" + p.ID}, "archived": {"IS:true"}, "limit": {"1"}}
		err = get(ctx, s, "/api/admin/search/features?"+query.Encode(), &archive)
		p.archived = archive.Total
	}
	return err
}

// readProjectEnvironments reads the list that only Guidon has, or else the overview of Unleash.
func readProjectEnvironments(ctx context.Context, s *adminapi.Client, id string) ([]string, error) {
	path := projectsPath + "/" + url.PathEscape(id)
	var list struct{ Environments []environment }
	err := get(ctx, s, path+"/environments", &list)
	if err == nil {
		return each(list.Environments, func(e environment) string { return e.Name }), nil
	}
	if !adminapi.Refused(err, http.StatusNotFound) {
		return nil, err
	}
	var overview struct {
		Environments []struct{ Environment string }
	}
	if err = get(ctx, s, path+"/overview", &overview); adminapi.Refused(err, http.StatusNotFound) {
		err = get(ctx, s, path, &overview)
	}
	return each(overview.Environments, func(e struct{ Environment string }) string { return e.Environment }), err
}

// A named is a row of a list of flags.
type named struct {
	Name string `json:"name"`
}

// readFlagNames lists the active flags of a project. Newer versions of Unleash have no such list: it searches there.
func readFlagNames(ctx context.Context, s *adminapi.Client, id string) ([]string, error) {
	var list struct{ Features []named }
	err := get(ctx, s, projectsPath+"/"+url.PathEscape(id)+"/features", &list)
	if !adminapi.Refused(err, http.StatusNotFound) {
		return sortedNames(list.Features), err
	}
	const page = 100
	for all := []named{}; ; {
		var found struct{ Features []named }
		query := url.Values{"project": {"IS:" + id}, "limit": {strconv.Itoa(page)}, "offset": {strconv.Itoa(len(all))}}
		if err := get(ctx, s, "/api/admin/search/features?"+query.Encode(), &found); err != nil {
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

// each applies a function to every element of a list.
func each[A, B any](list []A, convert func(A) B) []B {
	converted := []B{}
	for _, a := range list {
		converted = append(converted, convert(a))
	}
	return converted
}
