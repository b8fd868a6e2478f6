package flags

import (
	"maps"
	"slices"
	"strconv"
)

// An ImportSet is what a set of import data says, as far as it matters to whether it can be imported (contract: Import
// data set).
type ImportSet struct {
	Features      []string // the names of the flags
	Strategies    []ImportStrategy
	Environments  []ImportEnvironment
	Tagged        []Tag // the tags of all flags
	TagTypes      []string
	ContextFields []string
	Segments      []ImportSegment
	Dependencies  []ImportDependency
}

// An ImportStrategy is a strategy that a flag of the set has.
type ImportStrategy struct {
	Feature  string
	Type     string
	Segments []int64
}

// An ImportEnvironment is what a flag of the set has in the environment.
type ImportEnvironment struct {
	Feature  string
	Variants int
}

// An ImportSegment is a segment that strategies of the set refer to by its id there.
type ImportSegment struct {
	ID    int64
	Name  string
	Whole bool // the set has its constraints, so that it can be made
}

// An ImportDependency names the parents of a flag of the set.
type ImportDependency struct {
	Feature string
	Parents []string
}

// Named lists every flag that the set names, each once: its own, and the parents of those.
func (s ImportSet) Named() []string {
	names := slices.Clone(s.Features)
	for _, d := range s.Dependencies {
		names = append(names, d.Parents...)
	}
	return distinct(names)
}

// An ImportTarget is where a set is to be imported, and what is there already.
type ImportTarget struct {
	Project     *Project
	Environment ProjectEnvironment
	Feature     func(name string) *Feature // nil for one that is not there
	TagTypes    *TagTypes

	ContextFields *ContextFields
	Segments      []*Segment
}

// An ImportReport says what stands in the way of an import, what to know before it, and which permissions the caller
// lacks for it (contract: Validation result).
type ImportReport struct {
	Errors, Warnings, Permissions []ImportFinding
}

// An ImportFinding is one of those things, with the names that it is about.
type ImportFinding struct {
	Message  string
	Affected []string
}

// Validate tells whether the set can be imported.
func (s ImportSet) Validate(to ImportTarget, caller Caller) ImportReport {
	fate := s.sort(to)
	project := to.Project.ID
	report := ImportReport{
		Errors: findings(
			finding("These flags exist in another project already. Names are unique in the service: rename them or leave them out", fate.elsewhere),
			finding("These flags are parents that neither the import nor the project "+strconv.Quote(project)+" has, or that are archived", s.missingParents(to, fate)),
			finding("These segments do not exist, or belong to another project, and strategies refer to them: make them first", s.unknownSegments(to, false)),
		),
		Warnings: findings(
			finding("These flags exist in the project "+strconv.Quote(project)+" already and will be overwritten", fate.overwritten),
			finding("These flags are archived and will be skipped; revive them first to import them", fate.skipped),
			finding("These strategy types are custom ones: they must be defined here, and every SDK must bring what they do", s.customStrategies()),
			finding("These tag types are unknown and will be made", s.newTagTypes(to)),
			finding("These context fields are unknown and will be made", s.newContextFields(to)),
			finding("These segments are unknown and will be made", s.unknownSegments(to, true)),
		),
	}
	report.Permissions = findings(finding("These permissions are needed for the import, and you do not have them", s.lacking(to, fate, caller)))
	return report
}

// A fate is what an import does with the flags of a set, by name.
type fate struct {
	created, overwritten, skipped, elsewhere []string
}

// sort tells what the import would do with each flag. One of another project is an error, archived or not: its name
// is taken for ever.
func (s ImportSet) sort(to ImportTarget) (sorted fate) {
	for _, name := range distinct(s.Features) {
		switch f := to.Feature(name); {
		case f == nil:
			sorted.created = append(sorted.created, name)
		case f.ProjectUID != to.Project.UID:
			sorted.elsewhere = append(sorted.elsewhere, name)
		case f.Archived:
			sorted.skipped = append(sorted.skipped, name)
		default:
			sorted.overwritten = append(sorted.overwritten, name)
		}
	}
	return sorted
}

// missingParents are those that a flag of the set depends on and that will not be active flags of the project after
// the import.
func (s ImportSet) missingParents(to ImportTarget, sorted fate) []string {
	imported := setOf(sorted.created)
	var missing []string
	for _, d := range s.Dependencies {
		for _, parent := range d.Parents {
			f := to.Feature(parent)
			if there := f != nil && f.ProjectUID == to.Project.UID && !f.Archived; !there && !imported[parent] {
				missing = append(missing, parent)
			}
		}
	}
	return distinct(missing)
}

