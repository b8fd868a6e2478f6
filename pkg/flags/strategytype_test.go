package flags

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestStrategyTypeCheck(t *testing.T) {
	parameter := func(name, kind string) StrategyParameter { return StrategyParameter{Name: name, Type: kind} }
	tests := []struct {
		name string
		kind StrategyType
		want []string
	}{
		{"without parameters", StrategyType{Name: "mine"}, nil},
		{"with one of each type", StrategyType{Name: "mine", Parameters: []StrategyParameter{
			parameter("a", "string"), parameter("b", "percentage"), parameter("c", "list"), parameter("d", "number"), parameter("e", "boolean"),
		}}, nil},
		{"any name for a parameter", StrategyType{Name: "mine", Parameters: []StrategyParameter{parameter("a b/~é", "string")}}, nil},
		{"no name", StrategyType{}, []string{"/name"}},
		{"a bad name", StrategyType{Name: "a/b"}, []string{"/name"}},
		{"a parameter without anything", StrategyType{Name: "mine", Parameters: make([]StrategyParameter, 1)}, []string{"/parameters/0/name", "/parameters/0/type"}},
		{"a parameter of an unknown type", StrategyType{Name: "mine", Parameters: []StrategyParameter{parameter("a", "String")}}, []string{"/parameters/0/type"}},
		{"two of one name", StrategyType{Name: "mine", Parameters: []StrategyParameter{parameter("a", "list"), parameter("a", "list")}}, []string{"/parameters/1/name"}},
		{"a very long name", StrategyType{Name: "mine", Parameters: []StrategyParameter{parameter(strings.Repeat("é", 101), "list")}}, []string{"/parameters/0/name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.kind.Check(&p)
			if got := paths(p); !slices.Equal(got, tt.want) {
				t.Errorf("faults at %q, want %q: %v", got, tt.want, p)
			}
		})
	}
}

// TestCheckStrategyOfCustomType checks the parameters of strategies of a custom type.
func TestCheckStrategyOfCustomType(t *testing.T) {
	types := &StrategyTypes{List: []StrategyType{{Name: "mine", Parameters: []StrategyParameter{
		{Name: "need", Type: "string", Required: true}, {Name: "share", Type: "percentage"}, {Name: "n", Type: "number"},
		{Name: "on", Type: "boolean"}, {Name: "list", Type: "list"}, {Name: "a/b~c", Type: "number"},
	}}}}
	type parameters = map[string]string
	tests := []struct {
		name  string
		given parameters
		want  []string
	}{
		{"only what is required", parameters{"need": "x"}, nil},
		{"all", parameters{"need": "x", "share": "12.0", "n": "-1e3", "on": "false", "list": "a, b", "a/b~c": "0"}, nil},
		{"one that the type does not know", parameters{"need": "x", "other": "y"}, nil},
		{"an empty list", parameters{"need": "x", "list": ""}, nil},
		{"without what is required", parameters{"share": "1"}, []string{"/parameters/need"}},
		{"none at all", nil, []string{"/parameters/need"}},
		{"what is required, but empty", parameters{"need": ""}, []string{"/parameters/need"}},
		{"a fraction", parameters{"need": "x", "share": "12.5"}, []string{"/parameters/share"}},
		{"a percentage past 100", parameters{"need": "x", "share": "101"}, []string{"/parameters/share"}},
		{"a percentage below 0", parameters{"need": "x", "share": "-1"}, []string{"/parameters/share"}},
		{"an empty percentage", parameters{"need": "x", "share": ""}, []string{"/parameters/share"}},
		{"no number", parameters{"need": "x", "n": "many"}, []string{"/parameters/n"}},
		{"no boolean", parameters{"need": "x", "on": "yes"}, []string{"/parameters/on"}},
		{"a name that is escaped in a path", parameters{"need": "x", "a/b~c": "?"}, []string{"/parameters/a~1b~0c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Strategy{Name: "mine", Parameters: tt.given}.WithDefaults("f")
			var p, alone Problems
			s.Check(types, DefaultLimits(), &p)
			if got := paths(p); !slices.Equal(got, tt.want) {
				t.Errorf("faults at %q, want %q: %v", got, tt.want, p)
			}
			if s.CheckWithoutRegistry(DefaultLimits(), &alone); len(alone) > 0 {
				t.Errorf("faults without the registry: %v, want none", alone)
			}
		})
	}
}

func TestStrategyTypes(t *testing.T) {
	registry := &StrategyTypes{List: []StrategyType{{Name: "mine"}}}
	const builtIn = "default flexibleRollout userWithId remoteAddress applicationHostname gradualRolloutUserId gradualRolloutSessionId gradualRolloutRandom"
	tests := []struct {
		name   string
		change func(*StrategyTypes) error
		kind   Kind
		want   string // names after it, without the built-in ones
	}{
		{"added", func(s *StrategyTypes) error { return s.Add(StrategyType{Name: "more"}) }, -1, " mine more"},
		{"a taken name", func(s *StrategyTypes) error { return s.Add(StrategyType{Name: "mine"}) }, NameExists, " mine"},
		{"a built-in name", func(s *StrategyTypes) error { return s.Add(StrategyType{Name: "default"}) }, NameExists, " mine"},
		{"replaced", func(s *StrategyTypes) error { return s.Replace(StrategyType{Name: "mine", Title: "t"}) }, -1, " mine"},
		{"an unknown one replaced", func(s *StrategyTypes) error { return s.Replace(StrategyType{Name: "more"}) }, NotFound, " mine"},
		{"a built-in one replaced", func(s *StrategyTypes) error { return s.Replace(StrategyType{Name: "userWithId"}) }, Invalid, " mine"},
		{"removed", func(s *StrategyTypes) error { return s.Remove("mine") }, -1, ""},
		{"an unknown one removed", func(s *StrategyTypes) error { return s.Remove("more") }, NotFound, " mine"},
		{"a built-in one removed", func(s *StrategyTypes) error { return s.Remove("default") }, Invalid, " mine"},
		{"an unknown one", func(s *StrategyTypes) error { _, err := s.Get("more"); return err }, NotFound, " mine"},
		{"a built-in one", func(s *StrategyTypes) error { _, err := s.Get("default"); return err }, -1, " mine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := registry.Clone()
			err := tt.change(s)
			if err == nil && tt.kind != -1 || err != nil && KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %d", err, tt.kind)
			}
			var names []string
			for _, one := range s.All() {
				names = append(names, one.Name)
			}
			if got := strings.Join(names, " "); got != builtIn+tt.want {
				t.Errorf("strategy types %q, want %q", got, builtIn+tt.want)
			}
			if !reflect.DeepEqual(registry.List, []StrategyType{{Name: "mine"}}) {
				t.Errorf("the registry it was copied from is now %v", registry.List)
			}
		})
	}
	for _, one := range registry.All() {
		var p Problems
		if one.Check(&p); len(p) > 0 {
			t.Errorf("the type %s is faulty: %v", one.Name, p)
		}
	}
}
