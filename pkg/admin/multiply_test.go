package admin_test

import (
	"net/http"

	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const mega = 1 << 20

// filled is a body of about size bytes. It repeats the part of the template between < and >, separated by commas, until the body has
// that size. # is replaced by the number of the repetition.
func filled(size int, template string) string {
	before, rest, found := strings.Cut(template, "<")
	repeated, after, _ := strings.Cut(rest, ">")
	if !found {
		return template
	}
	var b strings.Builder
	b.WriteString(before)
	for i := 0; ; i++ {
		row := strings.ReplaceAll(repeated, "#", strconv.Itoa(i))
		if b.Len()+len(row)+len(after)+1 > size {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(row)
	}
	b.WriteString(after)
	return b.String()
}

// crowded fills the service with the objects that multiply the work of a request: 50 environments in the project "default", 100
// flags and one with variants in all environments, and 200 segments.
func crowded(t *testing.T, s *apitest.Server) subject {
	t.Helper()
	for i := range flags.DefaultLimits().Environments - 3 {
		name := fmt.Sprintf("e%d", i)
		s.Must(t, "POST", apitest.Environments, fmt.Sprintf(`{"name":%q,"type":"test"}`, name))
		s.Must(t, "POST", apitest.Project+"/environments", fmt.Sprintf(`{"environment":%q}`, name))
	}
	for i := range 100 {
		s.Create(t, fmt.Sprintf("flag-%d", i))
	}
	for i := range 200 {
		s.Must(t, "POST", "/api/admin/segments", fmt.Sprintf(`{"name":"segment-%d","constraints":[]}`, i))
	}
	return newSubject(t, s)
}

// multiplying returns the largest bodies that are valid JSON of the right types, for operations that do work for each element of
// a list, or for each pair of elements of two lists.
func multiplying(on subject) []sized {
	const (
		variant      = `{"name":"v#","weight":1}`
		wholeVariant = `{"name":"v#","weight":1,"weightType":"variable","stickiness":"default"}`
		constraint   = `{"contextName":"f#","operator":"IN","values":["a"]}`
		tag          = `{"type":"simple","value":"tag #"}`
		settings     = apitest.Project + "/environments/development"
	)
	var (
		all, batch     = on.fill(ofFlag("", "/variants"))[1:], on.fill(ofFlag("", "/variants-batch"))[1:]
		one            = on.fill(inEnvironment("", "/variants"))[1:]
		strategies     = on.fill(inEnvironment("", "/strategies"))[1:]
		tags, parents  = "/api/admin/features/" + on.flag + "/tags", on.fill(ofFlag("", "/dependencies"))[1:]
		many           = filled(1000, `{"features":[<"flag-#">],`)
		largePayload   = `{"name":"a","weight":1,"payload":{"type":"string","value":"` + strings.Repeat("x", mega-300) + `"}}`
		small, largest = 39_000, 4*mega - 300
	)
	return []sized{
		{"variants", "PUT", all, mega, "[<" + variant + ">]", 400},
		{"overrides", "PUT", all, mega, `[{"name":"a","weight":1,"overrides":[<{"contextName":"f#","values":[]}>]}]`, 400},
		{"values of overrides", "PUT", all, mega, `[{"name":"a","weight":1,"overrides":[{"contextName":"f","values":[<"#">]}]}]`, 400},
		{"empty values of overrides", "PUT", all, mega, `[{"name":"a","weight":1,"overrides":[{"contextName":"f","values":[<"">]}]}]`, 400},
		{"a large payload", "PUT", all, mega, "[" + largePayload + "]", 400},
		{"a patch of variants", "PATCH", all, small, `[<{"op":"add","path":"/-","value":` + variant + `}>]`, 400},
		{"a patch with one list of variants", "PATCH", all, mega, `[{"op":"add","path":"/-","value":[<` + variant + `>]}]`, 400},
		{"a patch that adds and removes", "PATCH", all, mega, `[{"op":"add","path":"/-","value":` + largePayload + `},{"op":"remove","path":"/1"}]`, 400},
		{"a patch with an unknown member", "PATCH", all, mega, `[{"op":"add","path":"/0/x","value":` + largePayload + `}]`, 400},
		{"a patch with unknown members", "PATCH", all, small, `[<{"op":"add","path":"/0/x#","value":1}>]`, 400},
		{"the largest patch that is applied", "PATCH", all, 60_000, `[{"op":"add","path":"/0/x","value":[<` + variant + `>]}]`, 200},
		{"variants in a batch", "PUT", batch, mega, `{"environments":["development","production","e1","e2","e3"],"variants":[<` + variant + `>]}`, 400},
		{"environments in a batch", "PUT", batch, mega, `{"environments":[<"e#">],"variants":[]}`, 400},
		{"one environment in a batch, again and again", "PUT", batch, mega, `{"environments":[<"e1">],"variants":[]}`, 400},
		{"variants of one environment", "PUT", one, mega, "[<" + variant + ">]", 400},
		{"a patch of one environment", "PATCH", one, small, `[<{"op":"add","path":"/-","value":` + variant + `}>]`, 400},
		{"variants of a strategy", "POST", strategies, mega, `{"name":"default","variants":[<` + wholeVariant + `>]}`, 400},
		{"constraints of a strategy", "POST", strategies, mega, `{"name":"default","constraints":[<` + constraint + `>]}`, 400},
		{"values of a constraint", "POST", strategies, mega, `{"name":"default","constraints":[{"contextName":"f","operator":"IN","values":[<"#">]}]}`, 400},
		{"segments of a strategy", "POST", strategies, mega, `{"name":"default","segments":[<#>]}`, 400},
		{"parameters of a strategy", "POST", strategies, mega, `{"name":"default","parameters":{<"p#":"#">}}`, 400},
		{"a patch of a strategy", "PATCH", strategies + "/" + on.strategy, small, `[<{"op":"add","path":"/variants/-","value":` + wholeVariant + `}>]`, 400},
		{"an order of strategies", "POST", strategies + "/set-sort-order", mega, `[<{"id":"#","sortOrder":#}>]`, 400},
		{"variants of a default strategy", "POST", settings + "/default-strategy", mega, `{"name":"default","variants":[<` + wholeVariant + `>]}`, 400},
		{"segments of a default strategy", "POST", settings + "/default-strategy", mega, `{"name":"default","segments":[<#>]}`, 400},
		{"a default strategy of an environment that is added", "POST", apitest.Project + "/environments", mega,
			`{"environment":"e1","defaultStrategy":{"name":"default","variants":[<` + wholeVariant + `>]}}`, 400},
		{"segments that are set", "POST", "/api/admin/segments/strategies", mega,
			`{"projectId":"default","environmentId":"development","strategyId":"` + on.strategy + `","segmentIds":[<#>]}`, 400},
		{"constraints of a segment", "POST", "/api/admin/segments", mega, `{"name":"s","constraints":[<` + constraint + `>]}`, 400},
		{"flags to switch", "POST", apitest.BulkEnvironment("development") + "/on", mega, `{"features":[<"f#">]}`, 400},
		{"one flag to switch, again and again", "POST", apitest.BulkEnvironment("development") + "/off", mega, `{"features":[<"flag-1">]}`, 400},
		{"flags to archive", "POST", apitest.Project + "/archive", mega, `{"features":[<"f#">]}`, 400},
		{"flags to validate", "POST", apitest.Project + "/archive/validate", mega, `{"features":[<"f#">]}`, 400},
		{"flags to move", "POST", apitest.Project + "/changeProject", mega, `{"newProjectId":"default","features":[<"f#">]}`, 400},
		{"tags of many flags", "PUT", apitest.Project + "/tags", mega, many + `"tags":{"addedTags":[<` + tag + `>],"removedTags":[]}}`, 400},
		{"tags that many flags lose", "PUT", apitest.Project + "/tags", mega, many + `"tags":{"addedTags":[],"removedTags":[<` + tag + `>]}}`, 400},
		{"tags", "PUT", tags, mega, `{"addedTags":[<` + tag + `>],"removedTags":[]}`, 400},
		{"tags that a flag loses", "PUT", tags, mega, `{"addedTags":[],"removedTags":[<` + tag + `>]}`, 400},
		{"an order of environments", "PUT", apitest.Environments + "/sort-order", mega, `{<"e#":#>}`, 400},
		{"environments of a project", "POST", apitest.Projects, mega, `{"id":"p","environments":[<"e#">]}`, 400},
		{"one environment of a project, again and again", "POST", apitest.Projects, mega, `{"id":"p","environments":[<"e1">]}`, 400},
		{"links of a project", "PUT", apitest.Project + "/settings", mega, `{"linkTemplates":[<{"urlTemplate":"http://#"}>]}`, 400},
		{"legal values", "POST", "/api/admin/context", mega, `{"name":"f","legalValues":[<{"value":"#"}>]}`, 400},
		{"roles and users", "PUT", apitest.Project + "/access", mega, `{"roles":[<{"id":4,"users":[#]}>]}`, 400},
		{"permissions of a role", "POST", apitest.Roles, mega, `{"name":"r","permissions":[<{"name":"CREATE_FEATURE","environment":"e#"}>]}`, 400},
		{"projects of a token", "POST", "/api/admin/api-tokens", mega, `{"tokenName":"t","type":"client","projects":[<"p#">]}`, 400},
		{"parameters of a strategy type", "POST", "/api/admin/strategies", mega, `{"name":"x","parameters":[<{"name":"p#","type":"string"}>]}`, 400},
		{"variants of a parent", "POST", parents, mega, `{"feature":"flag-1","variants":[<"v#">]}`, 400},
		{"flags to export", "POST", apitest.Export, mega, `{"environment":"development","features":[<"f#">]}`, 400},
		{"flags to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[<{"name":"f#"}>]`), 400},
		{"strategies to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[{"name":"a"}],"featureStrategies":[<{"featureName":"a","name":"default"}>]`), 200},
		{"variants to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[{"name":"a"}],"featureEnvironments":[{"featureName":"a","variants":[<` + variant + `>]}]`), 200},
		{"tags to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[{"name":"a"}],"featureTags":[<{"featureName":"a","tagType":"simple","tagValue":"tag #"}>]`), 200},
		{"parents to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[<{"feature":"flag-1","variants":["v#"]}>]}]`), 200},
		{"segments to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[],"segments":[<{"id":#,"name":"s#","constraints":[]}>]`), 400},
		{"constraints to import", "POST", apitest.Import, largest, apitest.ImportOf(`"features":[],"segments":[{"id":1,"name":"s","constraints":[<` + constraint + `>]}]`), 200},
		{"strategies to validate", "POST", apitest.ValidateImport, largest, apitest.ImportOf(`"features":[{"name":"a"}],"featureStrategies":[<{"featureName":"a","name":"default"}>]`), 200},
		{"flags and segments to validate", "POST", apitest.ValidateImport, mega, filled(mega, apitest.ImportOf(filled(150_000, `"features":[<{"name":"f#"}>]`)+
			filled(40_000, `,"segments":[<{"id":#,"name":"segment-#","constraints":[]}>]`)+`,"featureStrategies":[<{"featureName":"f#","name":"default","segments":[7]}>]`)), 200},
	}
}

// A sized is a call with a body that is filled to a size.
type sized struct {
	name, method, path string
	size               int
	template           string
	status             int
}

func (s sized) call() apitest.Call {
	return apitest.Call{Name: s.name, Method: s.method, Path: s.path, Body: filled(s.size, s.template), Status: s.status}
}

// TestMultipliedBodies sends the largest bodies to operations that do work for each element of a list, in a crowded service. A
// refused request may take at most maxMemory for each megabyte of the body.
func TestMultipliedBodies(t *testing.T) {
	s := apitest.Serve(t, func(config *httpapi.Config, _ *http.RoundTripper) { config.Twice = nil }) // measures what production takes
	on := crowded(t, s)
	apitest.Direct(s.Handler, "GET", apitest.Features, "") // records the use of the token, which happens once an hour
	for _, of := range multiplying(on) {
		c := of.call()
		started := time.Now()
		cost, got := allocated(s, c)
		took := time.Since(started)
		if got.Status != c.Status {
			t.Errorf("%s: %d %.300s, want %d", c.Name, got.Status, got.Body, c.Status)
		}
		allowed := maxMemory * max(1, (len(c.Body)+mega-1)/mega)
		if c.Status < 300 { // the request is carried out, for up to thousands of flags
			allowed *= 2
		}
		if cost > allowed {
			t.Errorf("%s: %d KB were allocated in %v, want at most %d", c.Name, cost>>10, took.Round(time.Millisecond), allowed>>10)
		}
		t.Logf("%s: a body of %d KB took %d KB and %v", c.Name, len(c.Body)>>10, cost>>10, took.Round(time.Millisecond))
	}
}