// unknownSegments are those that the set has or refers to and that its project cannot have, of those that the set is
// whole of or of the others. Ids mean nothing here: one that the set gives no name is unknown, and goes by its id.
func (s ImportSet) unknownSegments(to ImportTarget, whole bool) []string {
	var unknown []string
	named := map[int64]bool{}
	for _, segment := range s.Segments {
		named[segment.ID] = true
		there := slices.ContainsFunc(to.Segments, func(one *Segment) bool { return one.Name == segment.Name })
		ours := slices.ContainsFunc(to.Segments, func(one *Segment) bool {
			return one.Name == segment.Name && (one.ProjectUID == "" || one.ProjectUID == to.Project.UID)
		})
		if makes := segment.Whole && !there; !ours && makes == whole {
			unknown = append(unknown, segment.Name)
		}
	}
	for _, strategy := range s.Strategies {
		for _, id := range strategy.Segments {
			if !named[id] && !whole {
				unknown = append(unknown, strconv.FormatInt(id, 10))
			}
		}
	}
	return distinct(unknown)
}

func (s ImportSet) customStrategies() []string {
	var custom []string
	for _, strategy := range s.Strategies {
		if !(StrategyType{Name: strategy.Type}).BuiltIn() {
			custom = append(custom, strategy.Type)
		}
	}
	return distinct(custom)
}

func (s ImportSet) newTagTypes(to ImportTarget) []string {
	names := slices.Clone(s.TagTypes)
	for _, tag := range s.Tagged {
		names = append(names, tag.Type)
	}
	return slices.DeleteFunc(distinct(names), func(name string) bool {
		return to.TagTypes.Has(name)
	})
}

func (s ImportSet) newContextFields(to ImportTarget) []string {
	return slices.DeleteFunc(distinct(s.ContextFields), to.ContextFields.Has)
}

// lacking are the permissions that the import needs in the project and the environment, and that the caller has not.
func (s ImportSet) lacking(to ImportTarget, sorted fate, caller Caller) []string {
	written := setOf(sorted.created)
	maps.Copy(written, setOf(sorted.overwritten))
	var replacesStrategies, setsVariants bool
	for _, name := range sorted.overwritten {
		was := to.Feature(name).In(to.Environment)
		replacesStrategies = replacesStrategies || len(was.Strategies) > 0
		setsVariants = setsVariants || len(was.Variants) > 0
	}
	setsVariants = setsVariants || slices.ContainsFunc(s.Environments, func(e ImportEnvironment) bool { return written[e.Feature] && e.Variants > 0 })

	var lacking []string
	for _, need := range []struct {
		permission  Permission
		environment string
		needed      bool
	}{
		{CreateFeature, "", len(sorted.created) > 0},
		{UpdateFeature, "", len(sorted.overwritten) > 0 || len(s.Tagged) > 0 || len(s.Dependencies) > 0},
		{UpdateFeatureEnvironment, to.Environment.Name,
			slices.ContainsFunc(s.Environments, func(e ImportEnvironment) bool { return written[e.Feature] })},
		{UpdateFeatureVariants, to.Environment.Name, setsVariants},
		{CreateFeatureStrategy, to.Environment.Name, slices.ContainsFunc(s.Strategies, func(st ImportStrategy) bool { return written[st.Feature] })},
		{DeleteFeatureStrategy, to.Environment.Name, replacesStrategies},
		{CreateTagType, "", len(s.newTagTypes(to)) > 0},
		{CreateContextField, "", len(s.newContextFields(to)) > 0},
		{CreateSegment, "", len(s.unknownSegments(to, true)) > 0},
	} {
		if need.needed && !caller.May(need.permission, to.Project, need.environment) {
			lacking = append(lacking, string(need.permission))
		}
	}
	return lacking
}

// finding is one finding, or none where nothing is affected.
func finding(message string, affected []string) []ImportFinding {
	if len(affected) == 0 {
		return nil
	}
	return []ImportFinding{{Message: message, Affected: affected}}
}

func findings(lists ...[]ImportFinding) []ImportFinding { return slices.Concat(lists...) }

// distinct is a list without what comes in it again.
func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	out := make([]string, 0, len(list))
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}
