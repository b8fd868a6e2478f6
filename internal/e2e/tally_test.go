package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A tally counts the outcomes of flags. The faults of flags are in spec_rules_test.go.
type tally map[string][]string

const (
	whole      = "accepted whole"
	isOn       = "on: 200"
	bareOn     = "on: 409, has no strategy in the specification"
	strippedOn = "on: 409, has no strategy that was accepted"
	depends    = "depends on what the specification says"
	noParent   = "dependency rejected: the flag does not exist"
	twoLevels  = "dependency refused: on a flag that depends on others"
	segments   = "not there yet: segments, left out"
	streams    = "not for administrators: suites of events, not of flags"
)

// outcomes lists the possible outcomes. Each of the 153 flags has exactly one.
var outcomes = map[string]int{
	whole: 107, badName: 2, badOperator: 1, noValues: 4, badSemver: 1, badRegex: 3, badAddress: 3, hasSegments: 5, bareVariants: 27,
}

// further lists what else is counted.
var further = map[string]int{isOn: 128, bareOn: 5, strippedOn: 12, depends: 18, noParent: 1, twoLevels: 2, segments: 5, streams: 2}

func (c tally) add(what, name string) { c[what] = append(c[what], name) }

// check compares the counts with those of this version of the specification, and lists the flags that were changed.
func (c tally) check(t *testing.T, suites []suite) {
	t.Helper()
	total := 0
	for _, s := range suites {
		total += len(s.State.Features)
		for _, segment := range s.State.Segments {
			c.add(segments, fmt.Sprintf("%s.%d", s.Name, segment.ID))
		}
		if s.State.Events != nil {
			c.add(streams, s.Name)
		}
	}
	sum := 0
	for outcome := range outcomes {
		sum += len(c[outcome])
	}
	if total != 153 || sum != total {
		t.Errorf("the specification has %d flags, of which %d have an outcome; want 153 of both", total, sum)
	}
	t.Logf("%d flags in %d suites", total, len(suites))
	want := maps.Clone(outcomes)
	maps.Copy(want, further)
	got := map[string]int{}
	for _, what := range slices.Sorted(maps.Keys(c)) {
		got[what] = len(c[what])
		names := ": " + strings.Join(c[what], ", ")
		if what == whole || what == isOn {
			names = ""
		}
		t.Logf("%3d %s%s", len(c[what]), what, names)
	}
	equal(t, "what became of the flags", got, want)
}
