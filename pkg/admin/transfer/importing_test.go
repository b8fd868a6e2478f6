package transfer_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/apitest"
)

// TestExportImport imports an export into another service. The export of that service is the same.
func TestExportImport(t *testing.T) {
	t.Parallel()
	from, to := apitest.Serve(t), apitest.Serve(t)
	from.CreateFullFlag(t)
	const all = `{"environment":"development","features":[],"fullSegments":true}`
	data := from.Must(t, "POST", apitest.Export, all).Body

	to.Must(t, "POST", "/api/admin/segments", `{"name":"another","constraints":[]}`) // makes ids differ
	got := to.ImportHere(t, data)
	if got.Counts() != [4]int{2, 0, 0, 0} || len(got.Others) != 3 {
		t.Fatalf("import: got %+v, want 2 flags, a tag type, a context field and a segment created", got)
	}
	if diff := cmp.Diff(apitest.ExportWithoutIDs(t, data), apitest.ExportWithoutIDs(t, to.Must(t, "POST", apitest.Export, all).Body)); diff != "" {
		t.Errorf("the export after the import (-source +target):\n%s", diff)
	}

	before := len(to.Log(t, "/api/admin/events?limit=100"))
	if got := to.ImportHere(t, data); got.Counts() != [4]int{0, 0, 2, 0} || len(got.Others) != 0 {
		t.Errorf("the import repeated: got %+v, want 2 flags unchanged", got)
	}
	if after := len(to.Log(t, "/api/admin/events?limit=100")); after != before {
		t.Errorf("the repeated import created %d events", after-before)
	}

	to.Must(t, "POST", apitest.In("full", "development")+"/off", "")
	to.Must(t, "PUT", "/api/admin/features/full/tags", `{"addedTags":[{"type":"simple","value":"mine"}],"removedTags":[]}`)
	if got := to.ImportHere(t, data); got.Counts() != [4]int{0, 1, 1, 0} {
		t.Errorf("an import over a changed flag: got %+v, want 1 overwritten", got)
	}
	if diff := cmp.Diff(apitest.ExportWithoutIDs(t, data), apitest.ExportWithoutIDs(t, to.Must(t, "POST", apitest.Export, all).Body)); diff != "" {
		t.Errorf("the export after overwriting (-source +target):\n%s", diff)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateFullFlag(t)
	s.Create(t, "gone")
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	names := func(body string) []string {
		doc := apitest.Decode[struct{ Features []struct{ Name string } }](t, s.Must(t, "POST", apitest.Export, body).Body)
		list := []string{}
		for _, f := range doc.Features {
			list = append(list, f.Name)
		}
		return list
	}
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"all flags", `{"environment":"development","features":[]}`, []string{"full", "parent"}},
		{"by name", `{"environment":"production","features":["parent"]}`, []string{"parent"}},
		{"a duplicate name", `{"environment":"production","features":["parent","parent"]}`, []string{"parent"}},
		{"by the value of a tag", `{"environment":"development","tag":"core"}`, []string{"full"}},
		{"by a tag", `{"environment":"development","tag":"simple:old/one"}`, []string{"full"}},
		{"by a tag that no flag has", `{"environment":"development","tag":"simple:core"}`, []string{}},
		{"by project", `{"environment":"development","project":"default"}`, []string{"full", "parent"}},
		{"an environment that the project does not have", `{"environment":"default","features":["full"]}`, []string{"full"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, names(tt.body)); diff != "" {
				t.Errorf("flags of %s (-want +got):\n%s", tt.body, diff)
			}
		})
	}
	s.Run(t, []apitest.Call{
		{"no selection", "POST", apitest.Export, `{"environment":"development"}`, 400, apitest.Invalid("/features")},
		{"no environment", "POST", apitest.Export, `{"features":[]}`, 400, apitest.Invalid("/environment")},
		{"an unknown environment", "POST", apitest.Export, `{"environment":"nosuch","features":[]}`, 400, apitest.Invalid("/environment")},
		{"an unknown flag", "POST", apitest.Export, `{"environment":"development","features":["full","nosuch"]}`, 400, apitest.Invalid("/features/1")},
		{"an archived flag", "POST", apitest.Export, `{"environment":"development","features":["gone"]}`, 400, apitest.Invalid("/features/0")},
		{"an invalid name", "POST", apitest.Export, `{"environment":"development","features":["a b"]}`, 400, apitest.Invalid("/features/0")},
		{"an unknown project", "POST", apitest.Export, `{"environment":"development","project":"nosuch"}`, 400, apitest.Invalid("/project")},
	})
	answer := s.Do(t, "POST", apitest.Export, `{"environment":"development","features":[],"downloadFile":true}`)
	if got := answer.Header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="export-development-`) {
		t.Errorf("Content-Disposition of a download: got %q", got)
	}
}

