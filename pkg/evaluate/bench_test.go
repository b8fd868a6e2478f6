package evaluate_test

import (
	"strconv"
	"testing"
	"time"

	"guidon/pkg/evaluate"
)

// rolloutFlag returns a flag with one rollout of 50 % and one constraint, which is what most flags have.
func rolloutFlag(name string, c evaluate.Constraint) evaluate.Flag {
	return evaluate.Flag{Name: name, Enabled: true, Strategies: []evaluate.Strategy{{
		Name:        "flexibleRollout",
		Parameters:  map[string]string{"rollout": "50", "stickiness": "default", "groupId": name},
		Constraints: []evaluate.Constraint{c},
	}}}
}

// benchConstraints are satisfied by benchContext.
var benchConstraints = []evaluate.Constraint{
	{ContextName: "country", Operator: "IN", Values: []string{"de", "at", "ch"}},
	{ContextName: "country", Operator: "IN", Values: append(manyValues(100), "de")},
	{ContextName: "country", Operator: "NOT_IN", Values: []string{"us"}},
	{ContextName: "email", Operator: "STR_ENDS_WITH", Values: []string{"@example.com"}},
	{ContextName: "email", Operator: "STR_ENDS_WITH", Values: []string{"@example.com"}, CaseInsensitive: true},
	{ContextName: "email", Operator: "STR_CONTAINS", Values: []string{"example"}},
	{ContextName: "age", Operator: "NUM_GTE", Value: "18"},
	{ContextName: "currentTime", Operator: "DATE_AFTER", Value: "2020-01-01T00:00:00Z"},
	{ContextName: "signup", Operator: "DATE_AFTER", Value: "2020-01-01T00:00:00Z"},
	{ContextName: "version", Operator: "SEMVER_GTE", Value: "1.2.3"},
	{ContextName: "email", Operator: "REGEX", Value: `^[^@]+@example\.com$`},
	{ContextName: "remoteAddress", Operator: "IN_CIDR", Values: []string{"10.0.0.0/8", "192.168.0.0/16"}},
}

func benchContext() *evaluate.Context {
	return &evaluate.Context{UserID: "user-4711", RemoteAddress: "192.168.1.9", Environment: "production", Now: time.Now(), Properties: map[string]string{
		"country": "de", "email": "someone@example.com", "age": "42", "signup": "2024-05-06T07:08:09Z", "version": "1.10.0",
	}}
}

func manyValues(n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = "value-" + strconv.Itoa(i)
	}
	return values
}

func BenchmarkEvaluate(b *testing.B) {
	ctx := benchContext()
	for i, c := range benchConstraints {
		name := c.Operator
		if len(c.Values) > 8 {
			name += "-" + strconv.Itoa(len(c.Values))
		}
		set := evaluate.NewSet([]evaluate.Flag{rolloutFlag("flag", c)}, nil)
		b.Run(strconv.Itoa(i)+"-"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set.Evaluate("flag", ctx)
			}
		})
	}
}

// manyFlags returns flags with one constraint and two variants each.
func manyFlags(n int) []evaluate.Flag {
	flags := make([]evaluate.Flag, n)
	for i := range flags {
		flags[i] = rolloutFlag("flag-"+strconv.Itoa(i), benchConstraints[0])
		flags[i].Variants = []evaluate.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}}
	}
	return flags
}

// BenchmarkAll evaluates all flags of a set.
func BenchmarkAll(b *testing.B) {
	const flags = 1_000
	set, ctx := evaluate.NewSet(manyFlags(flags), nil), benchContext()
	b.ReportAllocs()
	for b.Loop() {
		for range set.All(ctx) { //nolint:revive // the results do not count
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flags, "ns/flag")
}

// BenchmarkNewSet compiles all flags of a service, and BenchmarkWith one that changed.
func BenchmarkNewSet(b *testing.B) {
	const flags = 10_000
	list := manyFlags(flags)
	b.ReportAllocs()
	for b.Loop() {
		evaluate.NewSet(list, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flags, "ns/flag")
}

func BenchmarkWith(b *testing.B) {
	list := manyFlags(10_000)
	set := evaluate.NewSet(list, nil)
	b.ReportAllocs()
	for b.Loop() {
		set.With(evaluate.Changes{Flags: list[:1]})
	}
}
