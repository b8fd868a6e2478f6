package migrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"guidon/internal/adminapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/review"
)

// A migration is one run, with the content of both sides.
type migration struct {
	options
	print          *printer
	source, target *instance
	failed         int                // how many objects besides flags could not be copied
	refused        map[string]string  // why the target refused a flag, by the flag's name
	places         map[string]float64 // positions of the source's strategies, by id: exports of Unleash are unordered
}

// prepare copies what flags refer to, in the order of dependencies, and keeps m.target up to date.
func (m *migration) prepare(ctx context.Context) error {
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
	var list struct{ Segments jsonbody.Items[segment] }
	err := get(ctx, m.to, segmentsPath, &list) // the new ones have ids now
	m.target.segments = readable(m.target, m.print, "segment", list.Segments)
	return err
}

// changeRequests prints where the source has change requests on, and its open ones. They are not copied: an approval is for one server.
func (m *migration) changeRequests(ctx context.Context) error {
	for _, p := range m.source.projects {
		var on []struct {
			Environment string
			Enabled     bool `json:"changeRequestEnabled"`
			Approvals   int  `json:"requiredApprovals"`
		}
		var list []struct {
			ID                 int64
			Environment, Title string
			State              review.State
		}
		path := projectsPath + "/" + url.PathEscape(p.ID) + "/change-requests"
		for path, into := range map[string]any{path + "/config": &on, path: &list} {
			if err := m.from.Get(ctx, path, into); err != nil && !adminapi.Refused(err, http.StatusForbidden, http.StatusNotFound) {
				return err
			}
		}
		for _, c := range on {
			if c.Enabled {
				m.print.line("not copied: change requests are on in %s of project %s (requiredApprovals: %d)", c.Environment, p.ID, c.Approvals)
			}
		}
		for _, r := range list {
			if r.State.Open() {
				m.print.line("not copied: change request %d of project %s for %s (%s): %q", r.ID, p.ID, r.Environment, r.State, r.Title)
			}
		}
	}
	return nil
}

// write creates or updates one object on the target; in a dry run it only prints. An object that the target refuses is
// printed and counted, and the migration continues: an open-source Unleash cannot create environments and projects.
func (m *migration) write(ctx context.Context, what, method, path string, body any) (written bool, err error) {
	if m.dryRun {
		m.print.would(method == http.MethodPost, what)
		return true, nil
	}
	if err := m.to.Call(ctx, method, path, body, nil); err != nil {
		if adminapi.Refused(err, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusBadRequest, http.StatusConflict) {
			m.print.notCopied(what, err)
			m.failed++
			return false, nil
		}
		return false, err
	}
	m.print.copied(what)
	return true, nil
}

func (m *migration) environments(ctx context.Context) error {
	existing := m.target.environmentNames()
	for _, e := range m.source.environments {
		if existing[e.Name] || !m.used(e.Name) {
			continue
		}
		written, err := m.write(ctx, "environment "+e.Name, http.MethodPost, environmentsPath, map[string]any{"name": e.Name, "type": e.Type, "enabled": e.Enabled})
		if err != nil {
			return err
		}
		if written {
			m.target.environments = append(m.target.environments, e)
		}
	}
	return nil
}

// used reports whether a project of the source uses an environment. Other environments are not copied.
func (m *migration) used(environment string) bool {
	return slices.ContainsFunc(m.source.projects, func(p project) bool { return slices.Contains(p.environments, environment) })
}

func (m *migration) projects(ctx context.Context) error {
	for _, p := range m.source.projects {
		existing := m.target.project(p.ID)
		if existing == nil {
			body := map[string]any{"id": p.ID, "name": p.Name, "description": p.Description, "environments": p.environments}
			if p.DefaultStickiness != "" {
				body["defaultStickiness"] = p.DefaultStickiness
			}
			written, err := m.write(ctx, "project "+p.ID, http.MethodPost, projectsPath, body)
			if err != nil {
				return err
			}
			if written {
				m.target.projects = append(m.target.projects, project{ID: p.ID, Name: p.Name, environments: p.environments})
			}
			continue
		}
		for _, e := range p.environments {
			if slices.Contains(existing.environments, e) {
				continue
			}
			written, err := m.write(ctx, "environment "+e+" in project "+p.ID, http.MethodPost,
				projectsPath+"/"+url.PathEscape(p.ID)+"/environments", map[string]any{"environment": e})
			if err != nil {
				return err
			}
			if written {
				existing.environments = append(existing.environments, e)
			}
		}
	}
	return nil
}

func (m *migration) tagTypes(ctx context.Context) error {
	return copyAll(ctx, m, "tag type ", m.source.tagTypes, m.target.tagTypes, kind[tagType]{
		name: func(t tagType) string { return t.Name }, normal: tagType.normal, list: tagTypesPath,
		one: func(t tagType) string { return tagTypesPath + "/" + url.PathEscape(t.Name) },
	})
}

func (m *migration) contextFields(ctx context.Context) error {
	return copyAll(ctx, m, "context field ", m.source.contextFields, m.target.contextFields, kind[contextField]{
		name: func(f contextField) string { return f.Name }, normal: contextField.normal, list: contextPath,
		one: func(f contextField) string { return contextPath + "/" + url.PathEscape(f.Name) },
	})
}

