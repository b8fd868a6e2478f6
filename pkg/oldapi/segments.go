package oldapi

import (
	"slices"
	"strconv"

	"guidon/pkg/flags"
)

// segmentsOfStrategy is where the segments of a strategy are. It gives way to another route, see Mux.
const segmentsOfStrategy = "/api/admin/segments/strategies/{strategyId}"

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

// segmentNamed is the segment of that id, where it was loaded by that; nil without one.
func (c *call) segmentNamed(id int64) *flags.Segment {
	return flags.Find[*flags.Segment](c.more, flags.SegmentKey(id))
}
