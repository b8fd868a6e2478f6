package admin_test

import (
	"fmt"
	"maps"
	"slices"
)

// segmentBody is one of the three segments of a sequence, as it is sent. project is the one that it belongs to; "" is all.
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

func (q *sequence) anySegment() int64 { return int64(q.one("segment", "1", "2", "3")[0] - '0') }

// giveSegment gives a segment to a project, or to all.
func (q *sequence) giveSegment() {
	id, to := q.anySegment(), q.one("owner", "", "default", "shop")
	_, there := q.world.segments[id]
	status := 204
	switch {
	case !there:
		status = 404
	case to != "" && q.world.usedBy(id, func(project string) bool { return project != to }):
		status = 409
	}
	q.do("PUT", fmt.Sprintf("%s/%d", allSegments, id), segmentBody(id, to), status)
	if status == 204 {
		q.world.segments[id] = to
	}
}

// deleteSegment deletes a segment that flags did not have in an environment that was deleted: else each of their
// strategies there would go with an event, of which the model knows nothing.
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
	q.do("DELETE", fmt.Sprintf("%s/%d", allSegments, id), "", status)
	if status == 204 {
		delete(q.world.segments, id)
	}
}

// compareSegments reads whose each segment is, and who uses it.
func (q *sequence) compareSegments() {
	type row struct {
		ID                             int64
		Project                        string
		UsedInFeatures, UsedInProjects int
	}
	var got struct{ Segments []row }
	q.read(q.handler, "GET", allSegments, "", &got)
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
			if q.world.standard(project, id) {
				users[project] = true
			}
		}
		r.UsedInProjects = len(users)
		want = append(want, r)
	}
	q.same("the segments", want, got.Segments)
}

// usable tells whether strategies of a project can get segments.
func (w *world) usable(project string, segments []int64) bool {
	return !slices.ContainsFunc(segments, func(id int64) bool {
		owner, there := w.segments[id]
		return !there || owner != "" && owner != project
	})
}

// usedBy tells whether a segment is used in such a project.
func (w *world) usedBy(id int64, in func(project string) bool) bool {
	for _, f := range w.flags {
		if in(f.Project) && w.has(f, id) {
			return true
		}
	}
	for project := range w.projects {
		if in(project) && w.standard(project, id) {
			return true
		}
	}
	return false
}

// has tells whether a flag, archived or not, has a segment in an environment that exists.
func (w *world) has(f *modelFlag, id int64) bool {
	for environment := range f.in {
		if slices.ContainsFunc(w.strategies(f, environment), func(s strategyState) bool { return slices.Contains(s.Segments, id) }) {
			return true
		}
	}
	return false
}

// strategies are those that a flag has in an environment that exists, whether its project has it or not.
func (w *world) strategies(f *modelFlag, environment string) []strategyState {
	if s := f.in[environment]; s != nil && s.environment == w.environments[environment] {
		return s.strategies
	}
	return nil
}

// standard tells whether a default strategy of a project has a segment.
func (w *world) standard(project string, id int64) bool {
	for environment := range w.projects[project] {
		if a := w.attached(project, environment); a != nil && a.strategy != nil && slices.Contains(a.strategy.Segments, id) {
			return true
		}
	}
	return false
}

// leave notes what segments flags have in an environment that is about to be deleted.
func (w *world) leave(environment string) {
	for _, f := range w.flags {
		for _, s := range w.strategies(f, environment) {
			for _, id := range s.Segments {
				w.leftovers[id] = true
			}
		}
	}
}
