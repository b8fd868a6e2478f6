package admin_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// broughtData is data that takes different permissions. {new} is a new name; {plain}, {kept}, which has a strategy and a
// variant, and {old}, which is archived, are flags that are there.
var broughtData = []struct{ name, data string }{
	{"a new flag", `"features":[{"name":"{new}"}]`},
	{"one that is there", `"features":[{"name":"{plain}"}]`},
	{"one that has a strategy and a variant", `"features":[{"name":"{kept}"}]`},
	{"an archived one with everything", `"features":[{"name":"{old}"}],"featureStrategies":[{"featureName":"{old}","name":"default"}],
		"featureEnvironments":[{"featureName":"{old}","enabled":true}],"featureTags":[{"featureName":"{old}","tagType":"simple","tagValue":"xx"}]`},
	{"a tag", `"features":[{"name":"{new}"}],"featureTags":[{"featureName":"{new}","tagType":"simple","tagValue":"xx"}]`},
	{"a tag of a flag that is not there", `"features":[],"featureTags":[{"featureName":"{new}","tagType":"{new}-type","tagValue":"xx"}]`},
	{"a parent", `"features":[{"name":"{new}"}],"dependencies":[{"feature":"{new}","dependencies":[{"feature":"{plain}"}]}]`},
	{"no parents", `"features":[{"name":"{new}"}],"dependencies":[{"feature":"{new}","dependencies":[]}]`},
	{"off", `"features":[{"name":"{new}"}],"featureEnvironments":[{"featureName":"{new}","enabled":false}]`},
	{"on, with no strategies", `"features":[{"name":"{new}"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"{new}","enabled":true}]`},
	{"on, with no strategies, of one that is there", `"features":[{"name":"{plain}"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"{plain}","enabled":true}]`},
	{"on, with nothing said of strategies", `"features":[{"name":"{kept}"}],"featureEnvironments":[{"featureName":"{kept}","enabled":true}]`},
	{"off, with no strategies", `"features":[{"name":"{new}"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"{new}","enabled":false}]`},
	{"an environment of which nothing is said", `"features":[{"name":"{plain}"}],"featureEnvironments":[{"featureName":"{plain}"}]`},
	{"variants", `"features":[{"name":"{new}"}],"featureEnvironments":[{"featureName":"{new}","variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]}]`},
	{"variants that are taken back", `"features":[{"name":"{new}"}],"featureEnvironments":[{"featureName":"{new}","variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]},
		{"featureName":"{new}"}]`},
	{"a strategy", `"features":[{"name":"{new}"}],"featureStrategies":[{"featureName":"{new}","name":"default"}]`},
	{"a strategy of a flag that is not brought", `"features":[{"name":"{plain}"}],"featureStrategies":[{"featureName":"{kept}","name":"default"}]`},
	{"a tag type", `"features":[],"tagTypes":[{"name":"{new}-type"}]`},
	{"a tag type that is there", `"features":[],"tagTypes":[{"name":"simple"}]`},
	{"a context field", `"features":[],"contextFields":[{"name":"{new}-field"}]`},
	{"a segment", `"features":[],"segments":[{"id":1,"name":"{new}","constraints":[]}]`},
	{"a segment of its project", `"features":[],"segments":[{"id":1,"name":"{new}","project":"any","constraints":[]}]`},
	{"a segment that is only named", `"features":[],"segments":[{"id":1,"name":"{new}"}]`},
	{"everything", `"features":[{"name":"{new}"},{"name":"{kept}"}],"tagTypes":[{"name":"{new}-type"}],"contextFields":[{"name":"{new}-field"}],
		"segments":[{"id":1,"name":"{new}","constraints":[]}],"featureStrategies":[{"featureName":"{new}","name":"default"}],
		"featureTags":[{"featureName":"{new}","tagType":"simple","tagValue":"xx"}],
		"featureEnvironments":[{"featureName":"{new}","enabled":true,"variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]}]`},
}

// brought prepares what data needs and fills it in, its names ending in suffix.
func (s *server) brought(t *testing.T, data, suffix string) string {
	t.Helper()
	names := map[string]string{}
	for _, name := range []string{"new", "plain", "kept", "old"} {
		names[name] = name + suffix
		if name != "new" && strings.Contains(data, "{"+name+"}") {
			s.create(t, names[name])
		}
		data = strings.ReplaceAll(data, "{"+name+"}", names[name])
	}
	if strings.Contains(data, `"`+names["kept"]+`"`) {
		s.strategy(t, names["kept"], `{"name":"default"}`)
		s.must(t, "PUT", in(names["kept"], "development")+"/variants", `[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}]`)
	}
	if strings.Contains(data, `"`+names["old"]+`"`) {
		s.must(t, "DELETE", features+"/"+names["old"], "")
	}
	return importOf(data)
}

// A permission in what is said to whoever lacks it.
var lacked = regexp.MustCompile(`needs the permission (\w+)`)

