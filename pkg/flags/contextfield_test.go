package flags

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestContextFieldCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		field ContextField
		want  []string
	}{
		{"plain", ContextField{Name: "country", LegalValues: []LegalValue{{Value: "NO"}, {Value: "a b/ø"}}}, []string{}},
		{"no name", ContextField{}, []string{"/name"}},
		{"an invalid name", ContextField{Name: "a b"}, []string{"/name"}},
		{"a value twice", ContextField{Name: "f", LegalValues: []LegalValue{{Value: "NO"}, {Value: "SE"}, {Value: "NO"}}}, []string{"/legalValues/2/value"}},
		{"an empty value", ContextField{Name: "f", LegalValues: []LegalValue{{}}}, []string{"/legalValues/0/value"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.field.Check(&p)
			if diff := cmp.Diff(tt.want, paths(p)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLegalValues(t *testing.T) {
	note := "n"
	f := ContextField{Name: "f", LegalValues: []LegalValue{{Value: "a"}, {Value: "b"}}}
	if got := f.WithValue(LegalValue{Value: "a", Description: &note}); len(got.LegalValues) != 2 || got.LegalValues[1].Description != &note {
		t.Errorf("described anew: %v", got.LegalValues)
	}
	if got := f.WithoutValue("a"); len(got.LegalValues) != 1 || len(f.LegalValues) != 2 {
		t.Errorf("without one: %v of %v", got.LegalValues, f.LegalValues)
	}
}

func TestContextFields(t *testing.T) {
	r := &ContextFields{}
	limits := DefaultLimits()
	limits.ContextFields = 7
	for _, f := range append(StandardContextFields(time.Time{}), ContextField{Name: "country"}, ContextField{Name: "tier"}) {
		if err := r.Add(f, limits); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, f := range r.List {
		names = append(names, f.Name)
	}
	if !slices.IsSorted(names) || !r.Has("userId") || r.Has("nosuch") {
		t.Errorf("fields are %q", names)
	}
	if err := r.Add(ContextField{Name: "tier"}, limits); KindOf(err) != NameExists {
		t.Errorf("a taken name: %v", err)
	}
	if err := r.Add(ContextField{Name: "more"}, limits); KindOf(err) != Invalid {
		t.Errorf("past the limit: %v", err)
	}
	uses, registry := usedBy()
	segments := []*Segment{{ID: 1, Name: "adults", Constraints: []Constraint{in("age", "18"), in("country", "NO")}}}
	for _, tt := range []struct{ name, want string }{
		{"country", `the context field "country" is in use by flag "a", flag "b", segment "adults"`},
		{"tier", "<nil>"}, // only an archived flag has a constraint on it
		{"nosuch", `there is no context field "nosuch"`},
	} {
		if got := fmt.Sprint(r.Clone().Remove(tt.name, uses, nil, registry, segments)); got != tt.want {
			t.Errorf("remove %s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
