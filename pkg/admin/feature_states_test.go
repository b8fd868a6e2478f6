package admin_test

import (
	"slices"
	"testing"

	"guidon/pkg/flags"
)

// TestEnableAndDisable checks the contract's section "States and transitions" for a flag in an environment.
func TestEnableAndDisable(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "bare", "disabled")
	id := s.strategy(t, "f", `{"name":"default"}`)
	s.must(t, "POST", in("f", "production")+"/strategies", `{"name":"default"}`)
	s.strategy(t, "disabled", `{"name":"default","disabled":true}`)
	dev, prod := in("f", "development"), in("f", "production")
	with := func(environment string, others ...string) string {
		return place("f", environment, append([]string{`"hasStrategies":true`, `"hasEnabledStrategies":true`, `"strategies":[` + strategy("f") + `]`}, others...)...)
	}
	both := func(development, production, flag string) string {
		return record("f", []string{with("development", development), with("production", production)}, flag)
	}
	const on, off = `"enabled":true`, `"enabled":false`
	s.run(t, []call{
		{"enable it", "POST", dev + "/on", "", 200, both(on, off, on)},
		{"enable it again", "POST", dev + "/on", "", 200, both(on, off, on)},
		{"enabled is the state of the environment in the request", "POST", prod + "/off", "", 200, both(on, off, off)},
		{"enabled of a flag is true if any environment is enabled", "GET", features + "/f", "", 200, both(on, off, on)},
		{"enable it in production", "POST", prod + "/on", "", 200, both(on, on, on)},
		{"disable it in development", "POST", dev + "/off", "", 200, both(off, on, off)},
		{"disable it again", "POST", dev + "/off", "", 200, both(off, on, off)},
		{"disable it with a body, which is ignored", "POST", prod + "/off", "{}", 200, both(off, off, off)},
		{"enable it with a disabled strategy only", "POST", in("disabled", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
		{"disable it without strategies", "POST", in("bare", "development") + "/off", "", 200, `{"...":0,"enabled":false}`},
	})
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureStrategyAdd, flags.FeatureStrategyAdd, flags.FeatureEnvironmentEnabled,
		flags.FeatureEnvironmentEnabled, flags.FeatureEnvironmentDisabled, flags.FeatureEnvironmentDisabled,
	}
	if got := s.events(t, "f"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: no event without a change", got, want)
	}
	s.unchanged(t, "bare", []call{
		{"enable it without strategies", "POST", in("bare", "development") + "/on", "", 409, failure("ConflictError", "no strategies")},
		{"enable it in an unknown environment", "POST", in("bare", "nosuch") + "/on", "", 404, notFound(`"nosuch"`)},
		{"enable it in an environment that the project does not have", "POST", in("bare", "default") + "/on", "", 404, notFound(`"default"`)},
		{"enable an unknown flag", "POST", in("nosuch", "development") + "/on", "", 404, notFound(`"nosuch"`)},
		{"disable it in an unknown environment", "POST", in("bare", "nosuch") + "/off", "", 404, notFound(`"nosuch"`)},
		{"disable an unknown flag", "POST", in("nosuch", "development") + "/off", "", 404, notFound(`"nosuch"`)},
	})
	s.must(t, "POST", dev+"/on", "")
	s.must(t, "DELETE", dev+"/strategies/"+id, "")
	s.run(t, []call{{"the last strategy was removed", "GET", dev, "", 200, place("f", "development")},
		{"enable it without strategies", "POST", dev + "/on", "", 409, failure("ConflictError", "no strategies")}})
}

