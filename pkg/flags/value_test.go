package flags

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestValuesOfDeletedEnvironments checks that a payload which applications can never get again does not keep a flag from a type.
func TestValuesOfDeletedEnvironments(t *testing.T) {
	t.Parallel()
	before := &Feature{Name: "f", Environments: map[string]FeatureEnvironment{
		"qa": {EnvironmentState: EnvironmentState{EnvironmentUID: "uid-qa"}, Variants: []Variant{{Name: "a", Payload: &Payload{"string", "x"}}}},
	}}
	after := before.Clone()
	after.Typing = Typing{ValueType: NumberValue, DefaultValue: jsontext.Value("1")}
	check := func(uid string) error {
		return Write{Before: before, After: after}.CheckValues(func() *Environments {
			return &Environments{List: []Environment{{Name: "qa", UID: uid}}}
		})
	}
	if err := check("uid-qa"); KindOf(err) != Conflict || !strings.Contains(err.Error(), `variant "a" in environment "qa"`) {
		t.Errorf("%v, want a conflict that names the place", err)
	}
	if err := check("uid-of-a-later-qa"); err != nil {
		t.Errorf("%v, want none", err)
	}
	before.Typing, before.Archived, after.Archived = Typing{}, true, true
	if err := check("uid-qa"); err != nil {
		t.Errorf("an archived flag: %v, want none", err)
	}
}

// TestServedValues checks that applications get the type and the default value of a flag, and that changing the schema changes nothing for them.
func TestServedValues(t *testing.T) {
	t.Parallel()
	before := &Feature{Name: "f", Metadata: Metadata{Typing: Typing{ValueType: ObjectValue, DefaultValue: jsontext.Value("{}")}}}
	after := before.Clone()
	after.ValueSchema = jsontext.Value("true")
	if (Write{Before: before, After: after}).ChangesServed() {
		t.Error("the schema is served")
	}
	after.DefaultValue = jsontext.Value("[]")
	if !(Write{Before: before, After: after}).ChangesServed() {
		t.Error("the default value is not served")
	}
}