func (m *migration) segments(ctx context.Context) error {
	ids := map[string]int64{}
	for _, s := range m.target.segments {
		ids[s.Name] = s.ID
	}
	return copyAll(ctx, m, "segment ", m.source.segments, m.target.segments, kind[segment]{
		name: func(s segment) string { return s.Name }, normal: segment.normal, list: segmentsPath,
		one: func(s segment) string { return fmt.Sprintf("%s/%d", segmentsPath, ids[s.Name]) },
	})
}

func (m *migration) strategyTypes(ctx context.Context) error {
	// A type that is built-in on one side is custom on the other in some versions. It is created if missing, never updated.
	toCopy := slices.DeleteFunc(slices.Clone(m.source.strategyTypes), func(s strategyType) bool {
		i := slices.IndexFunc(m.target.strategyTypes, func(t strategyType) bool { return t.Name == s.Name })
		return i >= 0 && (!s.Editable || !m.target.strategyTypes[i].Editable)
	})
	return copyAll(ctx, m, "strategy type ", toCopy, m.target.strategyTypes, kind[strategyType]{
		name: func(t strategyType) string { return t.Name }, normal: strategyType.normal, list: strategiesPath,
		one: func(t strategyType) string { return strategiesPath + "/" + url.PathEscape(t.Name) },
	})
}

// A kind of object that both sides identify by its name.
type kind[T any] struct {
	name   func(T) string
	normal func(T) T // the form that is compared and written
	list   string    // the path to create one at
	one    func(T) string
}

// copyAll creates on the target what only the source has, and updates what differs.
func copyAll[T any](ctx context.Context, m *migration, what string, source, target []T, k kind[T]) error {
	for _, s := range source {
		s = k.normal(s)
		method, path := http.MethodPost, k.list
		if i := slices.IndexFunc(target, func(t T) bool { return k.name(t) == k.name(s) }); i >= 0 {
			if len(differences(k.normal(target[i]), s)) == 0 {
				continue
			}
			method, path = http.MethodPut, k.one(s)
		}
		if _, err := m.write(ctx, what+k.name(s), method, path, s); err != nil {
			return err
		}
	}
	return nil
}

// flagsPerImport is how many flags one import has.
const flagsPerImport = 100

// flags copies every flag that differs, by an export from the source and an import into the target.
func (m *migration) flags(ctx context.Context) error {
	m.refused, m.places = map[string]string{}, map[string]float64{}
	for _, p := range m.source.projects {
		inTarget := m.target.project(p.ID)
		if inTarget == nil {
			continue // projects has printed why
		}
		names, err := m.changed(ctx, p, *inTarget)
		if err != nil {
			return err
		}
		if m.dryRun {
			for _, name := range names {
				_, exists := slices.BinarySearch(inTarget.flags, name)
				m.print.would(!exists, "flag "+name)
			}
			m.print.line("would copy %d of %d flags of project %s", len(names), len(p.flags), p.ID)
			continue
		}
		if err := m.copyFlags(ctx, p, *inTarget, names); err != nil {
			return err
		}
	}
	return nil
}

// changed lists the flags of a project that are missing in the target or differ, parents before their children.
func (m *migration) changed(ctx context.Context, p, inTarget project) ([]string, error) {
	var roots, children []string
	has := func(name string) bool { _, found := slices.BinarySearch(inTarget.flags, name); return found }
	err := m.readBoth(ctx, "reading project "+p.ID, p, inTarget, has, func(name string, source, target *feature, odd error) {
		if source != nil {
			maps.Copy(m.places, source.places)
		}
		switch {
		case odd != nil:
			m.print.notCopied("flag "+name, odd)
			return
		case source == nil || target != nil && len(differences(target, source)) == 0:
		case len(source.Parents) > 0:
			children = append(children, name)
		default:
			roots = append(roots, name)
		}
		if m.dryRun && target != nil {
			m.print.differences(name, differences(target, source))
		}
	})
	slices.Sort(roots)
	slices.Sort(children)
	return append(roots, children...), err
}

// copyFlags copies flags of a project, one environment at a time: the first import creates the flag with its tags and
// dependencies, the others add what it has in their environment.
func (m *migration) copyFlags(ctx context.Context, p, inTarget project, names []string) error {
	done := m.print.bar("copying project "+p.ID, len(names))
	defer done.finish()
	for chunk := range slices.Chunk(names, flagsPerImport) {
		for _, environment := range p.environments {
			if !slices.Contains(inTarget.environments, environment) {
				continue
			}
			if err := m.copyIn(ctx, p.ID, environment, chunk); err != nil {
				return err
			}
		}
		done.add(len(chunk))
	}
	return nil
}

// copyIn copies flags of one project in one environment. Unleash refuses a whole import when it refuses one of the flags:
// then each flag is imported alone, and the refusals are kept for the report.
func (m *migration) copyIn(ctx context.Context, project, environment string, names []string) error {
	var data map[string]any // imported unchanged except for the order of strategies
	if err := m.from.Call(ctx, http.MethodPost, exportPath, map[string]any{"environment": environment, "features": names}, &data); err != nil {
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
	err := m.to.Call(ctx, http.MethodPost, importPath, map[string]any{"project": project, "environment": environment, "data": data}, &report)
	switch {
	case adminapi.Refused(err, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge) && len(names) > 1:
		for _, name := range names {
			if err := m.copyIn(ctx, project, environment, []string{name}); err != nil {
				return err
			}
		}
		return nil
	case adminapi.Refused(err, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge):
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

// order sorts the strategies of an export, and adds their sortOrder where the export has none.
func (m *migration) order(data map[string]any) {
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
