package main

import (
	"os"
	"path/filepath"
	"strings"
)

// An expectation is a difference that stays: which ones those are, and the words of docs/from-unleash.md about it.
type expectation struct{ pattern, documented string }

// added is what Guidon writes out where Unleash leaves it out. It comes back to Unleash so.
func added() []expectation {
	return []expectation{
		{`^/(flags|segments)/.*/constraints/\d+/(caseInsensitive|inverted): absent → false$`, "`caseInsensitive` and `inverted` of a constraint are false where they are left out"},
		{`^/flags/.*/variants/\d+/stickiness: absent → "default"$`, "the `stickiness` of a variant is `default` where it is left out"},
		{`^/flags/sparse/.*/parameters/(groupId|stickiness): absent → `, "a parameter of `flexibleRollout` that is left out is filled in"},
		{`^/tagTypes/[^/]+/(description|icon): "" → null$`, "a tag type's empty `description` or `icon` is null"},
	}
}

// served is what Guidon answers with besides. It does not come to Unleash.
func served() []expectation {
	return []expectation{
		{`^/flags/[^/]+/(enabled|strategies): absent → `, "the read of a flag has `enabled` and `strategies`"},
		{`^/strategyTypes/(default|flexibleRollout|userWithId|remoteAddress|applicationHostname)/`, "the built-in strategy types have descriptions of their own"},
	}
}

// checkDocumented checks that the page for people says what is expected here.
func (s *stage) checkDocumented() error {
	page, err := os.ReadFile(filepath.Join(s.root, "docs", "from-unleash.md"))
	if err != nil {
		return err
	}
	for _, e := range append(added(), served()...) {
		if !strings.Contains(string(page), e.documented) {
			s.fault("docs/from-unleash.md does not say: %s", e.documented)
		}
	}
	return nil
}
