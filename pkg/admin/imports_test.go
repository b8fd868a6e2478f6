package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/httpapi"
)

const validateImport = "/api/admin/features-batch/validate"

// importOf is an import into development of the project "default", with the given lists as data.
func importOf(lists ...string) string {
	return `{"project":"default","environment":"development","data":{` + strings.Join(lists, ",") + `}}`
}

// reportOf is a validation result. errors and warnings have the names of each finding, separated by commas; "" for none.
func reportOf(errors, warnings string) string {
	list := func(all string) string {
		var findings []string
		for names := range strings.FieldsSeq(all) {
			affected, _ := json.Marshal(strings.Split(names, ","))
			findings = append(findings, fmt.Sprintf(`{"message":"<any>","affectedItems":%s}`, affected))
		}
		return "[" + strings.Join(findings, ",") + "]"
	}
	return fmt.Sprintf(`{"...":0,"errors":%s,"warnings":%s,"permissions":[]}`, list(errors), list(warnings))
}

func TestValidateImport(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "kept", "old")
	s.must(t, "DELETE", features+"/old", "")
	s.must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	s.must(t, "POST", "/api/admin/projects/other/features", `{"name":"elsewhere"}`)
	const flags = `"features":[{"name":"new"}]`
	s.run(t, []call{
		{"no data", "POST", validateImport, importOf(`"features":[]`), 200, reportOf("", "")},
		{"a new flag", "POST", validateImport, importOf(flags), 200, reportOf("", "")},
		{"errors", "POST", validateImport, importOf(`"features":[{"name":"elsewhere"},{"name":"new"}]`,
			`"dependencies":[{"feature":"new","dependencies":[{"feature":"gone","enabled":true,"variants":["v"]}]}]`,
			`"segments":[{"id":1,"name":"beta"}]`, `"featureStrategies":[{"featureName":"new","name":"default","segments":[1,2]}]`), 200,
			reportOf("elsewhere beta,2 gone", "")},
		{"warnings", "POST", validateImport, importOf(`"features":[{"name":"old"},{"name":"kept"}]`,
			`"featureStrategies":[{"featureName":"kept","name":"mine"}]`, `"tagTypes":[{"name":"team","description":null,"icon":null}]`,
			`"featureTags":[{"featureName":"kept","tagType":"owner","tagValue":"me"}]`, `"contextFields":[{"name":"country"},{"name":"userId"}]`), 200,
			reportOf("", "kept team,owner country old mine")},
		{"an export of Unleash", "POST", validateImport, importOf(
			`"features":[{"name":"new","description":null,"type":"release","project":"elsewhere","stale":false,"impressionData":false,"archived":false,"createdAt":"2026-01-01T00:00:00.000Z"}]`,
			`"featureStrategies":[{"name":"flexibleRollout","id":"x","featureName":"new","title":null,"parameters":{"rollout":"50"},"constraints":[{"values":["1"],"operator":"IN","contextName":"userId"}],"variants":[],"disabled":false,"segments":[]}]`,
			`"featureEnvironments":[{"enabled":false,"featureName":"new","environment":"nosuch","variants":[{"name":"v","weight":1000,"stickiness":"default","weightType":"variable"}],"name":"new"}]`,
			`"contextFields":[{"name":"userId","description":"who","stickiness":false,"sortOrder":1,"legalValues":[{"value":"a","description":"b"}]}]`,
			`"featureTags":[]`, `"segments":[]`, `"tagTypes":[]`, `"dependencies":[]`), 200, reportOf("", "")},

		{"an unknown project", "POST", validateImport, strings.Replace(importOf(flags), `"default"`, `"nosuch"`, 1), 404, notFound(`"nosuch"`)},
		{"an unknown environment", "POST", validateImport, strings.Replace(importOf(flags), "development", "nosuch", 1), 404, notFound(`"nosuch"`)},
		{"an environment that the project does not have", "POST", validateImport, strings.Replace(importOf(flags), "development", "default", 1), 404, notFound(`"default"`)},

		{"an empty body", "POST", validateImport, `{}`, 400, invalid("/project", "/environment", "/data")},
		{"no flags", "POST", validateImport, importOf(), 400, invalid("/data/features")},
		{"null flags", "POST", validateImport, importOf(`"features":null`), 400, invalid("/data/features")},
		{"invalid names", "POST", validateImport, importOf(`"features":[{"name":"a b"},{}]`), 400, invalid("/data/features/0/name", "/data/features/1/name")},
		{"an unknown type", "POST", validateImport, importOf(`"features":[{"name":"a","type":"nosuch"}]`), 400, invalid("/data/features/0/type")},
		{"a field of the wrong type", "POST", validateImport, importOf(`"features":[{"name":"a","stale":"yes"}]`), 400, invalid("/data/features/0/stale")},
		{"missing fields", "POST", validateImport, importOf(flags, `"featureStrategies":[{}]`, `"featureEnvironments":[{}]`, `"contextFields":[{}]`,
			`"featureTags":[{}]`, `"segments":[{}]`, `"tagTypes":[{}]`, `"dependencies":[{"dependencies":[{}]}]`), 400,
			invalid("/data/featureStrategies/0/featureName", "/data/featureStrategies/0/name", "/data/featureEnvironments/0/featureName",
				"/data/contextFields/0/name", "/data/featureTags/0/featureName", "/data/featureTags/0/tagType", "/data/featureTags/0/tagValue",
				"/data/segments/0/name", "/data/tagTypes/0/name", "/data/dependencies/0/feature", "/data/dependencies/0/dependencies/0/feature")},
	})
	if got := s.do(t, "GET", features, "").body; strings.Contains(got, `"new"`) {
		t.Errorf("%s: want nothing created by a validation", got)
	}
}

