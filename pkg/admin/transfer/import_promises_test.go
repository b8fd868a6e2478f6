package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// partialImports has data of which parts cannot be imported. The service has the flags "kept", "old" (archived), "elsewhere" (in
// another project) and "child" (which depends on "parent"), the segments "here" and "theirs" (of another project), and the
// strategy type "defined". skipped has the names of the flags and other objects that the import must skip.
var partialImports = []struct{ name, data, skipped string }{
	{"valid data", `"features":[{"name":"a"},{"name":"kept"}],"featureStrategies":[{"featureName":"a","name":"default"}]`, ""},
	{"a flag of another project", `"features":[{"name":"elsewhere"},{"name":"a"}]`, "elsewhere"},
	{"an archived flag", `"features":[{"name":"old"},{"name":"a"}]`, "old"},
	{"a segment without a name", `"features":[{"name":"a"},{"name":"b"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}]`, "a"},
	{"an unknown segment", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"s"}]`, "a"},
	{"an unknown segment that no strategy uses", `"features":[{"name":"a"}],"segments":[{"id":7,"name":"s"}]`, ""},
	{"an unknown segment with constraints", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"s","constraints":[]}]`, ""},
	{"a segment with invalid constraints", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],
		"segments":[{"id":7,"name":"s","constraints":[{"contextName":"x","operator":"NUM_EQ","value":"y"}]}]`, "a s"},
	{"a duplicate segment", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7,8]}],
		"segments":[{"id":7,"name":"s","constraints":[]},{"id":8,"name":"s","constraints":[]}]`, "a"},
	{"an existing segment", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"here"}]`, ""},
	{"a segment of another project", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"theirs","constraints":[]}]`, "a"},
	{"a segment of another project that no strategy uses", `"features":[{"name":"a"}],"segments":[{"id":7,"name":"theirs","constraints":[]}]`, ""},
	{"a missing parent", `"features":[{"name":"a"},{"name":"b"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"nosuch"}]}]`, "a"},
	{"an archived parent", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"old"}]}]`, "a"},
	{"a parent of another project", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"elsewhere"}]}]`, "a"},
	{"a parent that is a child", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"child"}]}]`, "a"},
	{"a child that is a parent", `"features":[{"name":"parent"},{"name":"a"}],"dependencies":[{"feature":"parent","dependencies":[{"feature":"a"}]}]`, "parent"},
	{"a parent that is skipped", `"features":[{"name":"a"},{"name":"b"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"b"}]}],"featureStrategies":[{"featureName":"b","name":"nosuch"}]`, "a b"},
	{"a flag that is its own parent", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"a"}]}]`, "a"},
	{"a cycle of dependencies", `"features":[{"name":"a"},{"name":"b"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"b"}]},{"feature":"b","dependencies":[{"feature":"a"}]}]`, "a b"},
	{"variants of a parent that must be disabled", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"kept","enabled":false,"variants":["v"]}]}]`, "a"},
	{"a strategy type that is defined", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"defined"}]`, ""},
	{"an unknown strategy type", `"features":[{"name":"a"},{"name":"b"}],"featureStrategies":[{"featureName":"a","name":"nosuch"}]`, "a"},
	{"a tag type", `"features":[{"name":"a"}],"featureTags":[{"featureName":"a","tagType":"team","tagValue":"core"}]`, ""},
	{"a tag type with an invalid name", `"features":[{"name":"a"},{"name":"b"}],"featureTags":[{"featureName":"a","tagType":"x","tagValue":"core"}]`, "a x"},
	{"a tag value that is too long", `"features":[{"name":"a"}],"featureTags":[{"featureName":"a","tagType":"simple","tagValue":"` + strings.Repeat("x", 300) + `"}]`, "a"},
	{"a context field with an invalid name", `"features":[{"name":"a"}],"contextFields":[{"name":"a b"},{"name":"good"}]`, "a b"},
	{"a duplicate flag", `"features":[{"name":"a"},{"name":"a","description":"again"}]`, ""},
	{"a duplicate context field", `"features":[],"contextFields":[{"name":"good"},{"name":"good"}]`, ""},
	{"a duplicate tag type", `"features":[],"tagTypes":[{"name":"team"},{"name":"team"}]`, ""},
	{"too many strategies", `"features":[{"name":"a"}],"featureStrategies":[` + strings.Repeat(`{"featureName":"a","name":"default"},`, 30) + `{"featureName":"a","name":"default"}]`, "a"},
	{"too many tags", `"features":[{"name":"a"}],"featureTags":[` + tagsOfA(31) + `]`, "a"},
	{"an invalid constraint", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","constraints":[{"contextName":"x","operator":"NUM_EQ","value":"y"}]}]`, "a"},
	{"an invalid parameter", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"flexibleRollout","parameters":{"rollout":"200"}}]`, "a"},
	{"invalid variants", `"features":[{"name":"a"}],"featureEnvironments":[{"featureName":"a","variants":[{"name":"v","weight":2000,"weightType":"fix","stickiness":"default"}]}]`, "a"},
	{"enabled without the list of strategies", `"features":[{"name":"a"}],"featureEnvironments":[{"featureName":"a","enabled":true}]`, "a"},
	{"enabled with no strategies", `"features":[{"name":"a"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"a","enabled":true}]`, ""},
}

// tagsOfA returns n tags of the flag "a".
func tagsOfA(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"featureName":"a","tagType":"simple","tagValue":"tag-%d"}`, i)
	}
	return strings.Join(list, ",")
}

