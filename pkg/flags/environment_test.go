package flags

import (
	"reflect"
	"strings"
	"testing"
)

func TestEnvironmentsAdd(t *testing.T) {
	limits := DefaultLimits()
	limits.Environments = 2
	tests := []struct {
		name    string
		list    []Environment
		add     Environment
		kind    Kind
		message string // "" for no error
	}{
		{"the first", nil, Environment{Name: "a"}, 0, ""},
		{"the last one allowed", []Environment{{Name: "a"}}, Environment{Name: "b"}, 0, ""},
		{"a name in another case", []Environment{{Name: "a"}}, Environment{Name: "A"}, 0, ""},
		{"past the limit", []Environment{{Name: "a"}, {Name: "b"}}, Environment{Name: "c"}, Invalid, "no more than 2"},
		{"a taken name", []Environment{{Name: "a"}}, Environment{Name: "a"}, NameExists, `"a"`},
		{"a taken name at the limit", []Environment{{Name: "a"}, {Name: "b"}}, Environment{Name: "b"}, NameExists, `"b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Environments{List: tt.list}
			e := before.Clone()
			err := e.Add(tt.add, limits)
			if (err != nil) != (tt.message != "") || err != nil && (KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message)) {
				t.Fatalf("error %v, want kind %d with %q in it", err, tt.kind, tt.message)
			}
			found := e.Find(tt.add.Name)
			if err == nil && (found == nil || *found != tt.add) {
				t.Errorf("found %v, want %v", found, tt.add)
			}
			want := len(tt.list)
			if err == nil {
				want++
			}
			if len(e.List) != want || !reflect.DeepEqual(before.List, tt.list) {
				t.Errorf("now %d, the registry it was copied from %v; want %d and %v", len(e.List), before.List, want, tt.list)
			}
		})
	}
}

func TestEnvironmentsFind(t *testing.T) {
	e := &Environments{List: []Environment{{Name: "a", UID: "1"}, {Name: "b", UID: "2"}}}
	if got := e.Find("b"); got == nil || got.UID != "2" {
		t.Errorf("found %v, want the one with UID 2", got)
	}
	for _, name := range []string{"", "c", "B", "__proto__"} {
		if got := e.Find(name); got != nil {
			t.Errorf("found %v as %q, want nothing", got, name)
		}
	}
}

func TestNextSortOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		orders []int64
		want   int64
	}{
		"none":       {nil, 0},
		"behind all": {[]int64{7, 2}, 8},
		"negative":   {[]int64{-5}, 0},
		"in reach":   {[]int64{1<<53 - 1}, 1<<53 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Environments{}
			for _, order := range tt.orders {
				e.List = append(e.List, Environment{SortOrder: order})
			}
			if got := e.NextSortOrder(); got != tt.want {
				t.Errorf("next %d, want %d", got, tt.want)
			}
		})
	}
}

func TestEnvironmentsSetSortOrders(t *testing.T) {
	tests := []struct {
		name  string
		order map[string]int64
		want  string // by sort order, "" for a refusal
	}{
		{"nothing", nil, "c a b"},
		{"one, behind all", map[string]int64{"c": 9}, "a b c"},
		{"all", map[string]int64{"a": 3, "b": -2, "c": 1}, "b c a"},
		{"equal ones are by name", map[string]int64{"a": 0, "b": 0, "c": 0}, "a b c"},
		{"an unknown one changes nothing", map[string]int64{"a": 9, "nosuch": 1}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Environments{List: []Environment{{Name: "a", SortOrder: 2}, {Name: "b", SortOrder: 2}, {Name: "c", SortOrder: 1}}}
			e := before.Clone()
			err := e.SetSortOrders(tt.order)
			if refused := err != nil; refused != (tt.want == "") || refused && (KindOf(err) != Invalid || !strings.Contains(err.Error(), `"nosuch"`)) {
				t.Errorf("error %v, want one that names nosuch: %t", err, tt.want == "")
			}
			want := tt.want
			if want == "" {
				want = "c a b"
			}
			var names []string
			for _, env := range e.Sorted() {
				names = append(names, env.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("order %q, want %q", got, want)
			}
			if before.List[0].SortOrder != 2 || before.List[2].SortOrder != 1 {
				t.Errorf("the registry it was copied from is now %v", before.List)
			}
		})
	}
}

func TestEnvironmentsRemove(t *testing.T) {
	tests := []struct {
		name string
		kind Kind // Internal for none
		want string
	}{
		{"a", Internal, "kept"},
		{"kept", Invalid, "a kept"},
		{"nosuch", NotFound, "a kept"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Environments{List: []Environment{{Name: "a"}, {Name: "kept", Protected: true}}}
			e := before.Clone()
			err := e.Remove(tt.name)
			if KindOf(err) != tt.kind || (err == nil) != (tt.kind == Internal) {
				t.Errorf("error %v, want kind %d", err, tt.kind)
			}
			var names []string
			for _, env := range e.List {
				names = append(names, env.Name)
			}
			if got := strings.Join(names, " "); got != tt.want || before.List[0].Name != "a" {
				t.Errorf("left %q, want %q; the registry it was copied from is %v", got, tt.want, before.List)
			}
		})
	}
}
