package access

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// TestImportPermissions authorizes imports by a caller with read access and by one with some permissions in one
// environment. The import is refused for the first permission that the validation reports as missing.
func TestImportPermissions(t *testing.T) {
	roles := &Roles{Custom: []Role{{ID: 9, Type: CustomProjectRole, Name: "tester", Permissions: []Grant{
		{Permission: CreateFeature}, {Permission: UpdateFeatureEnvironment, Environment: "development"},
		{Permission: CreateFeatureStrategy, Environment: "production"},
	}}}}
	viewer := &User{ID: 7, RootRole: RoleViewer, Tokens: []UserToken{{Hash: "h"}}}
	caller, err := AuthenticateUser(&Token{Hash: "h", User: 7}, viewer, roles)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	env := flags.ProjectEnvironment{Environment: flags.Environment{Name: "development", UID: "e1"}, Attachment: flags.Attachment{ID: "a1", EnvironmentUID: "e1"}}
	project := &flags.Project{ID: "shop", UID: "p1"}
	kept, plain := flags.NewFeature(project, "kept", flags.Metadata{}, "test", at), flags.NewFeature(project, "plain", flags.Metadata{}, "test", at)
	kept.SetVariants(env, []flags.Variant{{Name: "v", WeightType: flags.Variable}})
	if err := kept.AddStrategy(env, flags.Strategy{ID: "s1", Name: "default"}, flags.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	there := map[string]*flags.Feature{"kept": kept, "plain": plain}
	on, off, simple := true, false, []flags.Strategy{{Name: "default"}}
	full := flags.ImportedFlag{Tags: []flags.Tag{{Type: "simple", Value: "v"}}, Strategies: simple, Enabled: &on}
	tests := []struct {
		name string
		role int64 // in the project
		flag string
		b    flags.ImportedFlag
		want []Permission
	}{
		{"a new flag", 0, "new", flags.ImportedFlag{}, []Permission{CreateFeature}},
		{"an overwritten one", 0, "plain", flags.ImportedFlag{}, []Permission{UpdateFeature}},
		{"with strategies and variants that go", 0, "kept", flags.ImportedFlag{Strategies: []flags.Strategy{}, Variants: []flags.Variant{}},
			[]Permission{UpdateFeature, UpdateFeatureEnvironment, UpdateFeatureVariants, DeleteFeatureStrategy}},
		{"switched off", 0, "plain", flags.ImportedFlag{Strategies: []flags.Strategy{}, Enabled: &off}, []Permission{UpdateFeature, UpdateFeatureEnvironment}},
		{"switched on for everybody", 0, "plain", flags.ImportedFlag{Strategies: []flags.Strategy{}, Enabled: &on},
			[]Permission{UpdateFeature, UpdateFeatureEnvironment, CreateFeatureStrategy}},
		{"switched on with nothing said of strategies", 0, "plain", flags.ImportedFlag{Enabled: &on}, []Permission{UpdateFeature, UpdateFeatureEnvironment}},
		{"with variants that come", 0, "new", flags.ImportedFlag{Variants: []flags.Variant{{Name: "v"}, {Name: "w"}}},
			[]Permission{CreateFeature, UpdateFeatureEnvironment, UpdateFeatureVariants}},
		{"everything", 0, "kept", full, []Permission{UpdateFeature, UpdateFeatureEnvironment, UpdateFeatureVariants, CreateFeatureStrategy, DeleteFeatureStrategy}},
		{"everything, as a tester", 9, "new", full, []Permission{UpdateFeature, CreateFeatureStrategy}},
		{"everything, as an owner", RoleOwner, "kept", full, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			project.Members = nil
			if tt.role != 0 {
				project.Members = map[int64][]int64{7: {tt.role}}
			}
			before := there[tt.flag]
			var got []Permission
			if err := caller.DryRun(&got).AuthorizeImport(tt.b, before, project, env); err != nil {
				t.Errorf("the rehearsal was refused: %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("permissions (-want +got):\n%s", diff)
			}
			err := caller.AuthorizeImport(tt.b, before, project, env)
			switch {
			case len(tt.want) == 0 && err != nil:
				t.Errorf("refused: %v", err)
			case len(tt.want) > 0 && (flags.KindOf(err) != flags.Forbidden || !strings.Contains(err.Error(), string(tt.want[0]))):
				t.Errorf("got %v, want it refused for want of %s", err, tt.want[0])
			}
		})
	}
}