// TestValidateLargeImport counts the DynamoDB calls for many flags, and checks the limits of the data.
func TestValidateLargeImport(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.create(t, "flag-3", "flag-999")
	many := func(n, padding int) string {
		var features, strategies, tags []string
		for i := range n {
			features = append(features, fmt.Sprintf(`{"name":"flag-%d","description":%q}`, i, strings.Repeat("x", padding)))
			strategies = append(strategies, fmt.Sprintf(`{"featureName":"flag-%d","name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["a"]}]}`, i))
			tags = append(tags, fmt.Sprintf(`{"featureName":"flag-%d","tagType":"team-%d","tagValue":"me"}`, i, i%3))
		}
		list := func(name string, items []string) string { return `"` + name + `":[` + strings.Join(items, ",") + `]` }
		return importOf(list("features", features), list("featureStrategies", strategies), list("featureTags", tags))
	}
	calls := count.during(func() {
		s.check(t, call{"1,000 flags", "POST", validateImport, many(1000, 0), 200, reportOf("", "flag-3,flag-999 team-0,team-1,team-2")})
	})
	if len(calls) != 12 { // the token, and 1,000 flags and their project in hundreds; data without segments lists none
		t.Errorf("%d calls %v, want 12", len(calls), calls)
	}
	s.check(t, call{"more than 1 MiB", "POST", validateImport, many(1000, 3000), 200, anything})
	s.check(t, call{"more than 4 MiB", "POST", validateImport, many(1000, 5000), 413, failure("PayloadTooLargeError", "4 MiB")})
	s.check(t, call{"10,000 flags", "POST", validateImport, many(10_000, 0), 200, anything})
	others := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"name":"team-%d"}`, i)
		}
		return importOf(`"features":[]`, `"tagTypes":[`+strings.Join(list, ",")+`]`)
	}
	s.check(t, call{"1,000 tag types", "POST", validateImport, others(1000), 200, anything})
	s.check(t, call{"1,001 tag types", "POST", validateImport, others(1001), 400, invalid("/data")})
	s.check(t, call{"more than 10,000 flags", "POST", validateImport, many(10_001, 0), 400, invalid("/data")})
}

// TestImportTellsSkips imports into a guarded environment: as an administrator, who skips its change requests, and as someone who may not.
func TestImportTellsSkips(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.review(t)
	owner := s.owner(t, "")
	const data = `{"project":"default","environment":"production","data":{"features":[{"name":"on"},{"name":"off"}],` +
		`"featureStrategies":[{"featureName":"on","name":"default"}],"featureEnvironments":[{"featureName":"on","environment":"production","enabled":true}]}}`
	const validate, run = "/api/admin/features-batch/validate", "/api/admin/features-batch/import"
	skips := func(were string) string {
		return `[{"message":"Change requests are on in environment \"production\", and you may skip them: these flags ` + were + ` changed there without one","affectedItems":["on"]}]`
	}
	s.check(t, call{"checked by one who may not skip", "POST", validate, data, 200,
		`{"errors":[],"warnings":[],"permissions":[{"message":"<any>","affectedItems":["SKIP_CHANGE_REQUEST"]}],"skipped":0}`}, owner)
	refused := s.do(t, "POST", run, data, owner)
	for _, want := range []string{`"skipped":1`, "propose this change", "may skip change requests there", `"warnings":[]`} {
		if !strings.Contains(refused.body, want) {
			t.Errorf("%q is missing in %s", want, refused.body)
		}
	}
	if strings.Contains(refused.body, "SKIP_CHANGE_REQUEST") {
		t.Errorf("the reason is a constant: %s", refused.body)
	}
	s.run(t, []call{
		{"checked by an administrator", "POST", validate, data, 200, `{"...":0,"errors":[],"warnings":[{"...":0,"affectedItems":["off"]},` + skips("will be")[1:] + `,"permissions":[],"skipped":0}`},
		{"imported by an administrator", "POST", run, data, 200, `{"...":0,"created":1,"skipped":0,"warnings":` + skips("were") + `}`},
		{"nothing is left to skip", "POST", run, data, 200, `{"...":0,"unchanged":2,"warnings":[]}`},
	})
	s.must(t, "POST", features, `{"name":"gone"}`)
	s.must(t, "DELETE", features+"/gone", "")
	s.run(t, []call{{"an archived flag would be skipped", "POST", validate, `{"project":"default","environment":"development","data":{"features":[{"name":"gone"}]}}`, 200,
		`{"...":0,"errors":[],"warnings":[{"message":"<has archived>","affectedItems":["gone"]}],"skipped":1}`}})
}
