package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// awkwardData is data that cannot all be imported into a service with the flags "kept", "old", which is archived,
// "elsewhere", of another project, and "child", which depends on "parent"; the segments "here" and "theirs", of another
// project; and the strategy type "defined". skipped are the flags and other things that must be, by name.
var awkwardData = []struct{ name, data, skipped string }{
	{"nothing wrong", `"features":[{"name":"a"},{"name":"kept"}],"featureStrategies":[{"featureName":"a","name":"default"}]`, ""},
	{"a flag of another project", `"features":[{"name":"elsewhere"},{"name":"a"}]`, "elsewhere"},
	{"an archived flag", `"features":[{"name":"old"},{"name":"a"}]`, "old"},
	{"a segment without a name", `"features":[{"name":"a"},{"name":"b"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}]`, "a"},
	{"an unknown segment", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"s"}]`, "a"},
	{"an unknown segment that nobody has", `"features":[{"name":"a"}],"segments":[{"id":7,"name":"s"}]`, ""},
	{"an unknown segment with constraints", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"s","constraints":[]}]`, ""},
	{"with wrong ones", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],
		"segments":[{"id":7,"name":"s","constraints":[{"contextName":"x","operator":"NUM_EQ","value":"y"}]}]`, "a s"},
	{"a segment twice", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7,8]}],
		"segments":[{"id":7,"name":"s","constraints":[]},{"id":8,"name":"s","constraints":[]}]`, "a"},
	{"a segment that is there", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"here"}]`, ""},
	{"another project's", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","segments":[7]}],"segments":[{"id":7,"name":"theirs","constraints":[]}]`, "a"},
	{"another project's that nobody has", `"features":[{"name":"a"}],"segments":[{"id":7,"name":"theirs","constraints":[]}]`, ""},
	{"a missing parent", `"features":[{"name":"a"},{"name":"b"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"nosuch"}]}]`, "a"},
	{"an archived parent", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"old"}]}]`, "a"},
	{"a parent of another project", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"elsewhere"}]}]`, "a"},
	{"a parent that is a child", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"child"}]}]`, "a"},
	{"a child that is a parent", `"features":[{"name":"parent"},{"name":"a"}],"dependencies":[{"feature":"parent","dependencies":[{"feature":"a"}]}]`, "parent"},
	{"a parent that is skipped", `"features":[{"name":"a"},{"name":"b"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"b"}]}],"featureStrategies":[{"featureName":"b","name":"nosuch"}]`, "a b"},
	{"a flag of its own", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"a"}]}]`, "a"},
	{"a circle", `"features":[{"name":"a"},{"name":"b"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"b"}]},{"feature":"b","dependencies":[{"feature":"a"}]}]`, "a b"},
	{"variants of a parent that is off", `"features":[{"name":"a"}],"dependencies":[{"feature":"a","dependencies":[{"feature":"kept","enabled":false,"variants":["v"]}]}]`, "a"},
	{"a strategy type that is defined", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"defined"}]`, ""},
	{"one that is not", `"features":[{"name":"a"},{"name":"b"}],"featureStrategies":[{"featureName":"a","name":"nosuch"}]`, "a"},
	{"a tag type", `"features":[{"name":"a"}],"featureTags":[{"featureName":"a","tagType":"team","tagValue":"core"}]`, ""},
	{"one whose name cannot be", `"features":[{"name":"a"},{"name":"b"}],"featureTags":[{"featureName":"a","tagType":"x","tagValue":"core"}]`, "a x"},
	{"a value that cannot be", `"features":[{"name":"a"}],"featureTags":[{"featureName":"a","tagType":"simple","tagValue":"` + strings.Repeat("x", 300) + `"}]`, "a"},
	{"a context field whose name cannot be", `"features":[{"name":"a"}],"contextFields":[{"name":"a b"},{"name":"good"}]`, "a b"},
	{"a flag twice", `"features":[{"name":"a"},{"name":"a","description":"again"}]`, ""},
	{"a context field twice", `"features":[],"contextFields":[{"name":"good"},{"name":"good"}]`, ""},
	{"a tag type twice", `"features":[],"tagTypes":[{"name":"team"},{"name":"team"}]`, ""},
	{"too many strategies", `"features":[{"name":"a"}],"featureStrategies":[` + strings.Repeat(`{"featureName":"a","name":"default"},`, 30) + `{"featureName":"a","name":"default"}]`, "a"},
	{"too many tags", `"features":[{"name":"a"}],"featureTags":[` + tagsOfA(31) + `]`, "a"},
	{"a wrong constraint", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"default","constraints":[{"contextName":"x","operator":"NUM_EQ","value":"y"}]}]`, "a"},
	{"a wrong parameter", `"features":[{"name":"a"}],"featureStrategies":[{"featureName":"a","name":"flexibleRollout","parameters":{"rollout":"200"}}]`, "a"},
	{"wrong variants", `"features":[{"name":"a"}],"featureEnvironments":[{"featureName":"a","variants":[{"name":"v","weight":2000,"weightType":"fix","stickiness":"default"}]}]`, "a"},
	{"on without anything said of strategies", `"features":[{"name":"a"}],"featureEnvironments":[{"featureName":"a","enabled":true}]`, "a"},
	{"on without strategies", `"features":[{"name":"a"}],"featureStrategies":[],"featureEnvironments":[{"featureName":"a","enabled":true}]`, ""},
}

