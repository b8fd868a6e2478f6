package flags

import (
	"slices"
	"strconv"
)

// An ImportFault is a part of a data set that cannot be imported, and the reason. It is found by trying the
// import.
type ImportFault struct {
	Kind   string // FlagFault, or the name of another entity for the report
	Name   string
	Reason string
}

// FlagFault is the kind of faults of flags.
const FlagFault = "flag"

// hasFault returns a function that reports whether the entity of that kind and name has a fault.
func (t ImportTarget) hasFault(kind string) func(name string) bool {
	names := map[string]bool{}
	for _, f := range t.Faults {
		if f.Kind == kind {
			names[f.Name] = true
		}
	}
	return func(name string) bool { return names[name] }
}

// faults returns the faults as findings, one per reason. Flags that another finding reports already are left
// out.
func (s ImportSet) faults(to ImportTarget, outcome importOutcome) (list []ImportFinding) {
	reportedFlags, at := s.reported(to, outcome), map[string]int{}
	for _, f := range to.Faults {
		if f.Kind == FlagFault && reportedFlags[f.Name] {
			continue
		}
		message := "These " + f.Kind + "s will be skipped: " + f.Reason
		i, there := at[message]
		if !there {
			i, at[message], list = len(list), len(list), append(list, ImportFinding{Message: message})
		}
		list[i].Affected = append(list[i].Affected, f.Name)
	}
	for i := range list {
		list[i].Affected = Distinct(list[i].Affected)
	}
	return list
}

// reported returns the flags that are skipped for a reason that has a finding of its own.
func (s ImportSet) reported(to ImportTarget, outcome importOutcome) map[string]bool {
	reportedFlags := SetOf(slices.Concat(outcome.inOtherProject, outcome.skipped))
	missing := SetOf(s.missingParents(to, outcome))
	for _, d := range s.Dependencies {
		if slices.ContainsFunc(d.Parents, func(parent string) bool { return missing[parent] }) {
			reportedFlags[d.Feature] = true
		}
	}
	names := map[int64]string{}
	for _, segment := range s.Segments {
		names[segment.ID] = segment.Name
	}
	unknown, undefined := SetOf(s.unknownSegments(to, false)), SetOf(s.customStrategies(to, false))
	for _, st := range s.Strategies {
		lost := slices.ContainsFunc(st.Segments, func(id int64) bool {
			name, named := names[id]
			return named && unknown[name] || !named && unknown[strconv.FormatInt(id, 10)]
		})
		if lost || undefined[st.Type] {
			reportedFlags[st.Feature] = true
		}
	}
	return reportedFlags
}
