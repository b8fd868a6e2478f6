package apipath

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParameters compares queries with what browsers read in them (WHATWG URL).
func TestParameters(t *testing.T) {
	for query, want := range map[string]url.Values{
		"a=1;b=2":      {"a": {"1;b=2"}},
		"a;b":          {"a;b": {""}},
		"a=100%":       {"a": {"100%"}},
		"a=100%&b=2":   {"a": {"100%"}, "b": {"2"}},
		"a=%zz%41%4":   {"a": {"%zzA%4"}},
		"%4%41=1+%2B+": {"%4A": {"1 + "}},
		"a=1&a=2&&=3":  {"a": {"1", "2"}, "": {"3"}},
		"a=b=c":        {"a": {"b=c"}},
		"":             {},
	} {
		if diff := cmp.Diff(want, Parameters(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}