// TestValidationMatchesImport validates and imports data. The validation must report what the import skips, creates and
// overwrites.
func TestValidationMatchesImport(t *testing.T) {
	t.Parallel()
	for _, tt := range partialImports {
		t.Run(tt.name, func(t *testing.T) {
			s := apitest.Serve(t)
			s.Create(t, "kept", "old", "parent", "child")
			s.Depend(t, "parent", "child")
			s.Must(t, "DELETE", apitest.Features+"/old", "")
			s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
			s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"elsewhere"}`)
			s.AddSegment(t, `{"name":"here","constraints":[]}`)
			s.AddSegment(t, `{"name":"theirs","project":"shop","constraints":[]}`)
			s.Must(t, "POST", "/api/admin/strategies", `{"name":"defined","parameters":[]}`)
			reported := apitest.Decode[validated](t, s.Must(t, "POST", apitest.ValidateImport, apitest.ImportOf(tt.data)).Body)
			got := apitest.Decode[apitest.ImportReport](t, s.Must(t, "POST", apitest.Import, apitest.ImportOf(tt.data)).Body)
			checkImport(t, reported, got)
			var skipped []string
			for _, row := range slices.Concat(got.Features, got.Others) {
				if row.Outcome == "skipped" {
					skipped = append(skipped, row.Name)
				}
			}
			slices.Sort(skipped)
			want := strings.Fields(tt.skipped)
			if tt.skipped == "a b" && strings.Contains(tt.name, "context field") {
				want = []string{tt.skipped}
			}
			if !slices.Equal(skipped, want) {
				t.Errorf("the import skipped %q, want %q; report %+v", skipped, want, got)
			}
			if len(want) == 0 && len(reported.Errors) > 0 || len(want) > 0 && len(reported.Errors)+len(reported.Warnings) == 0 {
				t.Errorf("the validation reported %+v, the import skipped %q", reported, want)
			}
		})
	}
}

// checkImport compares the findings of a validation with the report of the import, name by name.
func checkImport(t *testing.T, reported validated, got apitest.ImportReport) {
	t.Helper()
	var skipped, toCreate, overwritten, created []string
	for _, f := range reported.Errors {
		skipped = append(skipped, f.AffectedItems...)
	}
	for _, f := range reported.Warnings {
		switch {
		case strings.Contains(f.Message, "skipped"):
			skipped = append(skipped, f.AffectedItems...)
		case strings.Contains(f.Message, "will be created"):
			toCreate = append(toCreate, f.AffectedItems...)
		case strings.Contains(f.Message, "will be overwritten"):
			overwritten = append(overwritten, f.AffectedItems...)
		}
	}
	var why strings.Builder // the skipped names with the reasons
	for _, row := range slices.Concat(got.Features, got.Others) {
		reasons := strings.Join(row.Reasons, "; ")
		switch row.Outcome {
		case "skipped":
			fmt.Fprintf(&why, "%q %s; ", row.Name, reasons)
			if !slices.ContainsFunc(skipped, func(name string) bool { return name == row.Name || mentions(reasons, name) }) {
				t.Errorf("%s %s was skipped (%s), but the validation reported only %+v", row.Kind, row.Name, reasons, reported)
			}
		case "created":
			if row.Kind != "flag" {
				created = append(created, row.Name)
			}
		}
		if existed := row.Outcome == "overwritten" || row.Outcome == "unchanged"; existed && row.Kind == "flag" && !slices.Contains(overwritten, row.Name) {
			t.Errorf("flag %s existed, but the validation reported only %+v", row.Name, reported)
		}
	}
	for _, name := range skipped {
		if !mentions(why.String(), name) {
			t.Errorf("the validation reported that %q is skipped, but the import skipped only %s", name, why.String())
		}
	}
	slices.Sort(toCreate)
	slices.Sort(created)
	if !slices.Equal(toCreate, created) {
		t.Errorf("the validation reported that %q will be created, but the import created %q", toCreate, created)
	}
}

// mentions reports whether a text names an object.
func mentions(text, name string) bool {
	return strings.Contains(text, fmt.Sprintf("%q", name)) || strings.Contains(text, "segment "+name)
}
