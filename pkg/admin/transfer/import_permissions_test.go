package transfer_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
)

// importCases has data that needs different permissions. {new} is a new name. {plain}, {kept} and {old} are existing flags: {kept}
// has a strategy and a variant, and {old} is archived.
var importCases = []struct{ name, data string }{
	{"a new flag", `"features":[{"name":"{new}"}]`},
	{"an existing flag", `"features":[{"name":"{plain}"}]`},
	{"an existing flag with a strategy and a variant", `"features":[{"name":"{kept}"}]`},
	{"an archived flag with all fields", `"features":[{"name":"{old}"}],"featureStrategies":[{"featureName":"{old}","name":"default"}],
		"featureEnvironments":[{"featureName":"{old}","enabled":true}],"featureTags":[{"featureName":"{old}","tagType":"simple","tagValue":"xx"}]`},
	{"a tag", `"features":[{"name":"{new}"}],"featureTags":[{"featureName":"{new}","tagType":"simple","tagValue":"xx"}]`},
	{"a tag of an unknown flag", `"features":[],"featureTags":[{"featureName":"{new}","tagType":"{new}-type","tagValue":"xx"}]`},
	{"a parent", `"features":[{"name":"{new}"}],"dependencies":[{"feature":"{new}","dependencies":[{"feature":"{plain}"}]}]`},
	{"no parents", `"features":[{"name":"{new}"}],"dependencies":[{"feature":"{new}","dependencies":[]}]`},
	{"disabled", `"features":[{"name":"{new}"}],"featureEnvironments":[{"featureName":"{new}","enabled":false}]`},
	{"enabled, with no strategies", `"features":[{"name":"{new}"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"{new}","enabled":true}]`},
	{"an existing flag enabled, with no strategies", `"features":[{"name":"{plain}"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"{plain}","enabled":true}]`},
	{"enabled, without the list of strategies", `"features":[{"name":"{kept}"}],"featureEnvironments":[{"featureName":"{kept}","enabled":true}]`},
	{"disabled, with no strategies", `"features":[{"name":"{new}"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"{new}","enabled":false}]`},
	{"an environment without fields", `"features":[{"name":"{plain}"}],"featureEnvironments":[{"featureName":"{plain}"}]`},
	{"variants", `"features":[{"name":"{new}"}],"featureEnvironments":[{"featureName":"{new}","variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]}]`},
	{"variants that a second entry removes", `"features":[{"name":"{new}"}],"featureEnvironments":[{"featureName":"{new}","variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]},
		{"featureName":"{new}"}]`},
	{"a strategy", `"features":[{"name":"{new}"}],"featureStrategies":[{"featureName":"{new}","name":"default"}]`},
	{"a strategy of a flag that is not imported", `"features":[{"name":"{plain}"}],"featureStrategies":[{"featureName":"{kept}","name":"default"}]`},
	{"a tag type", `"features":[],"tagTypes":[{"name":"{new}-type"}]`},
	{"an existing tag type", `"features":[],"tagTypes":[{"name":"simple"}]`},
	{"a context field", `"features":[],"contextFields":[{"name":"{new}-field"}]`},
	{"a segment", `"features":[],"segments":[{"id":1,"name":"{new}","constraints":[]}]`},
	{"a segment of a project", `"features":[],"segments":[{"id":1,"name":"{new}","project":"any","constraints":[]}]`},
	{"a segment with only a name", `"features":[],"segments":[{"id":1,"name":"{new}"}]`},
	{"everything", `"features":[{"name":"{new}"},{"name":"{kept}"}],"tagTypes":[{"name":"{new}-type"}],"contextFields":[{"name":"{new}-field"}],
		"segments":[{"id":1,"name":"{new}","constraints":[]}],"featureStrategies":[{"featureName":"{new}","name":"default"}],
		"featureTags":[{"featureName":"{new}","tagType":"simple","tagValue":"xx"}],
		"featureEnvironments":[{"featureName":"{new}","enabled":true,"variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]}]`},
}

