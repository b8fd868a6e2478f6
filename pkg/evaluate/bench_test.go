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
