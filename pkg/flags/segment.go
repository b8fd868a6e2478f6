package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Segment is a named list of constraints that strategies of many flags can use. A strategy only matches if all
// constraints of its segments are satisfied.
type Segment struct {
	Version     int64        `json:"version,omitzero"`
	UseCount    int64        `json:"-"`    // value of the segment's UseCount when it was loaded; not set in lists
	ID          int64        `json:"id"`   // never used again
	Name        string       `json:"name"` // unique in the service
	Description *string      `json:"description,omitzero"`
	Project     string       `json:"project,omitzero"`    // ID of the only project whose flags may use it; "" for all projects
	ProjectUID  string       `json:"projectUid,omitzero"` // UID of that project: the ID may be reused by a later project
	Constraints []Constraint `json:"constraints,omitempty"`
	CreatedAt   time.Time    `json:"createdAt"`
	CreatedBy   string       `json:"createdBy"`
}

// Key returns the key of the segment.
func (s *Segment) Key() Key { return SegmentKey(s.ID) }

// StoredVersion returns the version at which the segment was loaded. Uses by strategies do not change it: UseCount counts those.
func (s *Segment) StoredVersion() int64 { return s.Version }

// Clone returns a copy that can be changed. Its constraints are replaced, never changed in place.
func (s *Segment) Clone() *Segment {
	c := *s
	return &c
}

// Check adds all problems of the segment. Its constraints follow the rules of those of strategies, except that
// the limit of values applies to all of them together.
func (s *Segment) Check(limits Limits, p *Problems) {
	if fault := CheckSegmentName(s.Name); fault != "" {
		p.Add("/name", "%s", fault)
	}
	CheckLength("/description", valueOrEmpty(s.Description), MaxDescription, p)
	limits.ConstraintValues = limits.SegmentValues
	checkConstraints(s.Constraints, limits, p)
	values := 0
	for _, c := range s.Constraints {
		values += len(c.Values)
	}
	if values > limits.SegmentValues {
		p.Add("/constraints", "must have at most %d values in total, but has %d", limits.SegmentValues, values)
	}
}

// maxSegmentName is the maximum length of a segment's name in characters.
const maxSegmentName = 255

// CheckSegmentName checks the name of a segment, and returns the problem, or "". As in Unleash, any text is
// allowed, but without control characters.
func CheckSegmentName(name string) string {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return "is required"
	case n > maxSegmentName:
		return fmt.Sprintf("must have at most %d characters, but has %d", maxSegmentName, n)
	case hasControl(name):
		return noControl
	}
	return ""
}

// SetProject makes the segment usable in one project only, or in all if project is nil.
func (s *Segment) SetProject(project *Project) {
	s.Project, s.ProjectUID = "", ""
	if project != nil {
		s.Project, s.ProjectUID = project.ID, project.UID
	}
}

// CheckProjectChange checks the segment after SetProject. It returns Conflict if another project uses the
// segment, by a flag in an existing environment or by a default strategy.
func (s *Segment) CheckProjectChange(uses []FeatureUse, projects []*Project, registry *Environments) error {
	if s.Project == "" {
		return nil
	}
	var users []string
	for _, u := range uses {
		if !u.inProjectOf(s) && slices.ContainsFunc(u.Strategies, func(st StrategyUse) bool { return st.UsesSegment(s.ID) && !u.unreachable(st, projects, registry) }) {
			users = append(users, u.label())
		}
	}
	for _, d := range s.defaultStrategyUses(projects, registry) {
		if d.ProjectUID != s.ProjectUID {
			users = append(users, d.label())
		}
	}
	if len(users) > 0 {
		return inUseError(fmt.Sprintf("segment %d (%q) cannot be restricted to project %q: it is", s.ID, s.Name, s.Project), users)
	}
	return nil
}

// CheckDeletable returns Conflict while a strategy uses the segment: of an active or archived flag, because an
// archived one can be revived, or a default strategy. Unreachable strategies do not count, see FindOrphan.
func (s *Segment) CheckDeletable(uses []FeatureUse, projects []*Project, registry *Environments) error {
	var users []string
	for _, u := range uses {
		users = append(users, s.featureLabels(u, projects, registry)...)
	}
	for _, d := range s.defaultStrategyUses(projects, registry) {
		users = append(users, d.label())
	}
	if len(users) > 0 {
		return inUseError(fmt.Sprintf("segment %d (%q) is", s.ID, s.Name), users)
	}
	return nil
}