// prepareImport creates the flags that data needs, with names that end in suffix, and returns the body of the import.
func prepareImport(t *testing.T, s *apitest.Server, data, suffix string) string {
	t.Helper()
	names := map[string]string{}
	for _, name := range []string{"new", "plain", "kept", "old"} {
		names[name] = name + suffix
		if name != "new" && strings.Contains(data, "{"+name+"}") {
			s.Create(t, names[name])
		}
		data = strings.ReplaceAll(data, "{"+name+"}", names[name])
	}
	if strings.Contains(data, `"`+names["kept"]+`"`) {
		s.AddStrategy(t, names["kept"], `{"name":"default"}`)
		s.Must(t, "PUT", apitest.In(names["kept"], "development")+"/variants", `[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]`)
	}
	if strings.Contains(data, `"`+names["old"]+`"`) {
		s.Must(t, "DELETE", apitest.Features+"/"+names["old"], "")
	}
	return apitest.ImportOf(data)
}

// lacked matches the missing permission in an error message.
var lacked = regexp.MustCompile(`needs the permission (\w+)`)

// missingPermissions returns the permissions that the report of an import says are missing, sorted.
func missingPermissions(r apitest.ImportReport) []string {
	names := []string{}
	for _, row := range slices.Concat(r.Features, r.Others) {
		for _, reason := range row.Reasons {
			if found := lacked.FindStringSubmatch(reason); found != nil {
				names = append(names, found[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// validated is the response of the validation of an import.
type validated struct {
	Errors, Warnings, Permissions []struct {
		Message       string
		AffectedItems []string
	}
}

// TestImportMatchesValidatedPermissions validates and imports data as callers who lack one permission, and as one who has none.
// The import refuses exactly what the validation reported.
func TestImportMatchesValidatedPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	without := func(p string) string {
		but := func(scopes ...access.Scope) string {
			var held []string
			for _, scope := range scopes {
				for _, info := range access.Permissions(scope) {
					if name := string(info.Name); name != p && name != "ADMIN" {
						held = append(held, name)
					}
				}
			}
			return strings.Join(held, " ")
		}
		return s.Account(t, s.RoleOf(t, "root-custom", but(access.RootScope)), map[string]string{"default": s.RoleOf(t, "custom", but(access.ProjectScope, access.EnvironmentScope))})
	}
	callers := map[string]string{"all": s.Account(t, "3", nil), "": without("")}
	needed := []string{
		"CREATE_FEATURE", "UPDATE_FEATURE", "UPDATE_FEATURE_ENVIRONMENT", "UPDATE_FEATURE_ENVIRONMENT_VARIANTS", "CREATE_FEATURE_STRATEGY",
		"DELETE_FEATURE_STRATEGY", "CREATE_TAG_TYPE", "CREATE_CONTEXT_FIELD", "CREATE_SEGMENT",
	}
	for _, p := range append([]string{"UPDATE_PROJECT_SEGMENT", "UPDATE_FEATURE_DEPENDENCY"}, needed...) {
		callers[p] = without(p)
	}
	seen, n := map[string]bool{}, 0
	for lacking, secret := range callers {
		for _, of := range importCases {
			n++
			body := prepareImport(t, s, of.data, fmt.Sprint("-", n))
			reported := []string{}
			for _, f := range apitest.Decode[validated](t, s.Do(t, "POST", apitest.ValidateImport, body, apitest.As(secret)).Body).Permissions {
				reported = append(reported, f.AffectedItems...)
			}
			var r apitest.ImportReport
			apitest.DecodeInto(t, s.Do(t, "POST", apitest.Import, body, apitest.As(secret)).Body, &r)
			slices.Sort(reported)
			refused := missingPermissions(r)
			for _, p := range refused {
				seen[p] = true
			}
			if lacking == "all" { // the import reports only the first missing permission
				if slices.ContainsFunc(refused, func(p string) bool { return !slices.Contains(reported, p) }) || (len(reported) > 0) != (len(refused) > 0) {
					t.Errorf("%s without any permission: validation reported %v, the import %v", of.name, reported, refused)
				}
				continue
			}
			if diff := cmp.Diff(reported, refused); diff != "" || len(reported) > 1 || len(reported) == 1 && reported[0] != lacking {
				t.Errorf("%s without %s: missing permissions (-validation +import)\n%s", of.name, lacking, diff)
			}
		}
	}
	for _, p := range needed {
		if !seen[p] {
			t.Errorf("no import was refused because %s is missing", p)
		}
	}
}

// TestImportStrategyForAllUsers checks that a flag that is enabled without strategies needs the permission to add strategies. To
// enable it for all users, the import adds a strategy.
func TestImportStrategyForAllUsers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := s.Account(t, s.RoleOf(t, "root-custom", "UPDATE_TAG_TYPE"),
		map[string]string{"default": s.RoleOf(t, "custom", "CREATE_FEATURE UPDATE_FEATURE UPDATE_FEATURE_ENVIRONMENT")})
	s.Create(t, "there")
	data := func(strategies string) string {
		return apitest.ImportOf(`"features":[{"name":"new"},{"name":"there"}],` + strategies + `"featureEnvironments":[{"featureName":"new","enabled":true},{"featureName":"there","enabled":true}]`)
	}
	const lacks = `{"...":0,"permissions":[{"...":0,"affectedItems":["CREATE_FEATURE_STRATEGY"]}]}`
	got := s.Do(t, "POST", apitest.Import, data(`"featureStrategies":[],`), apitest.As(secret))
	if r := apitest.Decode[apitest.ImportReport](t, got.Body); got.Status != 200 || r.Counts() != [4]int{0, 0, 0, 2} || fmt.Sprint(missingPermissions(r)) != "[CREATE_FEATURE_STRATEGY]" {
		t.Errorf("imported: %d %s, want both flags skipped because CREATE_FEATURE_STRATEGY is missing", got.Status, got.Body)
	}
	s.Check(t, apitest.Call{"validation reports the permission", "POST", apitest.ValidateImport, data(`"featureStrategies":[],`), 200, lacks}, apitest.As(secret))
	s.Check(t, apitest.Call{"nothing was changed", "GET", apitest.In("there", "development") + "/strategies", "", 200, `[]`})
	// Enabling a flag adds the project's default strategy, which needs no permission beyond enabling.
	s.Must(t, "POST", apitest.Project+"/environments/development/default-strategy", `{"name":"flexibleRollout","parameters":{"rollout":"5"}}`)
	got = s.Do(t, "POST", apitest.Import, data(""), apitest.As(secret))
	if r := apitest.Decode[apitest.ImportReport](t, got.Body); got.Status != 200 || r.Skipped != 0 {
		t.Errorf("imported with the default strategy: %d %s, want none skipped", got.Status, got.Body)
	}
	s.Check(t, apitest.Call{"the flag has the default strategy", "GET", apitest.In("there", "development") + "/strategies", "", 200, `[{"...":0,"name":"flexibleRollout"}]`})
}

// TestRejectedImportUsesNoIDs checks that an import without the permission to create segments uses no segment ids.
func TestRejectedImportUsesNoIDs(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	one := func(name string) int64 {
		created := apitest.Decode[struct{ ID int64 }](t, s.Must(t, "POST", "/api/admin/segments", `{"name":"`+name+`","constraints":[]}`).Body)
		return created.ID
	}
	before := one("before")
	_, viewer := s.Person(t, access.RoleViewer)
	body := `{"project":"default","environment":"development","data":{"features":[],"segments":[{"id":1,"name":"a","constraints":[]},{"id":2,"name":"b","constraints":[]}]}}`
	if got := s.Do(t, "POST", apitest.Import, body, viewer); got.Status != 200 || strings.Count(got.Body, `"outcome":"skipped"`) != 2 {
		t.Errorf("a viewer's import: %d %s, want both segments skipped", got.Status, got.Body)
	}
	if after := one("after"); after != before+1 {
		t.Errorf("the next segment has the id %d, want %d", after, before+1)
	}
}
