package features_test

import (
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// TestEnableAndDisable checks the contract's section "States and transitions" for a flag in an environment.
func TestEnableAndDisable(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "bare", "disabled")
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	s.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default"}`)
	s.AddStrategy(t, "disabled", `{"name":"default","disabled":true}`)
	dev, prod := apitest.In("f", "development"), apitest.In("f", "production")
	with := func(environment string, others ...string) string {
		return place("f", environment, append([]string{`"hasStrategies":true`, `"hasEnabledStrategies":true`, `"strategies":[` + apitest.Strategy("f") + `]`}, others...)...)
	}
	both := func(development, production, flag string) string {
		return apitest.Record("f", []string{with("development", development), with("production", production)}, flag)
	}
	const on, off = `"enabled":true`, `"enabled":false`
	s.Run(t, []apitest.Call{
		{"enable it", "POST", dev + "/on", "", 200, both(on, off, on)},
		{"enable it again", "POST", dev + "/on", "", 200, both(on, off, on)},
		{"enabled is the state of the environment in the request", "POST", prod + "/off", "", 200, both(on, off, off)},
		{"enabled of a flag is true if any environment is enabled", "GET", apitest.Features + "/f", "", 200, both(on, off, on)},
		{"enable it in production", "POST", prod + "/on", "", 200, both(on, on, on)},
		{"disable it in development", "POST", dev + "/off", "", 200, both(off, on, off)},
		{"disable it again", "POST", dev + "/off", "", 200, both(off, on, off)},
		{"disable it with a body, which is ignored", "POST", prod + "/off", "{}", 200, both(off, off, off)},
		{"enable it with a disabled strategy only", "POST", apitest.In("disabled", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
		{"disable it without strategies", "POST", apitest.In("bare", "development") + "/off", "", 200, `{"...":0,"enabled":false}`},
	})
	s.WantHistory(t, "f",
		flags.FeatureCreated, flags.FeatureStrategyAdd, flags.FeatureStrategyAdd, flags.FeatureEnvironmentEnabled,
		flags.FeatureEnvironmentEnabled, flags.FeatureEnvironmentDisabled, flags.FeatureEnvironmentDisabled)
	s.Unchanged(t, "bare", []apitest.Call{
		{"enable it without strategies", "POST", apitest.In("bare", "development") + "/on", "", 409, apitest.Failure("ConflictError", "no strategies")},
	})
	s.Must(t, "POST", dev+"/on", "")
	s.Must(t, "DELETE", dev+"/strategies/"+id, "")
	s.Run(t, []apitest.Call{{"the last strategy was removed", "GET", dev, "", 200, place("f", "development")},
		{"enable it without strategies", "POST", dev + "/on", "", 409, apitest.Failure("ConflictError", "no strategies")}})
}

func TestArchiveAndRevive(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f")
	s.Must(t, "PUT", apitest.Features+"/f", `{"description":"long","stale":true}`)
	f, revive, list := apitest.Features+"/f", "/api/admin/archive/revive/f", "/api/admin/archive/features/default"
	archived := `{"name":"f","type":"release","description":"long","project":"default","stale":true,"impressionData":false,
		"createdAt":"<time>","lastSeenAt":null,"archived":true,"archivedAt":"<time>","environments":[` + apitest.Row("development", `"hasStrategies":true`, `"hasEnabledStrategies":true`) + `,` + apitest.Row("production") + `],
		"wasEnabledIn":["development"]}`
	s.Run(t, []apitest.Call{
		{"an empty archive", "GET", list, "", 200, `{"version":2,"features":[]}`},
		{"archive", "DELETE", f, "", 202, ""},
		{"archive it again", "DELETE", f, "", 202, ""},
		{"list the archive", "GET", list, "", 200, `{"version":2,"features":[` + archived + `]}`},
		{"the list does not have it", "GET", apitest.Features, "", 200, `{"version":2,"features":[]}`},
		{"the project does not show it", "GET", apitest.Project, "", 200, `{"...":0,"features":[],"health":100}`},
		{"it cannot be read", "GET", f, "", 404, apitest.NotFound("archived")},
		{"it cannot be deleted", "DELETE", "/api/admin/archive/f", "", 404, apitest.NotFound("never erased, and their names stay taken")},
		{"its name is still taken", "POST", apitest.Features, `{"name":"f"}`, 409, apitest.Failure("NameExistsError", "archived")},
		{"revive", "POST", revive, "", 200, ""},
		{"revive it again", "POST", revive, "", 200, ""},
		{"it is disabled and keeps its strategy", "GET", f, "", 200, apitest.Record("f", []string{
			place("f", "development", `"hasStrategies":true`, `"hasEnabledStrategies":true`, `"strategies":[`+apitest.Strategy("f")+`]`), place("f", "production"),
		}, `"description":"long"`, `"stale":true`)},
		{"the list has it", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"name":"f"}]}`},
		{"the archive does not have it", "GET", list, "", 200, `{"version":2,"features":[]}`},
		{"enable the revived flag", "POST", apitest.In("f", "development") + "/on", "", 200, `{"...":0,"enabled":true}`},
	})
	s.WantHistory(t, "f",
		flags.FeatureCreated, flags.FeatureStrategyAdd, flags.FeatureEnvironmentEnabled, flags.FeatureStaleOn, flags.FeatureMetadataUpdated,
		flags.FeatureArchived, flags.FeatureRevived, flags.FeatureEnvironmentEnabled)
}

func TestCloneFeature(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "source", "taken", "gone")
	id := s.AddStrategy(t, "source", `{"name":"flexibleRollout","title":"mine","parameters":{"rollout":50},"constraints":[{"contextName":"c","operator":"IN","values":["x"]}],
		"variants":[{"name":"sv","weight":1,"weightType":"variable","stickiness":"random"}]}`)
	s.AddStrategy(t, "source", `{"name":"flexibleRollout","parameters":{"groupId":"group"}}`)
	s.Must(t, "POST", apitest.In("source", "development")+"/on", "")
	s.Must(t, "PUT", apitest.In("source", "production")+"/variants", `[{"name":"v","weight":1,"payload":{"type":"string","value":"p"}}]`)
	s.Must(t, "PUT", apitest.Features+"/source", `{"type":"experiment","description":"d","stale":true,"impressionData":true}`)
	s.Must(t, "DELETE", apitest.Features+"/gone", "")

	source, variants := apitest.Features+"/source", `[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"p"}}]`
	metadata := []string{`"type":"experiment"`, `"description":"d"`, `"stale":true`, `"impressionData":true`}
	strategies := func(flag, group string) string {
		return `[` + apitest.Strategy(flag, `"name":"flexibleRollout"`, `"title":"mine"`, `"parameters":{"rollout":"50","stickiness":"default","groupId":"`+group+`"}`,
			`"constraints":[{"contextName":"c","operator":"IN","values":["x"],"inverted":false,"caseInsensitive":false}]`,
			`"variants":[{"name":"sv","weight":1000,"weightType":"variable","stickiness":"random"}]`) + `,` +
			apitest.Strategy(flag, `"name":"flexibleRollout"`, `"sortOrder":1`, `"parameters":{"rollout":"100","stickiness":"default","groupId":"group"}`) + `]`
	}
	was := s.Must(t, "GET", source, "").Body
	s.Run(t, []apitest.Call{
		{"clone a flag with variants", "POST", source + "/clone", `{"name":"clone"}`, 201, apitest.Created("clone", append(metadata, `"variants":`+variants)...)},
		{"read the clone", "GET", apitest.Features + "/clone", "", 200, apitest.Record("clone", []string{
			place("clone", "development", `"hasStrategies":true`, `"hasEnabledStrategies":true`, `"strategies":`+strategies("clone", "clone")),
			place("clone", "production", `"variantCount":1`, `"variants":`+variants),
		}, append(metadata, `"variants":`+variants)...)},
		{"its strategies have new ids", "GET", apitest.In("clone", "development") + "/strategies/" + id, "", 404, apitest.NotFound(id)},
		{"clone without replacing group ids", "POST", source + "/clone", `{"name":"kept","replaceGroupId":false}`, 201, apitest.Anything},
		{"group ids are unchanged", "GET", apitest.In("kept", "development") + "/strategies", "", 200, strategies("kept", "source")},
		{"clone a flag without variants", "POST", apitest.Features + "/taken/clone", `{"name":"plain","nosuch":1}`, 201, apitest.Created("plain", `"variants":[]`)},
		{"the list has the clones immediately", "GET", apitest.Features, "", 200, `{"...":0,"features":[{"...":0,"name":"clone"},{"...":0,"name":"kept"},{"...":0,"name":"plain"},{"...":0,"name":"source"},{"...":0,"name":"taken"}]}`},
		{"the source is unchanged", "GET", source, "", 200, was},
		{"to a taken name", "POST", source + "/clone", `{"name":"taken"}`, 409, apitest.Failure("NameExistsError", `"taken"`)},
		{"to an archived name", "POST", source + "/clone", `{"name":"gone"}`, 409, apitest.Failure("NameExistsError", `"gone"`)},
		{"to its own name", "POST", source + "/clone", `{"name":"source"}`, 409, apitest.Failure("NameExistsError", `"source"`)},
		{"without a name", "POST", source + "/clone", `{}`, 400, apitest.Invalid("/name")},
		{"to an invalid name", "POST", source + "/clone", `{"name":"a/b"}`, 400, apitest.Invalid("/name")},
		{"the source is still unchanged", "GET", source, "", 200, was},
	})
	s.WantHistory(t, "clone", flags.FeatureCreated)
}
