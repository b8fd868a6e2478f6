package oldapi

import (
	"net/http"
	"slices"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// segmentsOfStrategy is where the segments of a strategy are. It gives way to another route, see Mux.
const segmentsOfStrategy = "/api/admin/segments/strategies/{strategyId}"

// segments are the operations on segments. Who may change one depends on whether it is a project's own: it takes the
// permission of the whole service, or that of the project (see authorizeSegment).
func segments() []Operation {
	const (
		all        = "/api/admin/segments"
		one        = all + "/{id}"
		strategies = all + "/strategies"
	)
	return []Operation{
		{"GET " + all, flags.Read, theEnvironments, does(listSegments).listing(flags.EntitySegment, flags.EntityUse, flags.EntityProject).answers(200, segmentRows{})},
		{"POST " + all, flags.Read, 0, reviewing(loadingFor(takes(createSegment), segmentProject), mayCreateSegment).listing(flags.EntitySegment).allocating(flags.EntitySegment).
			overProjects(flags.CreateSegment, flags.UpdateProjectSegment).answers(201, segmentView{})},
		{"POST " + all + "/validate", flags.Read, 0, takes(validateSegment).listing(flags.EntitySegment).answers(204)},
		{"GET " + segmentsOfStrategy, flags.Read, 0, does(listStrategySegments).listing(flags.EntityUse).
			loading(strategySegmentKeys).answers(200, segmentList{})},
		{"POST " + strategies, flags.Read, theEnvironments, loadingFor(takes(setStrategySegments), setSegmentsKeys).
			within(func(in any) string { return in.(strategySegmentsBody).Project }).
			overProjects(flags.UpdateFeatureStrategy, flags.UpdateFeatureStrategy).answers(201, strategySegmentsView{})},
		{"GET " + one, flags.Read, theSegment, does(readSegment).answers(200, segmentView{})},
		{"PUT " + one, flags.Read, theSegment | theEnvironments, loadingFor(takes(updateSegment), newOwnerKeys).listing(flags.EntityUse, flags.EntityProject, flags.EntitySegment).
			overProjects(flags.UpdateSegment, flags.UpdateProjectSegment).answers(204)},
		{"DELETE " + one, flags.Read, theSegment | theEnvironments, does(deleteSegment).listing(flags.EntityUse, flags.EntityProject).loading(leftoverKeys).
			overProjects(flags.DeleteSegment, flags.UpdateProjectSegment).answers(204)},
		{"GET " + one + "/strategies", flags.Read, theSegment | theEnvironments,
			does(listSegmentStrategies).listing(flags.EntityUse, flags.EntityProject).answers(200, segmentStrategies{})},
	}
}

// overProjects has whoever holds a permission neither in the whole service nor, as another one, in any project refused,
// before the body is read.
func (d decider) overProjects(everywhere, inProject flags.Permission) decider {
	d.knowsMine = true
	return d.allowing(func(c *call) error {
		if c.caller.HasPermission(everywhere, nil, "") || c.caller.HasPermissionInAny(inProject, c.mine) {
			return nil
		}
		return c.caller.Authorize(everywhere, nil, "")
	})
}

// authorizeSegment checks that the caller may do this with a segment of the project that is so; "" is of none.
func (c *call) authorizeSegment(p flags.Permission, of func(*flags.Project) bool) error {
	for _, project := range append(slices.Clip(c.mine), c.project) {
		if project != nil && of(project) && c.caller.HasPermission(flags.UpdateProjectSegment, project, "") {
			return nil
		}
	}
	return c.caller.Authorize(p, nil, "")
}

// authorizeProject is authorizeSegment for one that is to be of the project that the body names.
func (c *call) authorizeProject(p flags.Permission, in segmentBody) error {
	return c.authorizeSegment(p, func(project *flags.Project) bool { return in.Project.Value != nil && *in.Project.Value == project.ID })
}

// authorizeThis is authorizeSegment for the segment that the path names.
func (c *call) authorizeThis(p flags.Permission) error {
	return c.authorizeSegment(p, func(project *flags.Project) bool { return c.segment.ProjectUID == project.UID })
}

// mayCreateSegment refuses whoever may not, before an id is taken for it.
func mayCreateSegment(c *call, in segmentBody) error {
	return c.authorizeProject(flags.CreateSegment, in)
}

// segments are all that there are, where they are listed, by name.
func (c *call) segments() []*flags.Segment {
	list := each(c.lists[flags.EntitySegment], func(a flags.Aggregate) *flags.Segment { return a.(*flags.Segment) })
	flags.SortSegments(list)
	return list
}

// segmentsByName are the same by their names, in no order.
func (c *call) segmentsByName() map[string]*flags.Segment {
	named := make(map[string]*flags.Segment, len(c.lists[flags.EntitySegment]))
	for _, a := range c.lists[flags.EntitySegment] {
		s := a.(*flags.Segment)
		named[s.Name] = s
	}
	return named
}

// segmentByName is the one of that name among them; nil for none.
func (c *call) segmentByName(name string) *flags.Segment {
	for _, a := range c.lists[flags.EntitySegment] {
		if s := a.(*flags.Segment); s.Name == name {
			return s
		}
	}
	return nil
}

func listSegments(c *call) (decision, error) {
	uses, projects := c.uses(), c.projects()
	return ok(segmentRows{each(pageOf(c.query, c.segments()), func(s *flags.Segment) segmentRow {
		row := segmentRow{segmentView: segmentViewOf(s)}
		row.UsedInFeatures, row.UsedInProjects = flags.CountFeaturesAndProjects(flags.FindStrategyUses(uses, c.registry, usingSegment(s.ID)),
			flags.FindDefaultStrategyUses(projects, c.registry, havingSegment(s.ID)))
		return row
	})})
}

func usingSegment(id int64) func(flags.StrategyUse) bool {
	return func(s flags.StrategyUse) bool { return s.UsesSegment(id) }
}

func havingSegment(id int64) func(flags.Strategy) bool {
	return func(s flags.Strategy) bool { return s.UsesSegment(id) }
}

func readSegment(c *call) (decision, error) { return ok(segmentViewOf(c.segment)) }

func listSegmentStrategies(c *call) (decision, error) {
	using := flags.FindStrategyUses(c.uses(), c.registry, usingSegment(c.segment.ID))
	defaults := flags.FindDefaultStrategyUses(c.projects(), c.registry, havingSegment(c.segment.ID))
	return ok(segmentStrategies{each(pageOf(c.query, using), usingStrategyOf), each(pageOf(c.query, defaults), usingDefaultOf), []usingStrategy{}})
}

// segmentProject names the project that the segment is to be of.
func segmentProject(_ *call, in segmentBody) []flags.Key {
	if in.Project.Value == nil {
		return nil
	}
	return projectKeys([]string{*in.Project.Value})
}

// newOwnerKeys names the project that the segment is to belong to and, since it must not be in use elsewhere, the
// environments again: those that are there once its uses were listed.
func newOwnerKeys(c *call, in segmentBody) []flags.Key {
	if in.Project.Value == nil {
		return nil
	}
	return append(segmentProject(c, in), flags.EnvironmentsKey())
}

func createSegment(c *call, in segmentBody) (decision, error) {
	s := &flags.Segment{ID: c.id, CreatedAt: c.now, CreatedBy: c.caller.Name}
	if err := c.putSegment(s, in, flags.CreateSegment); err != nil {
		return decision{}, err
	}
	if err := flags.CheckListSize(c.lists[flags.EntitySegment], nil, s); err != nil {
		return decision{}, err
	}
	d, err := c.changes(nil, s, events.SegmentCreated(s), http.StatusCreated, segmentViewOf(s))
	return created(d, "/api/admin/segments", strconv.FormatInt(s.ID, 10)), err
}

func updateSegment(c *call, in segmentBody) (decision, error) {
	if err := c.authorizeThis(flags.UpdateSegment); err != nil {
		return decision{}, err
	}
	s := c.segment.Clone()
	if err := c.putSegment(s, in, flags.UpdateSegment); err != nil {
		return decision{}, err
	}
	if err := flags.CheckListSize(c.lists[flags.EntitySegment], c.segment, s); err != nil {
		return decision{}, err
	}
	if err := s.CheckProjectChange(c.uses(), c.projects(), c.latestRegistry()); err != nil {
		return decision{}, err
	}
	return c.changes(c.segment, s, events.SegmentUpdated(c.segment, s), http.StatusNoContent, nil)
}

// putSegment puts what the body says into a segment, which may make it a project's own.
func (c *call) putSegment(s *flags.Segment, in segmentBody, p flags.Permission) error {
	if err := c.authorizeProject(p, in); err != nil {
		return err
	}
	in.over(s)
	s.SetProject(nil)
	if in.Project.Value == nil {
		return nil
	}
	owner := c.projectNamed(*in.Project.Value)
	if owner == nil {
		return flags.Problems{{Path: "/project", Message: "there is no project " + strconv.Quote(*in.Project.Value)}}.Err()
	}
	s.SetProject(owner)
	return nil
}

// validateSegment says whether a name is free.
func validateSegment(c *call, in segmentNameBody) (decision, error) {
	if c.segmentByName(in.Name) != nil {
		return decision{}, flags.Errorf(flags.NameExists, "a segment named %q exists already", in.Name)
	}
	return decision{status: http.StatusNoContent}, nil
}

// strategySegmentKeys names the segments of the strategy that the path names, whatever flag it is of.
func strategySegmentKeys(c *call) []flags.Key {
	for _, u := range c.uses() {
		for _, s := range u.Strategies {
			if s.ID == c.param(strategyParam) {
				return each(s.Segments, flags.SegmentKey)
			}
		}
	}
	return nil
}

// listStrategySegments lists a strategy's segments; none for one that is not there, as Unleash does.
func listStrategySegments(c *call) (decision, error) {
	list := make([]*flags.Segment, 0, len(c.more))
	for key := range c.more {
		list = append(list, flags.Find[*flags.Segment](c.more, key))
	}
	flags.SortSegments(list)
	return ok(segmentList{each(list, segmentViewOf)})
}

// authorize tells whether the caller may set the segments of strategies of the project and environment.
func (b strategySegmentsBody) authorize(c *call) error {
	return c.caller.Authorize(flags.UpdateFeatureStrategy, c.project, b.Environment)
}

// setSegmentsKeys names the segments, and every flag that the strategy can be of: no list says which flag has a strategy.
// For whoever will be refused, nothing.
func setSegmentsKeys(c *call, in strategySegmentsBody) []flags.Key {
	if in.authorize(c) != nil {
		return nil
	}
	keys := each(in.Segments.Value, flags.SegmentKey)
	for _, s := range c.summaries {
		if s.Environments[in.Environment].Strategies > 0 {
			keys = append(keys, flags.FeatureKey(s.Name))
		}
	}
	return keys
}

// setStrategySegments gives a strategy, wherever it is in the project's environment, other segments.
func setStrategySegments(c *call, in strategySegmentsBody) (decision, error) {
	if err := in.authorize(c); err != nil {
		return decision{}, err
	}
	if c.project == nil {
		return decision{}, flags.Problems{{Path: "/projectId", Message: "there is no project " + strconv.Quote(in.Project)}}.Err()
	}
	if err := c.findEnvironment(in.Environment); err != nil {
		return decision{}, flags.Problems{{Path: "/environmentId", Message: "project " + strconv.Quote(in.Project) + " has no environment " + strconv.Quote(in.Environment)}}.Err()
	}
	before, found := c.seekStrategy(in.Strategy)
	if !found {
		return decision{}, flags.Problems{{Path: "/strategyId", Message: "no flag of the project has a strategy " + strconv.Quote(in.Strategy) + " in this environment"}}.Err()
	}
	after := before
	after.Segments = in.Segments.Value
	var problems flags.Problems
	after.CheckSegments("/segmentIds", before.Segments, c.project, c.segmentNamed, &problems)
	if err := problems.Err(); err != nil {
		return decision{}, err
	}
	f := c.feature.Clone()
	if err := f.ReplaceStrategy(c.environment, after); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.StrategyUpdated(c.feature, f, c.environment, after.ID), http.StatusCreated,
		strategySegmentsView{in.Project, in.Strategy, in.Environment, after.Segments})
}

// seekStrategy finds a strategy of the environment, and its flag, among what was loaded.
func (c *call) seekStrategy(id string) (flags.Strategy, bool) {
	for _, a := range c.more {
		if f, isFlag := a.(*flags.Feature); isFlag && !f.Archived && f.ProjectUID == c.project.UID {
			if s, err := f.Strategy(c.environment, id); err == nil {
				c.feature = f
				return s, true
			}
		}
	}
	return flags.Strategy{}, false
}

// segmentNamed is the segment of that id, where it was loaded by that; nil without one.
func (c *call) segmentNamed(id int64) *flags.Segment {
	return flags.Find[*flags.Segment](c.more, flags.SegmentKey(id))
}
