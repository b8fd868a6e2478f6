package main

import (
	"strings"
	"testing"
)

// TestOpenFeatureCheck checks the names of flags against what the generators of the OpenFeature CLI make of them.
func TestOpenFeatureCheck(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"generated","name":"Generated"}`)
	const check = "openfeature check --project generated"
	if r := guidon(t, check); r.code != exitOK || !strings.Contains(r.messages, "all 0 flags") {
		t.Errorf("without flags: exit code %d, %q", r.code, r.messages)
	}
	for _, name := range []string{"gen-flag", "gen2", "gen-other.flag"} {
		createFlag(t, "generated", name)
	}
	if list := decode[[]badName](t, check); len(list) != 0 {
		t.Errorf("good names: %v", list)
	}
	for _, name := range []string{"gen_flag", "GEN-2", "2gen", "gen~tilde", "gen-flag-details"} {
		createFlag(t, "generated", name)
	}
	r := guidon(t, check)
	if r.code != exitFailed || strings.Contains(r.out, "gen-other") {
		t.Errorf("exit code %d, %s", r.code, r.out)
	}
	hasLines(t, r.out, `NAME +PROBLEM`, `gen_flag +becomes GenFlag, as gen-flag does`, `2gen +does not become an identifier.*`,
		`gen~tilde +does not become an identifier.*`, `gen-flag-details +becomes genFlagDetails, as gen-flag does`, `gen2 +becomes Gen2, as GEN-2 does`)
}
