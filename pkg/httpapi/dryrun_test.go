package httpapi

import (
	"testing"

	"guidon/pkg/flags"
)

// TestDryRunKeepsSegmentIndex changes flags and segments in a dry run. The index of segments by name sees changes of segments,
// and is not made again after each item: an import of 10,000 flags would spend the time of the request on it.
func TestDryRunKeepsSegmentIndex(t *testing.T) {
	old := &flags.Segment{ID: 1, Version: 1, Name: "old"}
	r := newRound()
	r.dry = true
	r.view[old.Key()] = old
	r.memo[listOf(flags.EntitySegment)] = []flags.Aggregate{old}
	base := &Tx{round: r}
	if base.FindSegmentNamed("old") != old {
		t.Fatal("the segment is not found")
	}
	save := func(a flags.Aggregate) {
		tx := base.attempt(0)
		tx.Save(flags.Event{}, a)
		tx.apply()
	}

	save(&flags.Feature{Name: "f"})
	if _, kept := r.memo[segmentsByName{}]; !kept {
		t.Error("a change of a flag dropped the index of segments")
	}
	save(&flags.Segment{ID: -1, Name: "created"})
	if _, kept := r.memo[segmentsByName{}]; !kept {
		t.Error("a new segment dropped the index of segments")
	}
	renamed := old.Clone()
	renamed.Name = "renamed"
	save(renamed)
	for name, want := range map[string]int64{"created": -1, "renamed": 1, "old": 0} {
		var got int64
		if s := base.FindSegmentNamed(name); s != nil {
			got = s.ID
		}
		if got != want {
			t.Errorf("the segment %q is %d, want %d", name, got, want)
		}
	}
	if n := len(base.Segments()); n != 2 {
		t.Errorf("the list has %d segments, want 2", n)
	}
}
