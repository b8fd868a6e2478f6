package evaluate_test

import (
	"strconv"
	"strings"
	"testing"

	"guidon/pkg/evaluate"
)

// segmentFlags returns flags with one segment of a thousand values, and a context with a long value that none of them matches.
func segmentFlags(flags int) (*evaluate.Set, *evaluate.Context) {
	list := make([]evaluate.Flag, flags)
	for i := range list {
		list[i] = evaluate.Flag{Name: strconv.Itoa(i), Enabled: true, Strategies: []evaluate.Strategy{{Name: "default", Segments: []int64{1}}}}
	}
	segment := evaluate.Segment{ID: 1, Constraints: []evaluate.Constraint{
		{ContextName: "groups", Operator: "STR_CONTAINS", Values: manyValues(1_000), CaseInsensitive: true},
	}}
	return evaluate.NewSet(list, []evaluate.Segment{segment}), &evaluate.Context{Properties: map[string]string{"groups": strings.Repeat("V", evaluate.MaxValueLength)}}
}

// TestSegmentsOnce checks that flags with the same segment cost as much as one of them.
func TestSegmentsOnce(t *testing.T) {
	work := func(flags int) int {
		set, c := segmentFlags(flags)
		e := set.For(c)
		for i := range flags {
			if result := e.Evaluate(strconv.Itoa(i)); result.Enabled || result.Reason.Kind != evaluate.NoStrategyMatched {
				t.Errorf("flag %d: %+v", i, result)
			}
		}
		return e.Work()
	}
	one, all := work(1), work(200)
	if one < 1_000*evaluate.MaxValueLength || all != one {
		t.Errorf("one flag: %d bytes compared, 200 flags: %d", one, all)
	}
}

// TestRegexWork checks that many costly patterns are too much for a short value, and that 2,000 ordinary ones are not.
func TestRegexWork(t *testing.T) {
	for _, test := range []struct {
		pattern   string
		patterns  int
		exhausted bool
	}{{"(?:a?){110}a{40}b0x1", 600, true}, {`@example\.(com|org)$`, 2_000, false}} {
		f := evaluate.Flag{Name: "flag", Enabled: true, Strategies: []evaluate.Strategy{{Name: "default"}}}
		for range test.patterns {
			f.Strategies[0].Constraints = append(f.Strategies[0].Constraints, evaluate.Constraint{ContextName: "x", Operator: "REGEX", Value: test.pattern, Inverted: true})
		}
		e := evaluate.NewSet([]evaluate.Flag{f}, nil).For(&evaluate.Context{Properties: map[string]string{"x": strings.Repeat("a", 60)}})
		e.Evaluate("flag")
		if e.Exhausted() != test.exhausted {
			t.Errorf("%d times %s: exhausted %t after %d", test.patterns, test.pattern, e.Exhausted(), e.Work())
		}
	}
}

// TestMaxWork checks that an evaluation ends after MaxWork, within a flag too, and that short values are never too much.
func TestMaxWork(t *testing.T) {
	f := evaluate.Flag{Name: "flag", Enabled: true}
	for range 1_000 {
		f.Strategies = append(f.Strategies, evaluate.Strategy{Name: "default", Constraints: []evaluate.Constraint{
			{ContextName: "x", Operator: "STR_ENDS_WITH", Values: manyValues(250)}}})
	}
	set := evaluate.NewSet([]evaluate.Flag{f}, nil)
	for _, test := range []struct {
		length    int
		exhausted bool
	}{{evaluate.FreeLength, false}, {evaluate.MaxValueLength, true}} {
		e := set.For(&evaluate.Context{Properties: map[string]string{"x": strings.Repeat("x", test.length)}})
		e.Evaluate("flag")
		const once = 251 * evaluate.MaxValueLength // of one constraint
		if e.Exhausted() != test.exhausted || e.Work() > evaluate.MaxWork+once {
			t.Errorf("%d bytes: exhausted %t after %d", test.length, e.Exhausted(), e.Work())
		}
	}
}
