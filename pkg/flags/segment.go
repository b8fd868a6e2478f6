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
func (s *Segment) In(project *Project) {
	s.Project, s.ProjectUID = "", ""
	if project != nil {
		s.Project, s.ProjectUID = project.ID, project.UID
	}
}

// Settles says whether the segment can be where In has put it. Conflict while flags of other projects use it.
func (s *Segment) Settles(uses []Use) error {
	if s.Project == "" {
		return nil
	}
	users := s.users(uses, func(u Use) bool { return u.Project != s.Project })
	if len(users) > 0 {
		return inUse(fmt.Sprintf("segment %d, %q, cannot become one of project %q alone: it", s.ID, s.Name, s.Project), users)
	}
	return nil
}

// Deletable says why the segment must stay, if it must. Conflict while a strategy uses it, of an archived flag too: the
// flag can be revived. So does the default strategy of an environment in a project, until it has another.
func (s *Segment) Deletable(uses []Use, projects []*Project, registry *Environments) error {
	users := s.users(uses, func(Use) bool { return true })
	for _, p := range projects {
		for _, env := range p.Available(registry) {
			if d := env.Attachment.DefaultStrategy; d != nil && slices.Contains(d.Segments, s.ID) {
				users = append(users, fmt.Sprintf("default strategy of project %q in environment %q", p.ID, env.Name))
			}
		}
	}
	if len(users) > 0 {
		return inUse(fmt.Sprintf("segment %d, %q,", s.ID, s.Name), users)
	}
	return nil
}

// users names the flags that use the segment.
func (s *Segment) users(uses []Use, among func(Use) bool) []string {
	var users []string
	for _, u := range uses {
		if among(u) && slices.ContainsFunc(u.Strategies, func(st StrategyUse) bool { return st.OfSegment(s.ID) }) {
			user := "flag " + strconv.Quote(u.Feature)
			if u.Archived {
				user += ", which is archived"
			}
			users = append(users, user)
		}
	}
	return users
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

// Segments are those that any strategy of the flag uses, in every environment, sorted.
func (f *Feature) Segments() []int64 {
	if f == nil {
		return nil
	}
	var ids []int64
	for _, fe := range f.Environments {
		for _, s := range fe.Strategies {
			ids = append(ids, s.Segments...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
