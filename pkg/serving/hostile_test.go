package serving

import (
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestHostileContexts sends contexts that were made to cost much, to flags with the constraints that cost most. Each is refused
// or evaluated in bounded time.
func TestHostileContexts(t *testing.T) {
	f := newFixture()
	expensive := func(operator flags.Operator, value string, values ...string) flags.Strategy {
		return flags.Strategy{Name: "default", Constraints: []flags.Constraint{
			{ContextName: "x", Operator: operator, Value: &value, Values: values, CaseInsensitive: true, Inverted: true},
		}}
	}
	for i, pattern := range []string{`(a+)+$`, `(.*)(.*)(.*)(.*)(.*)b`, strings.Repeat(`(a|b)?`, 40) + "z", `^([a-z]+.)+[A-Z]([a-z])+$`, `(a*)*b`} {
		f.addStrategies(fmt.Sprint("regex-", i), expensive("REGEX", pattern))
	}
	for _, operator := range []flags.Operator{"STR_CONTAINS", "IN", "STR_ENDS_WITH", "IN_CIDR"} {
		f.addStrategies(string(operator), expensive(operator, "", strings.Split(strings.Repeat("abcdefgh,", 250), ",")...))
	}
	f.addStrategies("number", expensive("NUM_GT", "1e300"))
	f.addStrategies("version", expensive("SEMVER_LT", "1.2.3"))
	h := f.handler(httpapi.Config{})
	x := func(value string) string { return `{"x": "` + value + `", "targetingKey": "7"}` }
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }
	tests := []struct {
		name, context string
		status        int
	}{
		{"200 KB", x(strings.Repeat("a", 200_000)), 200},
		{"longest value", x(strings.Repeat("a", 10_000)), 200},
		{"longest value of a regex", x(strings.Repeat("a", 2_000)), 200},
		{"upper case", x(strings.Repeat("İ", 5_000)), 200},
		{"digits", x(strings.Repeat("9", 10_000)), 200},
		{"dots", x(strings.Repeat("1.", 5_000)), 200},
		{"1,000 properties", manyProperties(999)[:len(manyProperties(999))-1] + `, "targetingKey": "7"}`, 200},
		{"5,000 properties", manyProperties(5_000), 400},
		{"long names", `{"targetingKey": "7", "` + strings.Repeat("n", 100_000) + `": "x", "` + strings.Repeat("m", 100_000) + `": {"a": 1}}`, 200},
		{"deep objects", `{"targetingKey": "7", "x": ` + nested(5_000) + `}`, 200},
		{"deep lists", `{"targetingKey": "7", "x": ` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, 200},
		{"deepest lists", `{"targetingKey": "7", "x": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, 400},
		{"many empty objects", `{"targetingKey": "7", "x": [` + strings.Repeat("{},", 80_000) + `{}]}`, 200},
		{"many names of one object", manyProperties(12_000), 413},
		{"1 MB", x(strings.Repeat("a", 1<<20)), 413},
		{"brackets", strings.Repeat("[", 250_000), 400},
	}
	var worst time.Duration
	for _, tt := range tests {
		for _, path := range []string{"/api/frontend", ofrepAll, ofrepOne + "regex-0"} {
			token := "Authorization: frontend"
			started := processorTime()
			w := call(h, "POST", path, `{"context": `+tt.context+`}`, token)
			took := processorTime() - started
			worst = max(worst, took)
			if w.Code != tt.status || w.Body.Len() > 20_000 {
				t.Errorf("%s at %s: %d with %d bytes, want %d: %.300s", tt.name, path, w.Code, w.Body.Len(), tt.status, w.Body)
			}
			if took > 5*time.Second { // a bound by orders of magnitude
				t.Errorf("%s at %s took %v", tt.name, path, took)
			}
		}
	}
	for _, query := range []string{
		"x=" + strings.Repeat("a", 200_000), strings.Repeat("&", 200_000), strings.Repeat("a=1&", 100_000), "%", "%zz=1", "a;b", "properties[=1&properties[]=2&=3",
		"userId=" + url.QueryEscape("\x00\xff"), strings.Repeat("properties[", 1000),
	} {
		if w := call(h, "GET", "/api/frontend?"+query, "", "Authorization: frontend"); w.Code != 200 {
			t.Errorf("%.40s: %d %.200s", query, w.Code, w.Body)
		}
	}
	var many strings.Builder
	for i := range 1_001 {
		fmt.Fprintf(&many, "p%d=1&", i)
	}
	if w := call(h, "GET", "/api/frontend?"+many.String(), "", "Authorization: frontend"); w.Code != 400 {
		t.Errorf("1,001 properties in the query: status %d, want 400", w.Code)
	}
	t.Logf("the slowest request took %v of a processor", worst)
}

// TestTooMuchWork checks that a context with a long value is refused if comparing it with all constraints is too much work, and that
// the error says what to do.
func TestTooMuchWork(t *testing.T) {
	f := newFixture()
	all := make([]flags.Strategy, 100)
	for i := range all {
		all[i] = flags.Strategy{Name: "default", Constraints: []flags.Constraint{
			{ContextName: "x", Operator: "STR_CONTAINS", Values: strings.Split(strings.Repeat("abcdefgh,", 249)+"i", ",")}}}
	}
	f.addStrategies("expensive", all...)
	h := f.handler(httpapi.Config{})
	for _, path := range []string{"/api/frontend", ofrepAll, ofrepOne + "expensive"} {
		for length, status := range map[int]int{evaluate.FreeLength: 200, evaluate.MaxValueLength: 400} {
			w := call(h, "POST", path, `{"context": {"x": "`+strings.Repeat("a", length)+`"}}`, "Authorization: frontend")
			if w.Code != status || status == 400 && !strings.Contains(w.Body.String(), "shorten the long ones") {
				t.Errorf("%s with %d bytes: %d %s, want %d", path, length, w.Code, w.Body, status)
			}
		}
	}
}

// processorTime is the time of the processors that the process took. Other programs on the machine do not count.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
