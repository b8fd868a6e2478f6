package admin_test

import (
	"fmt"
	"maps"
	"slices"

	"guidon/pkg/apitest"
)

// segmentBody returns the body of one of the three segments of a sequence. project is its owner; "" is all projects.
func segmentBody(id int64, project string) string {
	constraints := []constraintState{}
	if id == 2 {
		constraints = append(constraints, constraintState{ContextName: "userId", Operator: "IN", Values: []string{"1"}})
	}
	list := []map[string]any{}
	for _, c := range constraints {
		list = append(list, map[string]any{"contextName": c.ContextName, "operator": c.Operator, "values": c.Values})
	}
	var owner any
	if project != "" {
		owner = project
	}
	return body("name", fmt.Sprint("segment ", id), "project", owner, "constraints", list)
}

func (q *sequence) anySegment() int64 { return int64(q.choose("segment", "1", "2", "3")[0] - '0') }

// changeOwner changes the project of a segment.
func (q *sequence) changeOwner() {
	id, to := q.anySegment(), q.choose("owner", "", "default", "shop")
	_, there := q.world.segments[id]
	status := 204
	switch {
	case !there:
		status = 404
	case to != "" && q.world.usedBy(id, func(project string) bool { return project != to }):
		status = 409
	}
	q.do("PUT", fmt.Sprintf("%s/%d", apitest.Segments, id), segmentBody(id, to), status)
	if status == 204 {
		q.world.segments[id] = to
	}
}

// deleteSegment deletes a segment, except one that flags used in a deleted environment. Its deletion would also remove their
// strategies there, with events that the model does not have.
func (q *sequence) deleteSegment() {
	id := q.anySegment()
	_, there := q.world.segments[id]
	status := 204
	switch {
	case q.world.leftovers[id]:
		return
	case !there:
		status = 404
	case q.world.usedBy(id, func(string) bool { return true }):
		status = 409
	}
	q.do("DELETE", fmt.Sprintf("%s/%d", apitest.Segments, id), "", status)
	if status == 204 {
		delete(q.world.segments, id)
	}
}

// compareSegments compares the owners and uses of segments with the model.
func (q *sequence) compareSegments() {
	type row struct {
		ID                             int64
		Project                        string
		UsedInFeatures, UsedInProjects int
	}
	var got struct{ Segments []row }
	q.read(q.handler, "GET", apitest.Segments, "", &got)
	want := []row{}
	for _, id := range slices.Sorted(maps.Keys(q.world.segments)) {
		r, users := row{ID: id, Project: q.world.segments[id]}, map[string]bool{}
		for _, f := range q.world.flags {
			if !f.Archived && q.world.has(f, id) {
				r.UsedInFeatures++
				users[f.Project] = true
			}
		}
		for project := range q.world.projects {
			if q.world.inDefaultStrategy(project, id) {
				users[project] = true
			}
		}
		r.UsedInProjects = len(users)
		want = append(want, r)
	}
	q.same("the segments", want, got.Segments)
}

// usable reports whether strategies of a project can use segments.
func (w *world) usable(project string, segments []int64) bool {
	return !slices.ContainsFunc(segments, func(id int64) bool {
		owner, there := w.segments[id]
		return !there || owner != "" && owner != project
	})
}

// usedBy reports whether a segment is used in one of the projects that in selects.
func (w *world) usedBy(id int64, in func(project string) bool) bool {
	for _, f := range w.flags {
		if in(f.Project) && w.has(f, id) {
			return true
		}
	}
	for project := range w.projects {
		if in(project) && w.inDefaultStrategy(project, id) {
			return true
		}
	}
	return false
}

// has reports whether a flag, active or archived, uses a segment in an existing environment.
func (w *world) has(f *modelFlag, id int64) bool {
	for environment := range f.in {
		if slices.ContainsFunc(w.strategies(f, environment), func(s strategyState) bool { return slices.Contains(s.Segments, id) }) {
			return true
		}
	}
	return false
}

// strategies returns the strategies of a flag in an existing environment, even if its project does not have it.
func (w *world) strategies(f *modelFlag, environment string) []strategyState {
	if s := f.in[environment]; s != nil && s.environment == w.environments[environment] {
		return s.strategies
	}
	return nil
}

// inDefaultStrategy reports whether a default strategy of a project uses a segment.
func (w *world) inDefaultStrategy(project string, id int64) bool {
	for environment := range w.projects[project] {
		if a := w.attached(project, environment); a != nil && a.strategy != nil && slices.Contains(a.strategy.Segments, id) {
			return true
		}
	}
	return false
}

// noteLeftovers records the segments that flags use in an environment, before it is deleted.
func (w *world) noteLeftovers(environment string) {
	for _, f := range w.flags {
		for _, s := range w.strategies(f, environment) {
			for _, id := range s.Segments {
				w.leftovers[id] = true
			}
		}
	}
}
