//go:build migration

package migration

import (
	"os"
	"path/filepath"
	"strings"
)

// An expectation is a pattern of differences that a migration leaves, and the sentence about it in docs/from-unleash.md.
type expectation struct{ pattern, documented string }

// added are the values that Guidon stores when Unleash has none. They stay when the flags move back.
func added() []expectation {
	return []expectation{
		{`^/(flags|segments)/.*/constraints/\d+/(caseInsensitive|inverted): absent → false$`, "`caseInsensitive` and `inverted` of a constraint are false where they are left out"},
		{`^/(flags|segments)/.*/constraints/\d+/value: "[^"]*" → "(\d{4}-\d\d-\d\dT[\d:.]+Z|-?\d[\d.eE+-]*)"$`, "dates of constraints are in UTC with milliseconds"},
		{`^/flags/.*/variants/\d+/stickiness: absent → "default"$`, "the `stickiness` of a variant is `default` where it is left out"},
		{`^/flags/sparse/.*/parameters/(groupId|stickiness): absent → `, "a parameter of `flexibleRollout` that is left out is filled in"},
		{`^/tagTypes/[^/]+/(description|icon): "" → null$`, "a tag type's empty `description` or `icon` is null"},
		{`^/strategyTypes/gradualRollout(UserId|SessionId|Random)/`, "the built-in strategy types have descriptions of their own"},
	}
}

// served are the additional values in Guidon's responses. They do not move back.
func served() []expectation {
	return []expectation{
		{`^/flags/[^/]+/(enabled|strategies): absent → `, "reading a flag returns `enabled` and `strategies`"},
		{`^/strategyTypes/(default|flexibleRollout|userWithId|remoteAddress|applicationHostname)/`, "the built-in strategy types have descriptions of their own"},
	}
}

// checkDocumented checks that docs/from-unleash.md has the expected differences.
func (t *test) checkDocumented() {
	page, err := os.ReadFile(filepath.Join(t.root, "docs", "from-unleash.md"))
	t.must(err)
	for _, e := range append(added(), served()...) {
		if !strings.Contains(string(page), e.documented) {
			t.Errorf("docs/from-unleash.md lacks this sentence: %s", e.documented)
		}
	}
}