// TestImportSkips imports flags that cannot be imported. They are skipped as a whole, and the other flags are imported.
func TestImportSkips(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "kept", "old", "child", "grandparent")
	s.Must(t, "DELETE", apitest.Features+"/old", "")
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"grandparent"}`)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	s.Must(t, "POST", "/api/admin/projects/other/features", `{"name":"elsewhere"}`)
	got := s.ImportHere(t, `{
		"features":[{"name":"good"},{"name":"elsewhere"},{"name":"old"},{"name":"weird"},{"name":"seg"},{"name":"lost"},{"name":"orphan"},{"name":"third"},{"name":"kept"},{"name":"tagged"}],
		"featureStrategies":[{"featureName":"weird","name":"nosuch"},{"featureName":"seg","name":"default","segments":[3]},
			{"featureName":"lost","name":"default","segments":[4]},{"featureName":"good","name":"default"}],
		"featureEnvironments":[{"featureName":"good","enabled":true,"environment":"x"}],
		"featureTags":[{"featureName":"tagged","tagType":"x","tagValue":"value"}],
		"segments":[{"id":3,"name":"nosuch"}],
		"dependencies":[{"feature":"orphan","dependencies":[{"feature":"nosuch"}]},{"feature":"third","dependencies":[{"feature":"child"}]}]}`)
	if got.Counts() != [4]int{1, 0, 1, 8} {
		t.Errorf("counts: got %v, want 1 created, 1 unchanged, 8 skipped", got.Counts())
	}
	want := map[string]string{
		"good": "", "kept": "", "elsewhere": "another project", "old": "archived", "weird": "strategies/0/name", "seg": `"nosuch"`, "lost": "segment 4",
		"orphan": `no flag "nosuch"`, "third": "only one level", "tagged": `tag type "x"`,
	}
	for _, row := range got.Features {
		reasons := strings.Join(row.Reasons, "; ")
		if (want[row.Name] == "") != (reasons == "") || !strings.Contains(reasons, want[row.Name]) {
			t.Errorf("%s: got the reasons %q, want %q", row.Name, reasons, want[row.Name])
		}
		if row.Outcome == "skipped" && row.Name != "elsewhere" && row.Name != "old" {
			s.Check(t, apitest.Call{row.Name, "GET", apitest.Features + "/" + row.Name, "", 404, apitest.NotFound(row.Name)})
		}
	}
	if len(got.Others) != 1 || got.Others[0].Outcome != "skipped" || got.Others[0].Name != "x" {
		t.Errorf("others: got %+v, want the tag type x skipped", got.Others)
	}
}

// TestImportForeign imports data with numbers in place of texts, and the other way, as other programs write them. What has no clear meaning
// refuses the import, with the place.
func TestImportForeign(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	got := s.ImportHere(t, `{"features":[{"name":"f","stale":"true"}],
		"featureStrategies":[{"featureName":"f","name":"flexibleRollout","parameters":{"rollout":50,"groupId":7,"stickiness":"default"},"segments":["3"],"sortOrder":"1",
			"constraints":[{"contextName":"age","operator":"NUM_GT","value":18},{"contextName":"age","operator":"IN","values":[18,1e2]}],
			"variants":[{"name":"a","weight":"1000","weightType":"variable","stickiness":"default","payload":{"type":"number","value":5}}]}],
		"featureEnvironments":[{"featureName":"f","enabled":1,"variants":[{"name":"b","weight":"1000","payload":{"type":"number","value":1.50}}]}],
		"segments":[{"id":"3","name":"s","constraints":[{"contextName":"age","operator":"NUM_LT","value":99}]}],
		"featureTags":[{"featureName":"f","tagType":"simple","tagValue":77}]}`)
	if got.Created != 1 {
		t.Errorf("got %+v, want the flag created", got)
	}
	s.Check(t, apitest.Call{"the flag", "GET", apitest.In("f", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,
		"parameters":{"rollout":"50","groupId":"7","stickiness":"default"},
		"constraints":[{"...":0,"value":"18"},{"...":0,"values":["18","100"]}],"variants":[{"...":0,"weight":1000,"payload":{"type":"number","value":"5"}}]}]}`})
	s.Check(t, apitest.Call{"the tag", "GET", "/api/admin/features/f/tags", "", 200, `{"version":1,"tags":[{"type":"simple","value":"77"}]}`})
	for place, data := range map[string]string{
		"/data/featureEnvironments/0/variants/0/weight": `"featureEnvironments":[{"featureName":"f","variants":[{"name":"b","weight":"much"}]}]`,
		"/data/featureStrategies/0/constraints/0/value": `"featureStrategies":[{"featureName":"f","name":"default","constraints":[{"contextName":"a","operator":"NUM_GT","value":[18]}]}]`,
		"/data/segments/0/constraints":                  `"segments":[{"id":3,"name":"t","constraints":null}]`,
		"/data/featureStrategies/0/segments/0":          `"featureStrategies":[{"featureName":"f","name":"default","segments":[1.5]}]`,
	} {
		s.Check(t, apitest.Call{place, "POST", apitest.Import, `{"project":"default","environment":"development","data":{"features":[{"name":"f"}],` + data + `}}`, 400, apitest.Invalid(place)})
	}
}

