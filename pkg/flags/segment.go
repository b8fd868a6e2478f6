package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Segment is a list of constraints under a name, for strategies of many flags: a context that does not meet all of
// them does not meet the strategy.
type Segment struct {
	Version     int64
	UseCount    int64  // how often a strategy had begun to use it when it was loaded (see UseCount); not in lists
	ID          int64  // never used again
	Name        string // unique in the service
	Description *string
	Project     string // the id of the only project whose flags may use it; "" for all
	ProjectUID  string // that project itself: an id may be used again by another
	Constraints []Constraint
	CreatedAt   time.Time
	CreatedBy   string
}

// Key names the segment.
func (s *Segment) Key() Key { return SegmentKey(s.ID) }

func (s *Segment) version() int64 { return s.Version }

// Clone is a copy to change. Its constraints are replaced, never changed in place.
func (s *Segment) Clone() *Segment {
	c := *s
	return &c
}

// Check notes every fault of the segment. Its constraints are held to the rules of those of strategies, but that the
// limit of values is one for all of them together.
func (s *Segment) Check(limits Limits, p *Problems) {
	if fault := CheckSegmentName(s.Name); fault != "" {
		p.Add("/name", "%s", fault)
	}
	CheckLength("/description", textOf(s.Description), MaxDescription, p)
	limits.ConstraintValues = limits.SegmentValues
	checkConstraints(s.Constraints, limits, p)
	values := 0
	for _, c := range s.Constraints {
		values += len(c.Values)
	}
	if values > limits.SegmentValues {
		p.Add("/constraints", "must have at most %d values together, have %d", limits.SegmentValues, values)
	}
}

// maxSegmentName is the longest name of a segment, in characters.
const maxSegmentName = 255

// CheckSegmentName says what is wrong with the name of a segment; "" when nothing is. It is a text, as Unleash has it.
func CheckSegmentName(name string) string {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return "is required"
	case n > maxSegmentName:
		return fmt.Sprintf("must have at most %d characters, has %d", maxSegmentName, n)
	}
	return ""
}

// In puts the segment at the disposal of one project alone, or, with nil, of all.
func (s *Segment) SetProject(project *Project) {
	s.Project, s.ProjectUID = "", ""
	if project != nil {
		s.Project, s.ProjectUID = project.ID, project.UID
	}
}

// CheckProjectChange says whether the segment can be where In has put it. Conflict while another project uses it: by a flag, in an
// environment that exists, or by the default strategy of an environment.
func (s *Segment) CheckProjectChange(uses []FeatureUse, projects []*Project, registry *Environments) error {
	if s.Project == "" {
		return nil
	}
	var users []string
	for _, u := range uses {
		if !u.of(s) && slices.ContainsFunc(u.Strategies, func(st StrategyUse) bool { return st.UsesSegment(s.ID) && !u.gone(st, projects, registry) }) {
			users = append(users, u.user())
		}
	}
	for _, d := range s.defaults(projects, registry) {
		if d.ProjectUID != s.ProjectUID {
			users = append(users, d.user())
		}
	}
	if len(users) > 0 {
		return inUse(fmt.Sprintf("segment %d, %q, cannot become one of project %q alone: it", s.ID, s.Name, s.Project), users)
	}
	return nil
}

// Deletable says why the segment must stay, if it must. Conflict while a strategy uses it, of an archived flag too: the
// flag can be revived. So does the default strategy of an environment in a project, until it has another. A strategy that
// is gone does not: see FindOrphan.
func (s *Segment) CheckDeletable(uses []FeatureUse, projects []*Project, registry *Environments) error {
	var users []string
	for _, u := range uses {
		users = append(users, s.usersIn(u, projects, registry)...)
	}
	for _, d := range s.defaults(projects, registry) {
		users = append(users, d.user())
	}
	if len(users) > 0 {
		return inUse(fmt.Sprintf("segment %d, %q,", s.ID, s.Name), users)
	}
	return nil
}

// defaults are the default strategies that use the segment.
func (s *Segment) defaults(projects []*Project, registry *Environments) []DefaultStrategyUse {
	return FindDefaultStrategyUses(projects, registry, func(d Strategy) bool { return d.UsesSegment(s.ID) })
}

