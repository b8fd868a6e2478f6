package flags

import (
	"slices"
	"strconv"
)

// An ImportSet is the part of a data set that decides whether it can be imported (contract: Import data set).
type ImportSet struct {
	Features      []string // names of the flags
	Strategies    []ImportStrategy
	Tagged        []ImportTag
	TagTypes      []string
	ContextFields []string
	Segments      []ImportSegment
	Dependencies  []ImportDependency
}

// An ImportStrategy is a strategy of a flag in the data set.
type ImportStrategy struct {
	Feature  string
	Type     string
	Segments []int64
}

// An ImportTag is a tag of a flag in the data set.
type ImportTag struct{ Feature, Type string }

// An ImportSegment is a segment in the data set. Strategies in the set refer to it by its ID in the set.
type ImportSegment struct {
	ID      int64
	Name    string
	Defined bool // the set has its constraints, so that it can be created

	Constraints []Constraint // if it is defined
}

// An ImportDependency has the names of the parents of a flag in the data set.
type ImportDependency struct {
	Feature string
	Parents []string
}

// FeatureNames returns the names of all flags in the data set and of their parents, without duplicates.
func (s ImportSet) FeatureNames() []string {
	names := slices.Clone(s.Features)
	for _, d := range s.Dependencies {
		names = append(names, d.Parents...)
	}
	return Distinct(names)
}

// An ImportTarget is where a data set is imported to, and what exists there.
type ImportTarget struct {
	Project     *Project
	Environment ProjectEnvironment
	Feature     func(name string) *Feature // returns nil if there is no such flag
	TagTypes    *TagTypes

	StrategyTypes      *StrategyTypes
	ContextFields      *ContextFields
	Segments           []*Segment
	Faults             []ImportFault // what else prevents the import
	MissingPermissions []string      // what the import needs and the caller lacks
}

// An ImportReport is the result of validating an import: what prevents it, what to know before it, and which
// permissions the caller lacks (contract: Validation result).
type ImportReport struct {
	Errors, Warnings, Permissions []ImportFinding
}

// An ImportFinding is one entry of the report, with the names of what it is about.
type ImportFinding struct {
	Message  string
	Affected []string
}

// Validate tells whether the set can be imported.
func (s ImportSet) Validate(to ImportTarget) ImportReport {
	outcome := s.classify(to)
	project := to.Project.ID
	report := ImportReport{
		Errors: findings(
			finding("These flags exist in another project. Flag names are unique in the service: rename these flags or leave them out", outcome.inOtherProject),
			finding("These parent flags are archived, or exist neither in the import nor in the project "+strconv.Quote(project), s.missingParents(to, outcome)),
			finding("Strategies refer to these segments, which do not exist or belong to another project: create them first", s.unknownSegments(to, false)),
			s.faults(to, outcome),
		),
		Warnings: findings(
			finding("These flags already exist in the project "+strconv.Quote(project)+" and will be overwritten", outcome.overwritten),
			finding("These flags are archived and will be skipped; revive them first to import them", outcome.skipped),
			finding("These custom strategy types are not defined here, and flags that use them will be skipped: define the types first, and implement them in every SDK",
				s.customStrategies(to, false)),
			finding("These strategy types are custom: every SDK must implement them", s.customStrategies(to, true)),
			finding("These tag types do not exist and will be created", without(s.newTagTypes(to), to.hasFault("tag type"))),
			finding("These context fields do not exist and will be created", without(s.newContextFields(to), to.hasFault("context field"))),
			finding("These segments do not exist and will be created", without(s.unknownSegments(to, true), to.hasFault("segment"))),
			finding("These segments already exist with other constraints and will not be changed: imported strategies use the existing ones", s.otherSegments(to)),
		),
	}
	report.Permissions = finding("You lack these permissions, which the import needs", to.MissingPermissions)
	return report
}

// An importOutcome lists the names of the flags by what the import does with them.
type importOutcome struct {
	created, overwritten, skipped, inOtherProject []string
}

// classify says what the import does with each flag. A flag that exists in another project is an error, even if
// archived, because names are never freed.
func (s ImportSet) classify(to ImportTarget) (outcome importOutcome) {
	for _, name := range Distinct(s.Features) {
		switch f := to.Feature(name); {
		case f == nil:
			outcome.created = append(outcome.created, name)
		case f.ProjectUID != to.Project.UID:
			outcome.inOtherProject = append(outcome.inOtherProject, name)
		case f.Archived:
			outcome.skipped = append(outcome.skipped, name)
		default:
			outcome.overwritten = append(outcome.overwritten, name)
		}
	}
	return outcome
}

