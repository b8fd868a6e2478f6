package evaluate_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"guidon/internal/matrix"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// A matrixDifference says for which flags and values of internal/matrix another evaluator has a different result.
type matrixDifference struct {
	flags, values string // patterns
	results       int
	why           string
}

const (
	anyValue     = ``
	beyondASCII  = `[^\x00-\x7F]`
	emptyValue   = `^empty$`
	tooLong      = `^10,001 bytes$`
	longForRegex = `^(10,00[01]|2,001) bytes$`
)

// yggdrasilDifferences and nodeDifferences list all differences from Guidon; docs/reference/sdk-behavior.md tells users. Where Yggdrasil
// and Node.js agree, Guidon differs only in bounds for long values and in what an empty ID is.
var yggdrasilDifferences = []matrixDifference{
	{`.`, tooLong, 57, "Guidon takes a longer value than 10,000 bytes as absent"},
	{`^REGEX `, longForRegex, 67, "Guidon does not compare a value of more than 2,000 bytes"},
	{`^REGEX .*\\\\[wWdDsSbB]`, beyondASCII, 998, "its classes and boundaries are those of Unicode, those of RE2 are of ASCII"},
	{`^REGEX .*\\\\Q`, anyValue, 38, "it does not know \\Q, and takes the pattern as invalid"},
	{`^IN .*\\\\"\]|groupId="a\\\\"`, anyValue, 1248, "it switches off a flag with a text that ends with a backslash"},
	{`^DATE_\w+ currentTime`, emptyValue, 10, "Guidon takes an empty time as absent"},
	{`^(flexible|gradual)Rollout`, emptyValue, 11, "Guidon takes an empty ID as absent"},
	{`^userWithId`, emptyValue, 2, "Guidon takes an empty ID as absent"},
	{`^applicationHostname`, anyValue, 1473, "the engine in Python knows no host"},
	{`^remoteAddress IPs="11.0.0.0/255.0.0.0"`, anyValue, 1, "it takes a mask"},
}

var nodeDifferences = []matrixDifference{
	{`.`, tooLong, 71, "Guidon takes a longer value than 10,000 bytes as absent"},
	{`^REGEX `, longForRegex, 64, "Guidon does not compare a value of more than 2,000 bytes"},
	{`^(NOT_)?IN value \["( abc |a,b" "\\u00a0| )"|^STR_\w+ value \["( a|\\u00a0)"`, anyValue, 4613, "it trims the values of the constraint"},
	{`^NUM_`, emptyValue + `|^(\\t|\\n|[\s\x{a0}\x{2028}])+$`, 216, "blanks are 0"},
	{`^NUM_`, `^\s|^\x{a0}|\s$`, 168, "it trims the value"},
	{`^NUM_`, `^0[xXbo]\d+$`, 160, "it reads hexadecimal, binary and octal numbers"},
	{`^NUM_`, `^[-+]?(inf|Inf|INF|infinity|INFINITY)$`, 244, "it reads only Infinity"},
	{`^NUM_EQ`, `^[-+]?(\d*\.?\d*|[\d.]+e-?\d+)$`, 78, "it tolerates no rounding"},
	{`^DATE_\w+ value`, `^(missing|empty)$`, 12, "it compares with currentTime"},
	{`^DATE_`, anyValue, 1960, "it reads other forms of dates, and milliseconds only"},
	{`^SEMVER_`, `^\s|\s$`, 90, "it trims the version"},
	{`^SEMVER_`, `\d{16}`, 80, "it refuses numbers beyond 2^53, and compares those after the hyphen as float64"},
	{`^SEMVER_\w+ value "18446744073709551615`, anyValue, 92, "as above, for the value of the constraint"},
	{`^SEMVER_`, `^a version of 300 bytes$`, 24, "it refuses versions of more than 256 bytes"},
	{`^IN_CIDR`, `/\d+$`, 40, "it takes an address with a length"},
	{`^IN_CIDR`, `%`, 18, "it ignores the zone of an address"},
	{`^userWithId`, anyValue, 3, "it does not trim the first and last ID of the list, and trims other blanks"},
	{`^remoteAddress`, anyValue, 22, "it knows networks of IPv4 only, compares other items as texts, and takes an address with a length"},
	{`^flexibleRollout groupId="[^"]*" rollout="( 50|50 |50\.\d|0\.5|5e1|0x32|101|1000000|Infinity)"`, anyValue, 2967, "it reads other forms of percentages than whole numbers, and those over 100"},
	{`^gradualRolloutUserId groupId="g" percentage="50.5"`, anyValue, 250, "as above"},
	{`^flexibleRollout groupId="g" rollout="100" stickiness=""`, anyValue, 491, "an empty stickiness is the default"},
	{`^(flexibleRollout rollout="50" stickiness|gradualRolloutUserId percentage)`, anyValue, 489, "a missing group is empty"},
	{`^(flexible|gradual)Rollout.*[^\x00-\x7F]`, anyValue, 950, "it hashes characters beyond ASCII differently"},
	{`^(flexible|gradual)Rollout`, beyondASCII, 293, "as above, for the ID"},
}

