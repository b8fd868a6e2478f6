package flags

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	tests := []struct {
		name  string
		value string
		fault string // part of it; "" for none
	}{
		{"one letter", "a", ""},
		{"every sort of character", "Az09._-~", ""},
		{"starts with a dot", ".hidden", ""},
		{"three dots", "...", ""},
		{"only a tilde", "~", ""},
		{"a digit first", "1st", ""},
		{"JavaScript constructor", "constructor", ""},
		{"JavaScript __proto__", "__proto__", ""},
		{"JavaScript toString", "toString", ""},
		{"100 characters", strings.Repeat("n", 100), ""},

		{"101 characters", strings.Repeat("n", 101), "at most 100"},
		{"empty", "", "required"},
		{"the dot", ".", `must not be "." or ".."`},
		{"two dots", "..", `must not be "." or ".."`},
		{"an accent", "café", "use only A-Z"},
		{"a slash", "a/b", "use only A-Z"},
		{"a backslash", `a\b`, "use only A-Z"},
		{"a space", "a b", "use only A-Z"},
		{"a space at the end", "a ", "use only A-Z"},
		{"a percent sign", "a%2Fb", "use only A-Z"},
		{"a colon", "a:b", "use only A-Z"},
		{"a hash", "a#b", "use only A-Z"},
		{"a NUL", "a\x00", "use only A-Z"},
		{"a line break", "a\n", "use only A-Z"},
		{"invalid UTF-8", "a\xff", "use only A-Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := CheckName(tt.value)
			if (got == "") != (tt.fault == "") || !strings.Contains(got, tt.fault) {
				t.Errorf("CheckName(%q) = %q, want %q in it", tt.value, got, tt.fault)
			}
		})
	}
}