// missingParents returns the parents that will not be active flags of the project after the import.
func (s ImportSet) missingParents(to ImportTarget, outcome importOutcome) []string {
	imported := SetOf(outcome.created)
	var missing []string
	for _, d := range s.Dependencies {
		for _, parent := range d.Parents {
			f := to.Feature(parent)
			if there := f != nil && f.ProjectUID == to.Project.UID && !f.Archived; !there && !imported[parent] {
				missing = append(missing, parent)
			}
		}
	}
	return Distinct(missing)
}

// unknownSegments returns the names of segments that do not exist or that the project cannot use. With created, it returns those
// that the import will create: the data set defines them, and no segment here has the name. Otherwise it returns those that
// strategies of the data set refer to and that the import will not create. Segment IDs differ between services, so an ID that the
// data set gives no name is unknown too; it is returned as text.
func (s ImportSet) unknownSegments(to ImportTarget, created bool) []string {
	var unknown []string
	named, referred, here := map[int64]bool{}, map[int64]bool{}, to.segmentsByName()
	for _, strategy := range s.Strategies {
		for _, id := range strategy.Segments {
			referred[id] = true
		}
	}
	for _, segment := range s.Segments {
		named[segment.ID] = true
		one, there := here[segment.Name]
		ours := there && (one.ProjectUID == "" || one.ProjectUID == to.Project.UID)
		if makes := segment.Defined && !there; !ours && makes == created && (created || referred[segment.ID]) {
			unknown = append(unknown, segment.Name)
		}
	}
	for _, strategy := range s.Strategies {
		for _, id := range strategy.Segments {
			if !named[id] && !created {
				unknown = append(unknown, strconv.FormatInt(id, 10))
			}
		}
	}
	return Distinct(unknown)
}

// segmentsByName indexes the segments of the target; their names are unique.
func (t ImportTarget) segmentsByName() map[string]*Segment {
	named := make(map[string]*Segment, len(t.Segments))
	for _, segment := range t.Segments {
		named[segment.Name] = segment
	}
	return named
}

// otherSegments returns the names of segments that exist with other constraints than in the data set.
func (s ImportSet) otherSegments(to ImportTarget) []string {
	var other []string
	here := to.segmentsByName()
	for _, segment := range s.Segments {
		one, there := here[segment.Name]
		if segment.Defined && there && !one.SameConstraints(segment.Constraints) {
			other = append(other, segment.Name)
		}
	}
	return Distinct(other)
}

// customStrategies returns the custom strategy types that the data set uses: those that are defined here, or
// those that are not.
func (s ImportSet) customStrategies(to ImportTarget, defined bool) []string {
	var custom []string
	for _, strategy := range s.Strategies {
		known, is := to.StrategyTypes.Find(strategy.Type)
		if is == defined && !known.BuiltIn() {
			custom = append(custom, strategy.Type)
		}
	}
	return Distinct(custom)
}

func (s ImportSet) newTagTypes(to ImportTarget) []string {
	names := slices.Clone(s.TagTypes)
	for _, tag := range s.Tagged {
		names = append(names, tag.Type)
	}
	return slices.DeleteFunc(Distinct(names), func(name string) bool {
		return to.TagTypes.Has(name)
	})
}

func (s ImportSet) newContextFields(to ImportTarget) []string {
	return slices.DeleteFunc(Distinct(s.ContextFields), to.ContextFields.Has)
}

// finding returns a list of one finding; nil if no names are affected.
func finding(message string, affected []string) []ImportFinding {
	if len(affected) == 0 {
		return nil
	}
	return []ImportFinding{{Message: message, Affected: affected}}
}

func findings(lists ...[]ImportFinding) []ImportFinding { return slices.Concat(lists...) }

// Distinct returns the list without duplicates, in its order. It is not nil.
func Distinct[T comparable](list []T) []T {
	seen, out := make(map[T]bool, len(list)), make([]T, 0, len(list))
	for _, one := range list {
		if !seen[one] {
			seen[one], out = true, append(out, one)
		}
	}
	return out
}

// SetOf returns the elements of a list as a set.
func SetOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}
