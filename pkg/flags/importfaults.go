package flags

import (
	"slices"
	"strconv"
)

// An ImportFault is something of a set that cannot be imported as it is, and why. It is found by trying.
type ImportFault struct {
	Kind   string // what it is: ImportedFlag, or what else the report is to call it
	Name   string
	Reason string
}

// ImportedFlag is the kind of a fault of a flag.
const FlagFault = "flag"

// faulty tells of the names of one kind whether they cannot be imported.
func (t ImportTarget) faulty(kind string) func(name string) bool {
	names := map[string]bool{}
	for _, f := range t.Faults {
		if f.Kind == kind {
			names[f.Name] = true
		}
	}
	return func(name string) bool { return names[name] }
}

// faults are findings about what cannot be imported, one a reason, but for flags of which another finding says so.
func (s ImportSet) faults(to ImportTarget, sorted fate) (list []ImportFinding) {
	told, at := s.told(to, sorted), map[string]int{}
	for _, f := range to.Faults {
		if f.Kind == FlagFault && told[f.Name] {
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
		list[i].Affected = distinct(list[i].Affected)
	}
	return list
}

// told are the flags that will be skipped for a reason of which the report has a finding of its own.
func (s ImportSet) told(to ImportTarget, sorted fate) map[string]bool {
	told := setOf(slices.Concat(sorted.elsewhere, sorted.skipped))
	missing := setOf(s.missingParents(to, sorted))
	for _, d := range s.Dependencies {
		if slices.ContainsFunc(d.Parents, func(parent string) bool { return missing[parent] }) {
			told[d.Feature] = true
		}
	}
	names := map[int64]string{}
	for _, segment := range s.Segments {
		names[segment.ID] = segment.Name
	}
	unknown, undefined := setOf(s.unknownSegments(to, false)), setOf(s.customStrategies(to, false))
	for _, st := range s.Strategies {
		lost := slices.ContainsFunc(st.Segments, func(id int64) bool {
			name, named := names[id]
			return named && unknown[name] || !named && unknown[strconv.FormatInt(id, 10)]
		})
		if lost || undefined[st.Type] {
			told[st.Feature] = true
		}
	}
	return told
}