// refusedFor are the permissions that an import was refused for, as its report says, sorted.
func refusedFor(r report) []string {
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

// validated is what the validation of an import says, by its kind.
type validated struct {
	Errors, Warnings, Permissions []struct {
		Message       string
		AffectedItems []string
	}
}

// TestImportMatchesValidatedPermissions has data validated and imported by callers who hold all but one permission, and by one
// who holds none: the import refuses exactly what validation said that it would.
func TestImportMatchesValidatedPermissions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	held := strings.Fields(strings.Replace(permissionsOf[flags.RootScope], "ADMIN ", "", 1))
	inProject := strings.Fields(permissionsOf[flags.ProjectScope] + " " + permissionsOf[flags.EnvironmentScope])
	without := func(p string) string {
		but := func(all []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(all), func(one string) bool { return one == p }), " ")
		}
		return s.account(t, s.roleOf(t, "root-custom", but(held)), map[string]string{"default": s.roleOf(t, "custom", but(inProject))})
	}
	callers := map[string]string{"all of them": s.account(t, "3", nil), "": without("")}
	needed := []string{
		"CREATE_FEATURE", "UPDATE_FEATURE", "UPDATE_FEATURE_ENVIRONMENT", "UPDATE_FEATURE_ENVIRONMENT_VARIANTS", "CREATE_FEATURE_STRATEGY",
		"DELETE_FEATURE_STRATEGY", "CREATE_TAG_TYPE", "CREATE_CONTEXT_FIELD", "CREATE_SEGMENT",
	}
	for _, p := range append([]string{"UPDATE_PROJECT_SEGMENT", "UPDATE_FEATURE_DEPENDENCY"}, needed...) {
		callers[p] = without(p)
	}
	seen, n := map[string]bool{}, 0
	for lacking, secret := range callers {
		for _, of := range broughtData {
			n++
			body := s.brought(t, of.data, fmt.Sprint("-", n))
			said := []string{}
			for _, f := range decoded[validated](t, s.do(t, "POST", validateImport, body, as(secret)).body).Permissions {
				said = append(said, f.AffectedItems...)
			}
			var r report
			if err := json.Unmarshal([]byte(s.do(t, "POST", importData, body, as(secret)).body), &r); err != nil {
				t.Fatal(err)
			}
			slices.Sort(said)
			refused := refusedFor(r)
			for _, p := range refused {
				seen[p] = true
			}
			if lacking == "all of them" { // what is refused is told of the first permission alone
				if slices.ContainsFunc(refused, func(p string) bool { return !slices.Contains(said, p) }) || (len(said) > 0) != (len(refused) > 0) {
					t.Errorf("%s by one who lacks everything: validation said %v, the import refused for %v", of.name, said, refused)
				}
				continue
			}
			if diff := cmp.Diff(said, refused); diff != "" || len(said) > 1 || len(said) == 1 && said[0] != lacking {
				t.Errorf("%s by one who lacks %s alone: (-validation +import)\n%s", of.name, lacking, diff)
			}
		}
	}
	for _, p := range needed {
		if !seen[p] {
			t.Errorf("nothing was refused for want of %s", p)
		}
	}
}

// TestImportStrategyForAllUsers: who may switch flags on and create them, but not add strategies, gets no flag on for
// everybody by an import that has it on without strategies; validation names what is lacking.
func TestImportStrategyForAllUsers(t *testing.T) {
	s := serve(t)
	secret := s.account(t, s.roleOf(t, "root-custom", "UPDATE_TAG_TYPE"),
		map[string]string{"default": s.roleOf(t, "custom", "CREATE_FEATURE UPDATE_FEATURE UPDATE_FEATURE_ENVIRONMENT")})
	s.create(t, "there")
	data := func(strategies string) string {
		return importOf(`"features":[{"name":"new"},{"name":"there"}],` + strategies + `"featureEnvironments":[{"featureName":"new","enabled":true},{"featureName":"there","enabled":true}]`)
	}
	const lacks = `{"...":0,"permissions":[{"...":0,"affectedItems":["CREATE_FEATURE_STRATEGY"]}]}`
	got := s.do(t, "POST", importData, data(`"featureStrategies":[],`), as(secret))
	if r := decoded[report](t, got.body); got.status != 200 || r.counts() != [4]int{0, 0, 0, 2} || fmt.Sprint(refusedFor(r)) != "[CREATE_FEATURE_STRATEGY]" {
		t.Errorf("imported: %d %s, want both flags skipped for want of CREATE_FEATURE_STRATEGY", got.status, got.body)
	}
	s.check(t, call{"validated", "POST", validateImport, data(`"featureStrategies":[],`), 200, lacks}, as(secret))
	s.check(t, call{"nothing was done", "GET", in("there", "development") + "/strategies", "", 200, `[]`})
	// The project's default strategy is added to whatever is switched on: that takes no more than switching on.
	s.must(t, "POST", project+"/environments/development/default-strategy", `{"name":"flexibleRollout","parameters":{"rollout":"5"}}`)
	got = s.do(t, "POST", importData, data(""), as(secret))
	if r := decoded[report](t, got.body); got.status != 200 || r.Skipped != 0 {
		t.Errorf("imported with the default strategy: %d %s, want none skipped", got.status, got.body)
	}
	s.check(t, call{"with it", "GET", in("there", "development") + "/strategies", "", 200, `[{"...":0,"name":"flexibleRollout"}]`})
}

// TestRejectedImportUsesNoIDs: whoever may only read has no ids taken for segments that an import of theirs would make.
func TestRejectedImportUsesNoIDs(t *testing.T) {
	s := serve(t)
	one := func(name string) int64 {
		var made struct{ ID int64 }
		if err := json.Unmarshal([]byte(s.must(t, "POST", "/api/admin/segments", `{"name":"`+name+`","constraints":[]}`).body), &made); err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	before := one("before")
	_, viewer := s.person(t, flags.RoleViewer)
	body := `{"project":"default","environment":"development","data":{"features":[],"segments":[{"id":1,"name":"a","constraints":[]},{"id":2,"name":"b","constraints":[]}]}}`
	if got := s.do(t, "POST", importData, body, viewer); got.status != 200 || strings.Count(got.body, `"outcome":"skipped"`) != 2 {
		t.Errorf("a viewer's import: %d %s, want both segments skipped", got.status, got.body)
	}
	if after := one("after"); after != before+1 {
		t.Errorf("the next id is %d after %d: ids were taken", after, before)
	}
}
