package flags

import (
	"regexp"
	"testing"
)

// TestNamePattern compares the pattern with CheckName on all texts of up to four relevant characters.
func TestNamePattern(t *testing.T) {
	pattern := regexp.MustCompile(NamePattern)
	const alphabet = "aZ09._~- /é\n"
	texts := []string{""}
	for range 4 {
		for _, text := range texts {
			for _, c := range alphabet {
				texts = append(texts, text+string(c))
			}
		}
		if len(texts) > 50_000 {
			break
		}
	}
	for _, text := range texts {
		if fault := CheckName(text); pattern.MatchString(text) != (fault == "") {
			t.Errorf("%q: the pattern says %t, CheckName %q", text, pattern.MatchString(text), fault)
		}
	}
}
