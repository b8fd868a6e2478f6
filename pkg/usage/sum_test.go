package usage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestSumLimits adds more names than a sum can hold. Every evaluation must still be counted.
func TestSumLimits(t *testing.T) {
	for _, c := range []struct {
		name                                  string
		applications, environments, variants  int
		long                                  int // characters of each name
		wantApplications, wantVariants, wantN int // at most
	}{
		{"applications", 300, 1, 0, 10, MaxSumApplications + 1, 0, MaxSumApplications + 1},
		{"variants", 1, 1, 300, 10, 1, MaxSumVariants + 1, MaxSumVariants + 2},
		{"counters", 100, 50, 3, 10, MaxSumApplications + 1, 4, MaxSumCounters + 100},
		{"long names", 100, 1, 100, 250, MaxSumApplications + 1, MaxSumVariants + 1, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			pad := strings.Repeat("x", c.long)
			var counts []Count
			var yes, variants int64
			for a := range c.applications {
				for e := range c.environments {
					count := Count{Application: fmt.Sprint(a, pad), Environment: fmt.Sprint("env", e), Yes: 1, Variants: map[string]int64{}}
					for v := range c.variants {
						count.Variants[fmt.Sprint(v, pad)] = 2
						variants += 2
					}
					yes++
					counts = append(counts, count)
				}
			}
			rand.Shuffle(len(counts), func(i, j int) { counts[i], counts[j] = counts[j], counts[i] })
			s := Sum{Feature: "f"}
			for part := range 2 { // the second half is added to what is stored
				s.Add(counts[part*len(counts)/2 : (part+1)*len(counts)/2])
			}
			s.Add(nil)
			counters, size := 0, 0
			applications := map[string]bool{}
			for _, row := range s.Counts {
				yes -= row.Yes
				applications[row.Application] = true
				counters += 1 + len(row.Variants)
				size += len(row.Application) + len(row.Environment)
				for name, n := range row.Variants {
					variants -= n
					size += len(name)
				}
				if len(row.Variants) > c.wantVariants {
					t.Errorf("%s has %d variants, want at most %d", row.Application, len(row.Variants), c.wantVariants)
				}
			}
			if yes != 0 || variants != 0 {
				t.Errorf("%d evaluations and %d of variants are missing", yes, variants)
			}
			if len(applications) > c.wantApplications || counters > c.wantN || size > maxSumNames+10_000 {
				t.Errorf("the sum has %d applications, %d counters and names of %d bytes", len(applications), counters, size)
			}
		})
	}
}

func TestCountsDoNotOverflow(t *testing.T) {
	s := Sum{}
	for range 3 {
		s.Add([]Count{{Application: "a", Yes: maxUsageCount - 1, No: 1, Variants: map[string]int64{"v": maxUsageCount}}})
	}
	if c := s.Counts[0]; c.Yes != maxUsageCount || c.No != 3 || c.Variants["v"] != maxUsageCount {
		t.Errorf("got %+v", c)
	}
}

// TestCursorCoversEveryPeriod follows the cursor. Each moment must be in one batch, and each period must be looked at again, at
// least ten minutes after its end.
func TestCursorCoversEveryPeriod(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 34, 56, 0, time.UTC)
	c := NewCursor(now)
	covered, looked := c.From, map[time.Time]bool{}
	first := c.From
	for number := c.Next; covered.Before(now); number++ {
		if c.Next != number {
			t.Fatalf("the number is %d, want %d", c.Next, number)
		}
		if period, late := c.LateIn(); late {
			if c.From.Sub(period) < 2*Period || looked[period] {
				t.Fatalf("%s is looked at again at %s", period, c.From)
			}
			looked[period] = true
			c = &Cursor{Next: c.Next + 1, From: c.From, Looked: period}
			continue
		}
		if c.Period() != covered.Truncate(Period) {
			t.Fatalf("the period at %s is %s", covered, c.Period())
		}
		covered = covered.Add(time.Duration(1+number%7) * time.Minute)
		if end := c.Period().Add(Period); covered.After(end) {
			covered = end
		}
		next := c.After(covered, now)
		c = &next
	}
	for period := first; period.Before(now.Add(-3 * Period)); period = period.Add(Period) {
		if !looked[period] {
			t.Errorf("%s was not looked at again", period)
		}
	}
}

// TestCursorSkipsExpiredPosts starts after a month without aggregation.
func TestCursorSkipsExpiredPosts(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 34, 56, 0, time.UTC)
	c := NewCursor(now.Add(-30 * 24 * time.Hour))
	if next := c.After(c.From.Add(time.Minute), now); !next.From.Equal(c.From.Add(time.Minute)) {
		t.Errorf("in the middle of a period, the cursor advances to %s", next.From)
	}
	next := c.After(c.From.Add(Period), now)
	if want := now.Add(-PostTTL).Truncate(Period); !next.From.Equal(want) || !next.Looked.Equal(want.Add(-Period)) {
		t.Errorf("the cursor advances to %s, looked at %s; want %s", next.From, next.Looked, want)
	}
}
