package apitest

import "testing"

func TestMatch(t *testing.T) {
	t.Parallel()
	const id = `"6ba7b810-9dad-41d1-80b4-00c04fd430c8"`
	tests := []struct {
		want, got string
		same      bool
	}{
		{``, ``, true},
		{``, `{}`, false},
		{`{}`, ``, false},
		{`{"a":1}`, `{"a":1}`, true},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"...":0,"a":1}`, `{"a":1,"b":2}`, true},
		{`{"...":0,"a":1}`, `{"b":2}`, false},
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[]`, `null`, false},
		{`["<uuid>"]`, `[` + id + `]`, true},
		{`["<uuid>"]`, `["x"]`, false},
		{`["<time>"]`, `["2026-01-05T12:00:00.000Z"]`, true},
		{`["<time>"]`, `["2026-01-05T12:00:00+00:00"]`, false},
		{`["<has b>"]`, `["abc"]`, true},
		{`["<has b>"]`, `["ac"]`, false},
		{`{"a":"<any>"}`, `{"a":[1]}`, true},
	}
	for _, tt := range tests {
		if got := Match(tt.want, tt.got); (len(got) == 0) != tt.same {
			t.Errorf("match(%s, %s) = %q, want none: %t", tt.want, tt.got, got, tt.same)
		}
	}
}
