package transfer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

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
	s := apitest.Serve(t)
	s.Create(t, "kept", "old")
	s.Must(t, "DELETE", apitest.Features+"/old", "")
	s.Must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	s.Must(t, "POST", "/api/admin/projects/other/features", `{"name":"elsewhere"}`)
	const flags = `"features":[{"name":"new"}]`
	s.Run(t, []apitest.Call{
		{"no data", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[]`), 200, reportOf("", "")},
		{"a new flag", "POST", apitest.ValidateImport, apitest.ImportOf(flags), 200, reportOf("", "")},
		{"errors", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"elsewhere"},{"name":"new"}]`,
			`"dependencies":[{"feature":"new","dependencies":[{"feature":"gone","enabled":true,"variants":["v"]}]}]`,
			`"segments":[{"id":1,"name":"beta"}]`, `"featureStrategies":[{"featureName":"new","name":"default","segments":[1,2]}]`), 200,
			reportOf("elsewhere beta,2 gone", "")},
		{"warnings", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"old"},{"name":"kept"}]`,
			`"featureStrategies":[{"featureName":"kept","name":"mine"}]`, `"tagTypes":[{"name":"team","description":null,"icon":null}]`,
			`"featureTags":[{"featureName":"kept","tagType":"owner","tagValue":"me"}]`, `"contextFields":[{"name":"country"},{"name":"userId"}]`), 200,
			reportOf("", "kept team,owner country old mine")},
		{"an export of Unleash", "POST", apitest.ValidateImport, apitest.ImportOf(
			`"features":[{"name":"new","description":null,"type":"release","project":"elsewhere","stale":false,"impressionData":false,"archived":false,"createdAt":"2026-01-01T00:00:00.000Z"}]`,
			`"featureStrategies":[{"name":"flexibleRollout","id":"x","featureName":"new","title":null,"parameters":{"rollout":"50"},"constraints":[{"values":["1"],"operator":"IN","contextName":"userId"}],"variants":[],"disabled":false,"segments":[]}]`,
			`"featureEnvironments":[{"enabled":false,"featureName":"new","environment":"nosuch","variants":[{"name":"v","weight":1000,"stickiness":"default","weightType":"variable"}],"name":"new"}]`,
			`"contextFields":[{"name":"userId","description":"who","stickiness":false,"sortOrder":1,"legalValues":[{"value":"a","description":"b"}]}]`,
			`"featureTags":[]`, `"segments":[]`, `"tagTypes":[]`, `"dependencies":[]`), 200, reportOf("", "")},

		{"what the flags get", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"new"},{"name":"kept","stale":true},{"name":"elsewhere"}]`,
			`"featureStrategies":[{"featureName":"kept","name":"default"}]`), 200, `{"...":0,"features":[
			{"kind":"flag","name":"new","outcome":"created","reasons":[],"changes":[]},
			{"kind":"flag","name":"kept","outcome":"overwritten","reasons":[],"changes":["stale","strategies"]}]}`},
		{"a flag that stays as it is", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"kept"}]`), 200,
			`{"...":0,"features":[{"...":0,"name":"kept","outcome":"unchanged","changes":[]}]}`},

		{"an unknown project", "POST", apitest.ValidateImport, strings.Replace(apitest.ImportOf(flags), `"default"`, `"nosuch"`, 1), 404, apitest.NotFound(`"nosuch"`)},
		{"an unknown environment", "POST", apitest.ValidateImport, strings.Replace(apitest.ImportOf(flags), "development", "nosuch", 1), 404, apitest.NotFound(`"nosuch"`)},
		{"an environment that the project does not have", "POST", apitest.ValidateImport, strings.Replace(apitest.ImportOf(flags), "development", "default", 1), 404, apitest.NotFound(`"default"`)},

		{"an empty body", "POST", apitest.ValidateImport, `{}`, 400, apitest.Invalid("/project", "/environment", "/data")},
		{"no flags", "POST", apitest.ValidateImport, apitest.ImportOf(), 400, apitest.Invalid("/data/features")},
		{"null flags", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":null`), 400, apitest.Invalid("/data/features")},
		{"invalid names", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"a b"},{}]`), 400, apitest.Invalid("/data/features/0/name", "/data/features/1/name")},
		{"an unknown type", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"a","type":"nosuch"}]`), 400, apitest.Invalid("/data/features/0/type")},
		{"a field of the wrong type", "POST", apitest.ValidateImport, apitest.ImportOf(`"features":[{"name":"a","stale":"yes"}]`), 400, apitest.Invalid("/data/features/0/stale")},
		{"missing fields", "POST", apitest.ValidateImport, apitest.ImportOf(flags, `"featureStrategies":[{}]`, `"featureEnvironments":[{}]`, `"contextFields":[{}]`,
			`"featureTags":[{}]`, `"segments":[{}]`, `"tagTypes":[{}]`, `"dependencies":[{"dependencies":[{}]}]`), 400,
			apitest.Invalid("/data/featureStrategies/0/featureName", "/data/featureStrategies/0/name", "/data/featureEnvironments/0/featureName",
				"/data/contextFields/0/name", "/data/featureTags/0/featureName", "/data/featureTags/0/tagType", "/data/featureTags/0/tagValue",
				"/data/segments/0/name", "/data/tagTypes/0/name", "/data/dependencies/0/feature", "/data/dependencies/0/dependencies/0/feature")},
	})
	if got := s.Do(t, "GET", apitest.Features, "").Body; strings.Contains(got, `"new"`) {
		t.Errorf("%s: want nothing created by a validation", got)
	}
}