// of tells whether the flag is in the project that the segment belongs to.
func (u FeatureUse) of(s *Segment) bool {
	if u.ProjectUID == "" { // stored by a version that kept the id alone
		return u.Project == s.Project
	}
	return u.ProjectUID == s.ProjectUID
}

// FindOrphan finds a strategy that is gone and has the segment still, since flags keep what they had in an environment that
// was deleted. Such strategies are to be taken away before the segment is.
func (s *Segment) FindOrphan(uses []FeatureUse, projects []*Project, registry *Environments) (left FeatureStrategyUse, found bool) {
	for _, u := range uses {
		for _, st := range u.Strategies {
			if st.UsesSegment(s.ID) && u.gone(st, projects, registry) {
				return FeatureStrategyUse{st, u.Feature, u.Project}, true
			}
		}
	}
	return left, false
}

// usersIn names the flag if it uses the segment where that can be seen, and each environment where it cannot: one that
// the flag's project does not have at the moment.
func (s *Segment) usersIn(u FeatureUse, projects []*Project, registry *Environments) (users []string) {
	project := u.project(projects)
	for _, st := range u.Strategies {
		if !st.UsesSegment(s.ID) || u.gone(st, projects, registry) {
			continue
		}
		user := u.user()
		if !u.Archived && project != nil && !project.HasEnvironment(*registry.Find(st.Environment)) {
			user += fmt.Sprintf(" in environment %q, which project %q does not have at the moment (add it again to see the strategy)", st.Environment, u.Project)
		}
		if !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	return users
}

// user names the flag to whoever is told that it uses something.
func (u FeatureUse) user() string {
	if u.Archived {
		return "flag " + strconv.Quote(u.Feature) + ", which is archived"
	}
	return "flag " + strconv.Quote(u.Feature)
}

// SortSegments puts segments into the order of lists: by name.
func SortSegments(list []*Segment) {
	slices.SortFunc(list, func(a, b *Segment) int { return strings.Compare(a.Name, b.Name) })
}

// CheckSegmentIDs notes too many segments of one strategy, and one that is there twice.
func CheckSegmentIDs(path string, ids []int64, limits Limits, p *Problems) {
	if n := len(ids); n > limits.StrategySegments {
		p.Add(path, "must have at most %d segments, has %d", limits.StrategySegments, n)
		return
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			p.Add(path+"/"+strconv.Itoa(i), "segment %d is there twice", id)
		}
	}
}

// CheckSegments notes each of the strategy's segments that it cannot have: one that is not there, and one that another
// project has for itself. What it had before needs no check: it is there as long as it is in use.
// The paths of the faults are below at.
func (s Strategy) CheckSegments(at string, had []int64, project *Project, find func(id int64) *Segment, p *Problems) {
	for i, id := range s.Segments {
		if slices.Contains(had, id) {
			continue
		}
		path := at + "/" + strconv.Itoa(i)
		switch segment := find(id); {
		case segment == nil:
			p.Add(path, "there is no segment %d", id)
		case segment.ProjectUID != "" && segment.ProjectUID != project.UID:
			p.Add(path, "segment %d, %q, belongs to project %q and cannot be used in project %q", id, segment.Name, segment.Project, project.ID)
		}
	}
}

// AddedSegments are those of the strategy that it did not have before.
func (s Strategy) AddedSegments(had []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(s.Segments), func(id int64) bool { return slices.Contains(had, id) })
}

// Segments are those that any strategy of the flag uses, in every environment, those that are gone too, sorted.
func (f *Feature) Segments() []int64 {
	if f == nil {
		return nil
	}
	return f.Use().segments(func(StrategyUse) bool { return true })
}

// segments are those of some strategies, sorted.
func (u FeatureUse) segments(of func(StrategyUse) bool) (ids []int64) {
	for _, s := range u.Strategies {
		if of(s) {
			ids = append(ids, s.Segments...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// SameConstraints tells whether the segment's constraints are those.
func (s *Segment) SameConstraints(constraints []Constraint) bool {
	a, b := Strategy{Constraints: s.Constraints}, Strategy{Constraints: constraints}
	return sameStrategy(a, b)
}