// TestImportEnabledWithoutStrategies imports a flag that is enabled without strategies, and so for all users. It gets the strategy
// "default".
func TestImportEnabledWithoutStrategies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	data := `{"features":[{"name":"on"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"on","enabled":true}]}`
	s.ImportHere(t, data)
	s.Check(t, apitest.Call{"the flag", "GET", apitest.In("on", "development"), "", 200, `{"...":0,"enabled":true,"strategies":[{"...":0,"name":"default"}]}`})
	if got := s.ImportHere(t, data); got.Counts() != [4]int{0, 0, 1, 0} {
		t.Errorf("the import repeated: got %+v, want it unchanged", got)
	}
}

// TestImportManyWithParents imports more flags than one round can hold, with parents after their children.
func TestImportManyWithParents(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const children = 230
	var list, dependencies []string
	for i := range children {
		name := fmt.Sprintf("child-%03d", i)
		list = append(list, fmt.Sprintf(`{"name":%q}`, name))
		dependencies = append(dependencies, fmt.Sprintf(`{"feature":%q,"dependencies":[{"feature":"root-%d"}]}`, name, i%20))
	}
	for i := range 20 {
		list = append(list, fmt.Sprintf(`{"name":"root-%d"}`, i))
	}
	data := fmt.Sprintf(`{"features":[%s],"dependencies":[%s]}`, strings.Join(list, ","), strings.Join(dependencies, ","))
	if got := s.ImportHere(t, data); got.Counts() != [4]int{children + 20, 0, 0, 0} {
		t.Fatalf("got %v created, overwritten, unchanged, skipped; want %d created", got.Counts(), children+20)
	}
	if got := s.ImportHere(t, data); got.Counts() != [4]int{0, 0, children + 20, 0} {
		t.Errorf("the import repeated: got %v, want all unchanged", got.Counts())
	}
}

// TestParallelImports imports the same flags in parallel. Each flag is created once, and no import fails because a name is taken.
func TestParallelImports(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var list, tags, dependencies []string
	for i := range 60 {
		list = append(list, fmt.Sprintf(`{"name":"f-%02d"}`, i))
		tags = append(tags, fmt.Sprintf(`{"featureName":"f-%02d","tagType":"team","tagValue":"core"}`, i))
		dependencies = append(dependencies, fmt.Sprintf(`{"feature":"f-%02d","dependencies":[{"feature":"root"},{"feature":"root"}]}`, i))
	}
	data := fmt.Sprintf(`{"features":[%s,{"name":"root"}],"featureTags":[%s],"dependencies":[%s],"segments":[{"id":1,"name":"all","constraints":[]}]}`,
		strings.Join(list, ","), strings.Join(tags, ","), strings.Join(dependencies[:10], ","))
	reports := make([]apitest.ImportReport, 4)
	var working sync.WaitGroup
	for i := range reports {
		working.Go(func() { reports[i] = s.ImportHere(t, data) })
	}
	working.Wait()
	created := 0
	for i, r := range reports {
		created += r.Created
		if r.Skipped > 0 || r.Created+r.Unchanged != 61 {
			t.Errorf("import %d: got %v created, overwritten, unchanged, skipped; want none skipped", i, r.Counts())
		}
	}
	if created != 61 {
		t.Errorf("%d flags were created in all, want 61", created)
	}
}