// TestValidateLargeImport counts the DynamoDB calls for many flags, and checks the limits of the data.
func TestValidateLargeImport(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Create(t, "flag-3", "flag-999")
	many := func(n, padding int) string {
		var features, strategies, tags []string
		for i := range n {
			features = append(features, fmt.Sprintf(`{"name":"flag-%d","description":%q}`, i, strings.Repeat("x", padding)))
			strategies = append(strategies, fmt.Sprintf(`{"featureName":"flag-%d","name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["a"]}]}`, i))
			tags = append(tags, fmt.Sprintf(`{"featureName":"flag-%d","tagType":"team-%d","tagValue":"me"}`, i, i%3))
		}
		list := func(name string, items []string) string { return `"` + name + `":[` + strings.Join(items, ",") + `]` }
		return apitest.ImportOf(list("features", features), list("featureStrategies", strategies), list("featureTags", tags))
	}
	calls := count.During(func() {
		s.Check(t, apitest.Call{"1,000 flags", "POST", apitest.ValidateImport, many(1000, 0), 200, reportOf("", "flag-3,flag-999 team-0,team-1,team-2")})
	})
	if len(calls) != 12 { // the token, and 1,000 flags and their project in hundreds; data without segments lists none
		t.Errorf("%d calls %v, want 12", len(calls), calls)
	}
	s.Check(t, apitest.Call{"more than 1 MiB", "POST", apitest.ValidateImport, many(1000, 3000), 200, apitest.Anything})
	s.Check(t, apitest.Call{"more than 4 MiB", "POST", apitest.ValidateImport, many(1000, 5000), 413, apitest.Failure("PayloadTooLargeError", "4 MiB")})
	s.Check(t, apitest.Call{"10,000 flags", "POST", apitest.ValidateImport, many(10_000, 0), 200, apitest.Anything})
	others := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"name":"team-%d"}`, i)
		}
		return apitest.ImportOf(`"features":[]`, `"tagTypes":[`+strings.Join(list, ",")+`]`)
	}
	s.Check(t, apitest.Call{"1,000 tag types", "POST", apitest.ValidateImport, others(1000), 200, apitest.Anything})
	s.Check(t, apitest.Call{"1,001 tag types", "POST", apitest.ValidateImport, others(1001), 400, apitest.Invalid("/data")})
	s.Check(t, apitest.Call{"more than 10,000 flags", "POST", apitest.ValidateImport, many(10_001, 0), 400, apitest.Invalid("/data")})
}

// TestImportTellsSkips imports into a guarded environment: as an administrator, who skips its change requests, and as someone who may not.
func TestImportTellsSkips(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Review(t)
	owner := s.Owner(t, "")
	const data = `{"project":"default","environment":"production","data":{"features":[{"name":"on"},{"name":"off"}],` +
		`"featureStrategies":[{"featureName":"on","name":"default"}],"featureEnvironments":[{"featureName":"on","environment":"production","enabled":true}]}}`
	const validate, run = "/api/admin/features-batch/validate", "/api/admin/features-batch/import"
	skips := func(were string) string {
		return `[{"message":"Change requests are on in environment \"production\", and you may skip them: these flags ` + were + ` changed there without one","affectedItems":["on"]}]`
	}
	s.Check(t, apitest.Call{"checked by one who may not skip", "POST", validate, data, 200,
		`{"...":0,"errors":[],"warnings":[],"permissions":[{"message":"<any>","affectedItems":["SKIP_CHANGE_REQUEST"]}],"skipped":0}`}, owner)
	refused := s.Do(t, "POST", run, data, owner)
	for _, want := range []string{`"skipped":1`, "propose this change", "may skip change requests there", `"warnings":[]`} {
		if !strings.Contains(refused.Body, want) {
			t.Errorf("%q is missing in %s", want, refused.Body)
		}
	}
	if strings.Contains(refused.Body, "SKIP_CHANGE_REQUEST") {
		t.Errorf("the reason is a constant: %s", refused.Body)
	}
	s.Run(t, []apitest.Call{
		{"checked by an administrator", "POST", validate, data, 200, `{"...":0,"errors":[],"warnings":[{"...":0,"affectedItems":["off"]},` + skips("will be")[1:] + `,"permissions":[],"skipped":0}`},
		{"imported by an administrator", "POST", run, data, 200, `{"...":0,"created":1,"skipped":0,"warnings":` + skips("were") + `}`},
		{"nothing is left to skip", "POST", run, data, 200, `{"...":0,"unchanged":2,"warnings":[]}`},
	})
	s.Must(t, "POST", apitest.Features, `{"name":"gone"}`)
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	s.Run(t, []apitest.Call{{"an archived flag would be skipped", "POST", validate, `{"project":"default","environment":"development","data":{"features":[{"name":"gone"}]}}`, 200,
		`{"...":0,"errors":[],"warnings":[{"message":"<has archived>","affectedItems":["gone"]}],"skipped":1}`}})
}