func TestMatrix(t *testing.T) {
	values, now := matrix.Values(), time.Now()
	guidon := matrix.Results{}
	for _, f := range matrix.Flags() {
		set := evaluate.NewSet([]evaluate.Flag{f.Flag}, nil)
		for _, v := range values {
			c := v.Context()
			c.Now = now
			result := "0"
			if set.Evaluate(f.Name, &c).Enabled {
				result = "1"
			}
			guidon[f.Name] += result
		}
	}
	for evaluator, differences := range map[string][]matrixDifference{"yggdrasil": yggdrasilDifferences, "node": nodeDifferences} {
		t.Run(evaluator, func(t *testing.T) {
			other, err := matrix.Recorded(evaluator)
			if err != nil {
				t.Fatal(err)
			}
			compareMatrix(t, values, differences, guidon, other)
		})
	}
}

// compareMatrix checks that the results of Guidon differ from those of another evaluator exactly where it is listed.
func compareMatrix(t *testing.T, values []matrix.Value, listed []matrixDifference, guidon, other matrix.Results) {
	var patterns [][2]*regexp.Regexp
	for _, d := range listed {
		patterns = append(patterns, [2]*regexp.Regexp{regexp.MustCompile(d.flags), regexp.MustCompile(d.values)})
	}
	const shown = 20
	found, unlisted := make([]int, len(listed)), 0
	for _, flag := range slices.Sorted(maps.Keys(guidon)) {
		for i, v := range values {
			if guidon[flag][i] == other[flag][i] {
				continue
			}
			known := slices.IndexFunc(patterns, func(p [2]*regexp.Regexp) bool { return p[0].MatchString(flag) && p[1].MatchString(v.Name) })
			if known >= 0 {
				found[known]++
			} else if unlisted++; unlisted <= shown {
				t.Errorf("%s for %q: got %c, want %c", flag, v.Name, guidon[flag][i], other[flag][i])
			}
		}
	}
	if unlisted > 0 {
		t.Errorf("%d differences are not listed", unlisted)
	}
	for i, d := range listed {
		if found[i] != d.results {
			t.Errorf("%s for %s differs in %d results, and %d are listed (%s): correct the list and docs/reference/sdk-behavior.md", d.flags, d.values, found[i], d.results, d.why)
		}
	}
}

// TestMatrixIsStored checks that Guidon stores the strategies of the matrix, as they are, but for those that only an upstream of Guidon
// Edge has.
func TestMatrixIsStored(t *testing.T) {
	for _, f := range matrix.Flags() {
		s := flags.Strategy{Name: f.Strategies[0].Name, Parameters: f.Strategies[0].Parameters}
		if s.Name == "custom" {
			continue
		}
		changed := false
		for _, c := range f.Strategies[0].Constraints {
			stored := flags.Constraint{ContextName: c.ContextName, Operator: flags.Operator(c.Operator), Values: c.Values, CaseInsensitive: c.CaseInsensitive, Inverted: c.Inverted}
			if c.Values == nil {
				stored.Value = &c.Value
			}
			s.Constraints = append(s.Constraints, stored.Normalized())
			changed = changed || asJSON(s.Constraints[0]) != asJSON(stored)
		}
		parameters := maps.Clone(s.Parameters)
		flags.NormalizeParameters(s.Name, parameters)
		changed = changed || !maps.Equal(parameters, s.Parameters)
		var problems flags.Problems
		s.Check(&flags.StrategyTypes{}, flags.DefaultLimits(), &problems)
		missing := asJSON(s.WithDefaults(f.Name).Parameters) != asJSON(s.Parameters)
		if refused := len(problems) > 0 || changed || missing; refused != f.Odd {
			t.Errorf("%s: problems %v, changed %t, incomplete %t, listed as odd: %t", f.Name, problems, changed, missing, f.Odd)
		}
	}
}