// defaultStrategyUses returns the default strategies that use the segment.
func (s *Segment) defaultStrategyUses(projects []*Project, registry *Environments) []DefaultStrategyUse {
	return FindDefaultStrategyUses(projects, registry, func(d Strategy) bool { return d.UsesSegment(s.ID) })
}

// inProjectOf reports whether the flag is in the project that the segment belongs to.
func (u FeatureUse) inProjectOf(s *Segment) bool { return u.ProjectUID == s.ProjectUID }

// FindOrphan finds an unreachable strategy that still uses the segment: flags keep their strategies in deleted
// environments. All of these must be removed before the segment is deleted.
func (s *Segment) FindOrphan(uses []FeatureUse, projects []*Project, registry *Environments) (left FeatureStrategyUse, found bool) {
	for _, u := range uses {
		for _, st := range u.Strategies {
			if st.UsesSegment(s.ID) && u.unreachable(st, projects, registry) {
				return FeatureStrategyUse{st, u.Feature, u.Project}, true
			}
		}
	}
	return left, false
}

// featureLabels names the flag in a message if it uses the segment, and also each environment where the strategy
// is hidden because the flag's project does not have the environment at present.
func (s *Segment) featureLabels(u FeatureUse, projects []*Project, registry *Environments) (users []string) {
	project := u.project(projects)
	for _, st := range u.Strategies {
		if !st.UsesSegment(s.ID) || u.unreachable(st, projects, registry) {
			continue
		}
		user := u.label()
		if !u.Archived && project != nil && !project.HasEnvironment(*registry.Find(st.Environment)) {
			user += fmt.Sprintf(" in environment %q, which project %q does not have at present (add it again to see the strategy)", st.Environment, u.Project)
		}
		if !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	return users
}

// label names the flag in a message.
func (u FeatureUse) label() string {
	if u.Archived {
		return "archived flag " + strconv.Quote(u.Feature)
	}
	return "flag " + strconv.Quote(u.Feature)
}

// SortSegments sorts segments by name, the order of lists.
func SortSegments(list []*Segment) {
	slices.SortFunc(list, func(a, b *Segment) int { return strings.Compare(a.Name, b.Name) })
}

// CheckSegmentIDs adds a problem if a strategy has too many segments or lists one twice.
func CheckSegmentIDs(path string, ids []int64, limits Limits, p *Problems) {
	if n := len(ids); n > limits.StrategySegments {
		p.Add(path, "must have at most %d segments, but has %d", limits.StrategySegments, n)
		return
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			p.Add(path+"/"+strconv.Itoa(i), "segment %d is listed twice", id)
		}
	}
}

// CheckSegments adds a problem, at a path below at, for each segment that does not exist or belongs to another
// project. Segments in had, which the strategy had before, are not checked: a segment in use always exists.
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
			p.Add(path, "segment %d (%q) belongs to project %q and cannot be used in project %q", id, segment.Name, segment.Project, project.ID)
		}
	}
}

// AddedSegments returns the segments of the strategy that are not in had.
func (s Strategy) AddedSegments(had []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(s.Segments), func(id int64) bool { return slices.Contains(had, id) })
}

// Segments returns the IDs of the segments that the flag's strategies use in any environment, including deleted
// ones, sorted.
func (f *Feature) Segments() []int64 {
	if f == nil {
		return nil
	}
	return f.Use().segmentsWhere(func(StrategyUse) bool { return true })
}

// segmentsWhere returns the IDs of the segments of matching strategies, sorted.
func (u FeatureUse) segmentsWhere(of func(StrategyUse) bool) (ids []int64) {
	for _, s := range u.Strategies {
		if of(s) {
			ids = append(ids, s.Segments...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// SameConstraints reports whether the segment has exactly these constraints.
func (s *Segment) SameConstraints(constraints []Constraint) bool {
	a, b := Strategy{Constraints: s.Constraints}, Strategy{Constraints: constraints}
	return sameStrategy(a, b)
}
