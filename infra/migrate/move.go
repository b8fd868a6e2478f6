package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// A move is one run, with both sides as they were read.
type move struct {
	options
	tell           *teller
	source, target *instance
	failed         int                // how many things besides flags the target did not take
	refused        map[string]string  // why the target did not take a flag, by its name
	places         map[string]float64 // of the source's strategies, by their ids: exports of Unleash are in no order
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
			m.failed++
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
		name: func(t tagType) string { return t.Name }, plain: tagType.plain, list: tagTypesPath,
		one: func(t tagType) string { return tagTypesPath + "/" + url.PathEscape(t.Name) },
	})
}

func (m *move) contextFields(ctx context.Context) error {
	return bring(ctx, m, "context field ", m.source.contextFields, m.target.contextFields, thing[contextField]{
		name: func(f contextField) string { return f.Name }, plain: contextField.plain, list: contextPath,
		one: func(f contextField) string { return contextPath + "/" + url.PathEscape(f.Name) },
	})
}

func (m *move) segments(ctx context.Context) error {
	ids := map[string]int64{}
	for _, s := range m.target.segments {
		ids[s.Name] = s.ID
	}
	return bring(ctx, m, "segment ", m.source.segments, m.target.segments, thing[segment]{
		name: func(s segment) string { return s.Name }, plain: segment.plain, list: segmentsPath,
		one: func(s segment) string { return fmt.Sprintf("%s/%d", segmentsPath, ids[s.Name]) },
	})
}

func (m *move) strategyTypes(ctx context.Context) error {
	// What one side has built in is the other's own in some versions. There it is made if it is not there, and never changed.
	wanted := slices.DeleteFunc(slices.Clone(m.source.strategyTypes), func(s strategyType) bool {
		i := slices.IndexFunc(m.target.strategyTypes, func(t strategyType) bool { return t.Name == s.Name })
		return i >= 0 && (!s.Editable || !m.target.strategyTypes[i].Editable)
	})
	return bring(ctx, m, "strategy type ", wanted, m.target.strategyTypes, thing[strategyType]{
		name: func(t strategyType) string { return t.Name }, plain: strategyType.plain, list: strategiesPath,
		one: func(t strategyType) string { return strategiesPath + "/" + url.PathEscape(t.Name) },
	})
}

// A thing is a sort of what is moved by name: where it is made, and where one is changed.
type thing[T any] struct {
	name  func(T) string
	plain func(T) T // as the two sides compare, and as one is made
	list  string
	one   func(T) string
}

// bring makes on the target what only the source has, and changes what is different.
func bring[T any](ctx context.Context, m *move, what string, source, target []T, kind thing[T]) error {
	for _, s := range source {
		s = kind.plain(s)
		method, path := http.MethodPost, kind.list
		if i := slices.IndexFunc(target, func(t T) bool { return kind.name(t) == kind.name(s) }); i >= 0 {
			if len(differences(kind.plain(target[i]), s)) == 0 {
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
	m.refused, m.places = map[string]string{}, map[string]float64{}
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
	has := func(name string) bool { _, found := slices.BinarySearch(there.flags, name); return found }
	err := m.both(ctx, "reading project "+p.ID, p, there, has, func(name string, source, target *feature) {
		if source != nil {
			maps.Copy(m.places, source.places)
		}
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
	var data map[string]any // passed on as it is, but for the order of strategies: segments go by their names in it
	if err := m.from.call(ctx, http.MethodPost, exportPath, map[string]any{"environment": environment, "features": names}, &data); err != nil {
		return err
	}
	m.order(data)
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
	case refused(err, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge):
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

// order puts the strategies of an export in their order, and says it in them where the export does not.
func (m *move) order(data map[string]any) {
	list, _ := data["featureStrategies"].([]any)
	place := func(s any) float64 {
		id, _ := s.(map[string]any)["id"].(string)
		return m.places[id]
	}
	slices.SortStableFunc(list, func(a, b any) int { return cmp.Compare(place(a), place(b)) })
	for _, s := range list {
		if s := s.(map[string]any); s["sortOrder"] == nil {
			s["sortOrder"] = place(s)
		}
	}
}

const (
	exportPath = "/api/admin/features-batch/export"
	importPath = "/api/admin/features-batch/import"
)