// TestImportOtherSegment imports a segment whose name exists with other constraints. The existing segment is kept, and the report
// says so.
func TestImportOtherSegment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/segments", `{"name":"mine","constraints":[{"contextName":"userId","operator":"IN","values":["me"]}]}`)
	data := `{"features":[{"name":"f"}],"featureStrategies":[{"featureName":"f","name":"default","segments":[9]}],"segments":[{"id":9,"name":"mine","constraints":[]}]}`
	got := s.ImportHere(t, data)
	if len(got.Others) != 1 || got.Others[0].Outcome != "kept" || got.Created != 1 {
		t.Errorf("got %+v, want the flag created and the segment kept", got)
	}
	s.Check(t, apitest.Call{"validation warns", "POST", apitest.ValidateImport, fmt.Sprintf(`{"project":"default","environment":"development","data":%s}`, data), 200,
		reportOf("", "f mine")})
}

// TestImportOrder imports strategies that are not in the order of sortOrder. Repeating the import changes nothing.
func TestImportOrder(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	data := `{"features":[{"name":"f"}],"featureStrategies":[{"featureName":"f","name":"default","sortOrder":9},
		{"featureName":"f","name":"userWithId","parameters":{"userIds":"1"},"sortOrder":1}]}`
	s.ImportHere(t, data)
	if got := s.ImportHere(t, data); got.Counts() != [4]int{0, 0, 1, 0} {
		t.Errorf("the import repeated: got %v, want it unchanged", got.Counts())
	}
}

// TestImportReportFits imports 4,000 invalid flags. The report fits into a response.
func TestImportReportFits(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var list, strategies []string
	for i := range 4000 {
		list = append(list, fmt.Sprintf(`{"name":"rep%d"}`, i))
		for range 5 {
			strategies = append(strategies, fmt.Sprintf(`{"featureName":"rep%d","name":"flexibleRollout","parameters":{"rollout":"much"}}`, i))
		}
	}
	got := s.ImportHere(t, fmt.Sprintf(`{"features":[{"name":"good"},%s],"featureStrategies":[%s]}`, strings.Join(list, ","), strings.Join(strategies, ",")))
	if got.Counts() != [4]int{1, 0, 0, 4000} || len(got.Features[4000].Reasons) == 0 {
		t.Errorf("got %v, want 1 created and 4000 skipped with a reason each", got.Counts())
	}
}

// TestImportNormalizes checks that values which some SDKs cannot read are stored in another form, and fractions of a rollout are refused.
func TestImportNormalizes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	data := func(rollout string) string {
		return `{"features":[{"name":"f"}],"featureStrategies":[{"featureName":"f","name":"flexibleRollout","parameters":{"rollout":` + rollout + `},
			"constraints":[{"contextName":"n","operator":"NUM_GT","value":".5"},{"contextName":"d","operator":"DATE_AFTER","value":"2026-01-31"}]}]}`
	}
	if r := s.ImportHere(t, data("12.5")); r.Skipped != 1 || !strings.Contains(fmt.Sprint(r.Features), "a whole number from 0 to 100") {
		t.Errorf("a fraction: %+v", r)
	}
	for range 2 {
		s.ImportHere(t, data("50.0"))
	}
	if r := s.ImportHere(t, data("50.0")); r.Unchanged != 1 {
		t.Errorf("imported again: %+v", r)
	}
	s.Check(t, apitest.Call{"normalized", "GET", apitest.In("f", "development") + "/strategies", "", 200, `[{"...":0,"parameters":{"...":0,"rollout":"50"},
		"constraints":[{"...":0,"value":"0.5"},{"...":0,"value":"2026-01-31T00:00:00.000Z"}]}]`})
}