func tagsOfA(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"featureName":"a","tagType":"simple","tagValue":"tag-%d"}`, i)
	}
	return strings.Join(list, ",")
}

// TestValidationMatchesImport has awkward data validated and imported: what the import skips, the validation said, and
// what the validation said would be made or overwritten, the import makes or overwrites.
func TestValidationMatchesImport(t *testing.T) {
	t.Parallel()
	for _, tt := range awkwardData {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			s.create(t, "kept", "old", "parent", "child")
			s.depends(t, "parent", "child")
			s.must(t, "DELETE", features+"/old", "")
			s.must(t, "POST", projects, aShop)
			s.must(t, "POST", projects+"/shop/features", `{"name":"elsewhere"}`)
			s.segment(t, `{"name":"here","constraints":[]}`)
			s.segment(t, `{"name":"theirs","project":"shop","constraints":[]}`)
			s.must(t, "POST", "/api/admin/strategies", `{"name":"defined","parameters":[]}`)
			said := decoded[validated](t, s.must(t, "POST", validateImport, importOf(tt.data)).body)
			got := decoded[report](t, s.must(t, "POST", importData, importOf(tt.data)).body)
			keepsPromises(t, said, got)
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
				t.Errorf("the import skipped %q, want %q; it said %+v", skipped, want, got)
			}
			if len(want) == 0 && len(said.Errors) > 0 || len(want) > 0 && len(said.Errors)+len(said.Warnings) == 0 {
				t.Errorf("validation said %+v, and the import skipped %q", said, want)
			}
		})
	}
}

// keepsPromises compares what a validation said with what the import did, name by name.
func keepsPromises(t *testing.T, said validated, got report) {
	t.Helper()
	var stops, made, overwritten, created []string
	for _, f := range said.Errors {
		stops = append(stops, f.AffectedItems...)
	}
	for _, f := range said.Warnings {
		switch {
		case strings.Contains(f.Message, "skipped"):
			stops = append(stops, f.AffectedItems...)
		case strings.Contains(f.Message, "will be created"):
			made = append(made, f.AffectedItems...)
		case strings.Contains(f.Message, "will be overwritten"):
			overwritten = append(overwritten, f.AffectedItems...)
		}
	}
	var why strings.Builder // the names of what was skipped, and the reasons
	for _, row := range slices.Concat(got.Features, got.Others) {
		reasons := strings.Join(row.Reasons, "; ")
		switch row.Outcome {
		case "skipped":
			fmt.Fprintf(&why, "%q %s; ", row.Name, reasons)
			if !slices.ContainsFunc(stops, func(name string) bool { return name == row.Name || mentions(reasons, name) }) {
				t.Errorf("%s %s was skipped (%s), and validation said only %+v", row.Kind, row.Name, reasons, said)
			}
		case "created":
			if row.Kind != "flag" {
				created = append(created, row.Name)
			}
		}
		if isThere := row.Outcome == "overwritten" || row.Outcome == "unchanged"; isThere && row.Kind == "flag" && !slices.Contains(overwritten, row.Name) {
			t.Errorf("flag %s was there, and validation said only %+v", row.Name, said)
		}
	}
	for _, name := range stops {
		if !mentions(why.String(), name) {
			t.Errorf("validation said that %q stands in the way, and the import skipped only %s", name, why.String())
		}
	}
	slices.Sort(made)
	slices.Sort(created)
	if !slices.Equal(made, created) {
		t.Errorf("validation said that %q will be made, and the import made %q", made, created)
	}
}

// mentions tells whether a text names something.
func mentions(text, name string) bool {
	return strings.Contains(text, fmt.Sprintf("%q", name)) || strings.Contains(text, "segment "+name)
}
