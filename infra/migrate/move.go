package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// A move is one run, with both sides as they were read.
type move struct {
	options
	tell           *teller
	source, target *instance
	refused        map[string]string // why the target did not take a flag, by its name
}

// prepare brings what flags need, in the order in which things need each other. The target's instance is kept as it is
// then.
func (m *move) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		m.environments, m.projects, m.tagTypes, m.contextFields, m.segments, m.strategyTypes,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if m.dryRun {
		return nil
	}
	var list struct{ Segments []segment }
	err := m.to.get(ctx, segmentsPath, &list) // those that were made have their ids now
	m.target.segments = list.Segments
	return err
}

// make makes one thing on the target, or says that it would. What the target has no way to make is said, and the move
// goes on: an open Unleash has its environments and projects given.
func (m *move) make(ctx context.Context, what, method, path string, body any) (made bool, err error) {
	if m.dryRun {
		m.tell.would(what)
		return true, nil
	}
	if err := m.to.call(ctx, method, path, body, nil); err != nil {
		if refused(err, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusBadRequest, http.StatusConflict) {
			m.tell.not(what, err)
			return false, nil
		}
		return false, err
	}
	m.tell.did(what)
	return true, nil
}

func (m *move) environments(ctx context.Context) error {
	there := m.target.environmentNames()
	for _, e := range m.source.environments {
		if there[e.Name] || !m.wanted(e.Name) {
			continue
		}
		made, err := m.make(ctx, "environment "+e.Name, http.MethodPost, environmentsPath, map[string]any{"name": e.Name, "type": e.Type, "enabled": e.Enabled})
		if err != nil {
			return err
		}
		if made {
			m.target.environments = append(m.target.environments, e)
		}
	}
	return nil
}

// wanted tells whether a project of the source uses an environment: others are not worth making.
func (m *move) wanted(environment string) bool {
	return slices.ContainsFunc(m.source.projects, func(p project) bool { return slices.Contains(p.environments, environment) })
}

func (m *move) projects(ctx context.Context) error {
	for _, p := range m.source.projects {
		there := m.target.project(p.ID)
		if there == nil {
			body := map[string]any{"id": p.ID, "name": p.Name, "description": p.Description, "environments": p.environments}
			if p.DefaultStickiness != "" {
				body["defaultStickiness"] = p.DefaultStickiness
			}
			made, err := m.make(ctx, "project "+p.ID, http.MethodPost, projectsPath, body)
			if err != nil {
				return err
			}
			if made {
				m.target.projects = append(m.target.projects, project{ID: p.ID, Name: p.Name, environments: p.environments})
			}
			continue
		}
		for _, e := range p.environments {
			if slices.Contains(there.environments, e) {
				continue
			}
			made, err := m.make(ctx, "environment "+e+" in project "+p.ID, http.MethodPost,
				projectsPath+"/"+url.PathEscape(p.ID)+"/environments", map[string]any{"environment": e})
			if err != nil {
				return err
			}
			if made {
				there.environments = append(there.environments, e)
			}
		}
	}
	return nil
}

func (m *move) tagTypes(ctx context.Context) error {
	return bring(ctx, m, "tag type ", m.source.tagTypes, m.target.tagTypes, thing[tagType]{
		name: func(t tagType) string { return t.Name }, list: tagTypesPath,
		one: func(t tagType) string { return tagTypesPath + "/" + url.PathEscape(t.Name) },
	})
}

func (m *move) contextFields(ctx context.Context) error {
	return bring(ctx, m, "context field ", m.source.contextFields, m.target.contextFields, thing[contextField]{
		name: func(f contextField) string { return f.Name }, list: contextPath,
		one: func(f contextField) string { return contextPath + "/" + url.PathEscape(f.Name) },
	})
}

func (m *move) segments(ctx context.Context) error {
	ids := map[string]int64{}
	for _, s := range m.target.segments {
		ids[s.Name] = s.ID
	}
	plain := func(list []segment) []segment { // as the two sides compare, and as one is made
		return each(list, func(s segment) segment {
			s.ID, s.Constraints = 0, each(s.Constraints, constraint.normal)
			return s
		})
	}
	return bring(ctx, m, "segment ", plain(m.source.segments), plain(m.target.segments), thing[segment]{
		name: func(s segment) string { return s.Name }, list: segmentsPath,
		one: func(s segment) string { return fmt.Sprintf("%s/%d", segmentsPath, ids[s.Name]) },
	})
}

