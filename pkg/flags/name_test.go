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
		{"an accent", "café", "must be made of"},
		{"a slash", "a/b", "must be made of"},
		{"a backslash", `a\b`, "must be made of"},
		{"a space", "a b", "must be made of"},
		{"a space at the end", "a ", "must be made of"},
		{"a percent sign", "a%2Fb", "must be made of"},
		{"a colon", "a:b", "must be made of"},
		{"a hash", "a#b", "must be made of"},
		{"a NUL", "a\x00", "must be made of"},
		{"a line break", "a\n", "must be made of"},
		{"invalid UTF-8", "a\xff", "must be made of"},
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