func TestArchiveAndRevive(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.enabled(t, "f")
	s.must(t, "PUT", features+"/f", `{"description":"long","stale":true}`)
	f, revive, list := features+"/f", "/api/admin/archive/revive/f", "/api/admin/archive/features/default"
	archived := `{"name":"f","type":"release","description":"long","project":"default","stale":true,"impressionData":false,
		"createdAt":"<time>","lastSeenAt":null,"archived":true,"archivedAt":"<time>","environments":[` + row("development", `"hasStrategies":true`, `"hasEnabledStrategies":true`) + `,` + row("production") + `],
		"wasEnabledIn":["development"]}`
	s.run(t, []call{
		{"an empty archive", "GET", list, "", 200, `{"version":2,"features":[]}`},
		{"archive", "DELETE", f, "", 202, ""},
		{"archive it again", "DELETE", f, "", 202, ""},
		{"list the archive", "GET", list, "", 200, `{"version":2,"features":[` + archived + `]}`},
		{"the list does not have it", "GET", features, "", 200, `{"version":2,"features":[]}`},
		{"the project does not show it", "GET", project, "", 200, `{"...":0,"features":[],"health":100}`},
		{"it cannot be read", "GET", f, "", 404, notFound("archived")},
		{"it cannot be deleted", "DELETE", "/api/admin/archive/f", "", 404, notFound("never erased, and their names stay taken")},
		{"its name is still taken", "POST", features, `{"name":"f"}`, 409, failure("NameExistsError", "archived")},
		{"revive", "POST", revive, "", 200, ""},
		{"revive it again", "POST", revive, "", 200, ""},
		{"it is disabled and keeps its strategy", "GET", f, "", 200, record("f", []string{
			place("f", "development", `"hasStrategies":true`, `"hasEnabledStrategies":true`, `"strategies":[`+strategy("f")+`]`), place("f", "production"),
		}, `"description":"long"`, `"stale":true`)},
		{"the list has it", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"name":"f"}]}`},
		{"the archive does not have it", "GET", list, "", 200, `{"version":2,"features":[]}`},
		{"enable the revived flag", "POST", in("f", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
		{"archive an unknown flag", "DELETE", features + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"archive it through an unknown project", "DELETE", "/api/admin/projects/nosuch/features/f", "", 404, notFound(`"nosuch"`)},
		{"revive an unknown flag", "POST", "/api/admin/archive/revive/nosuch", "", 404, notFound(`"nosuch"`)},
		{"the archive of an unknown project", "GET", "/api/admin/archive/features/nosuch", "", 404, notFound(`"nosuch"`)},
	})
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureStrategyAdd, flags.FeatureEnvironmentEnabled, flags.FeatureStaleOn, flags.FeatureMetadataUpdated,
		flags.FeatureArchived, flags.FeatureRevived, flags.FeatureEnvironmentEnabled,
	}
	if got := s.events(t, "f"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestCloneFeature(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "source", "taken", "gone")
	id := s.strategy(t, "source", `{"name":"flexibleRollout","title":"mine","parameters":{"rollout":50},"constraints":[{"contextName":"c","operator":"IN","values":["x"]}],
		"variants":[{"name":"sv","weight":1,"weightType":"variable","stickiness":"random"}]}`)
	s.strategy(t, "source", `{"name":"flexibleRollout","parameters":{"groupId":"group"}}`)
	s.must(t, "POST", in("source", "development")+"/on", "")
	s.must(t, "PUT", in("source", "production")+"/variants", `[{"name":"v","weight":1,"payload":{"type":"string","value":"p"}}]`)
	s.must(t, "PUT", features+"/source", `{"type":"experiment","description":"d","stale":true,"impressionData":true}`)
	s.must(t, "DELETE", features+"/gone", "")

	source, variants := features+"/source", `[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"p"}}]`
	metadata := []string{`"type":"experiment"`, `"description":"d"`, `"stale":true`, `"impressionData":true`}
	strategies := func(flag, group string) string {
		return `[` + strategy(flag, `"name":"flexibleRollout"`, `"title":"mine"`, `"parameters":{"rollout":"50","stickiness":"default","groupId":"`+group+`"}`,
			`"constraints":[{"contextName":"c","operator":"IN","values":["x"],"inverted":false,"caseInsensitive":false}]`,
			`"variants":[{"name":"sv","weight":1000,"weightType":"variable","stickiness":"random"}]`) + `,` +
			strategy(flag, `"name":"flexibleRollout"`, `"sortOrder":1`, `"parameters":{"rollout":"100","stickiness":"default","groupId":"group"}`) + `]`
	}
	was := s.must(t, "GET", source, "").body
	s.run(t, []call{
		{"clone a flag with variants", "POST", source + "/clone", `{"name":"clone"}`, 201, subset("clone", append(metadata, `"variants":`+variants)...)},
		{"read the clone", "GET", features + "/clone", "", 200, record("clone", []string{
			place("clone", "development", `"hasStrategies":true`, `"hasEnabledStrategies":true`, `"strategies":`+strategies("clone", "clone")),
			place("clone", "production", `"variantCount":1`, `"variants":`+variants),
		}, append(metadata, `"variants":`+variants)...)},
		{"its strategies have new ids", "GET", in("clone", "development") + "/strategies/" + id, "", 404, notFound(id)},
		{"clone without replacing group ids", "POST", source + "/clone", `{"name":"kept","replaceGroupId":false}`, 201, anything},
		{"group ids are unchanged", "GET", in("kept", "development") + "/strategies", "", 200, strategies("kept", "source")},
		{"clone a flag without variants", "POST", features + "/taken/clone", `{"name":"plain","nosuch":1}`, 201, subset("plain", `"variants":[]`)},
		{"the list has the clones immediately", "GET", features, "", 200, `{"...":0,"features":[{"...":0,"name":"clone"},{"...":0,"name":"kept"},{"...":0,"name":"plain"},{"...":0,"name":"source"},{"...":0,"name":"taken"}]}`},
		{"the source is unchanged", "GET", source, "", 200, was},
		{"to a taken name", "POST", source + "/clone", `{"name":"taken"}`, 409, failure("NameExistsError", `"taken"`)},
		{"to an archived name", "POST", source + "/clone", `{"name":"gone"}`, 409, failure("NameExistsError", `"gone"`)},
		{"to its own name", "POST", source + "/clone", `{"name":"source"}`, 409, failure("NameExistsError", `"source"`)},
		{"of an archived flag", "POST", features + "/gone/clone", `{"name":"x"}`, 404, notFound("archived")},
		{"of an unknown flag", "POST", features + "/nosuch/clone", `{"name":"x"}`, 404, notFound(`"nosuch"`)},
		{"without a name", "POST", source + "/clone", `{}`, 400, invalid("/name")},
		{"to an invalid name", "POST", source + "/clone", `{"name":"a/b"}`, 400, invalid("/name")},
		{"the source is still unchanged", "GET", source, "", 200, was},
	})
	if got := s.events(t, "clone"); !slices.Equal(got, []flags.EventType{flags.FeatureCreated}) {
		t.Errorf("events of the clone %q, want only its creation", got)
	}
}