func (m *move) strategyTypes(ctx context.Context) error {
	return bring(ctx, m, "strategy type ", m.source.strategyTypes, m.target.strategyTypes, thing[strategyType]{
		name: func(t strategyType) string { return t.Name }, list: strategiesPath,
		one: func(t strategyType) string { return strategiesPath + "/" + url.PathEscape(t.Name) },
	})
}

// A thing is a sort of what is moved by name: where it is made, and where one is changed.
type thing[T any] struct {
	name func(T) string
	list string
	one  func(T) string
}

// bring makes on the target what only the source has, and changes what is different.
func bring[T any](ctx context.Context, m *move, what string, source, target []T, kind thing[T]) error {
	for _, s := range source {
		method, path := http.MethodPost, kind.list
		if i := slices.IndexFunc(target, func(t T) bool { return kind.name(t) == kind.name(s) }); i >= 0 {
			if len(differences(target[i], s)) == 0 {
				continue
			}
			method, path = http.MethodPut, kind.one(s)
		}
		if _, err := m.make(ctx, what+kind.name(s), method, path, s); err != nil {
			return err
		}
	}
	return nil
}

// How flags are carried: so many in one import, with parents before those that depend on them.
const flagsAtOnce = 100

// flags exports from the source, and imports into the target, every flag that is not the same on both sides.
func (m *move) flags(ctx context.Context) error {
	m.refused = map[string]string{}
	for _, p := range m.source.projects {
		there := m.target.project(p.ID)
		if there == nil {
			continue // said before
		}
		names, err := m.changed(ctx, p, *there)
		if err != nil {
			return err
		}
		if m.dryRun {
			m.tell.would(fmt.Sprintf("%d of %d flags of project %s", len(names), len(p.flags), p.ID))
			continue
		}
		if err := m.carry(ctx, p, *there, names); err != nil {
			return err
		}
	}
	return nil
}

// changed are the flags of a project that the target does not have as the source has them, parents first.
func (m *move) changed(ctx context.Context, p, there project) ([]string, error) {
	var roots, children []string
	err := m.both(ctx, "reading project "+p.ID, p, there, func(name string, source, target *feature) {
		switch {
		case source == nil || target != nil && len(differences(target, source)) == 0:
		case len(source.Parents) > 0:
			children = append(children, name)
		default:
			roots = append(roots, name)
		}
		if m.dryRun && target != nil {
			m.tell.differs(name, differences(target, source))
		}
	})
	slices.Sort(roots)
	slices.Sort(children)
	return append(roots, children...), err
}

// carry moves flags of a project, environment by environment. Each is first made in one environment with all that is its
// own, and in the others with what it has there.
func (m *move) carry(ctx context.Context, p, there project, names []string) error {
	done := m.tell.bar("moving project "+p.ID, len(names))
	defer done.finish()
	for chunk := range slices.Chunk(names, flagsAtOnce) {
		for _, environment := range p.environments {
			if !slices.Contains(there.environments, environment) {
				continue
			}
			if err := m.carryOne(ctx, p.ID, environment, chunk); err != nil {
				return err
			}
		}
		done.add(len(chunk))
	}
	return nil
}

// carryOne moves some flags of one project in one environment. A target that takes an import whole or not at all
// (Unleash) may refuse it for the sake of one flag: then each is carried alone, and those that are refused are told.
func (m *move) carryOne(ctx context.Context, project, environment string, names []string) error {
	var data json.RawMessage // passed on as it is: segments go by their names in it
	if err := m.from.call(ctx, http.MethodPost, exportPath, map[string]any{"environment": environment, "features": names}, &data); err != nil {
		return err
	}
	var report struct {
		Features []struct {
			Name    string
			Outcome string
			Reasons []string
		}
	}
	err := m.to.call(ctx, http.MethodPost, importPath, map[string]any{"project": project, "environment": environment, "data": data}, &report)
	switch {
	case refused(err, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge) && len(names) > 1:
		for _, name := range names {
			if err := m.carryOne(ctx, project, environment, []string{name}); err != nil {
				return err
			}
		}
		return nil
	case refused(err, http.StatusBadRequest, http.StatusConflict):
		m.refused[names[0]] = err.Error()
		return nil
	}
	for _, f := range report.Features {
		for _, reason := range f.Reasons {
			m.refused[f.Name] = reason
		}
	}
	return err
}

const (
	exportPath = "/api/admin/features-batch/export"
	importPath = "/api/admin/features-batch/import"
)
