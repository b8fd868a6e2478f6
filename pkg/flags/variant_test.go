package flags

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func variant(name string, weightType WeightType, weight float64) Variant {
	return Variant{Name: name, Weight: weight, WeightType: weightType, Stickiness: "default"}
}

func withPayload(kind, value string) Variant {
	v := variant("a", Variable, 0)
	v.Payload = &Payload{Type: kind, Value: value}
	return v
}

func TestCheckVariants(t *testing.T) {
	overridden := variant("a", Variable, 0)
	overridden.Overrides = []Override{{ContextName: "userId", Values: []string{"1"}}, {Values: []string{"2"}}}
	sticky := func(stickiness string) []Variant {
		return []Variant{{Name: "a", WeightType: Variable, Stickiness: stickiness}}
	}
	with := func(context string, values ...string) []Variant {
		v := variant("a", Variable, 0)
		v.Overrides = []Override{{ContextName: context, Values: values}}
		return []Variant{v}
	}
	tests := []struct {
		name     string
		variants []Variant
		want     []string // paths of the problems
		message  string   // part of the first one
	}{
		{"none", nil, nil, ""},
		{"one", []Variant{variant("a", Variable, 1000)}, nil, ""},
		{"weights with decimals", []Variant{variant("a", Fix, 333.3), variant("b", Variable, 666.7)}, nil, ""},
		{"variable weights over 1000 together", []Variant{variant("a", Variable, 1000), variant("b", Variable, 1000)}, nil, ""},
		{"fix weights just below 1000", []Variant{variant("a", Fix, 999.5), variant("b", Variable, 0)}, nil, ""},
		{"names that differ by case", []Variant{variant("a", Variable, 0), variant("A", Variable, 0)}, nil, ""},

		{"empty names", []Variant{variant("", Variable, 0), variant("", Variable, 0)}, []string{"/v/0/name", "/v/1/name"}, "required"},
		{"a name taken", []Variant{variant("a", Variable, 0), variant("b", Variable, 0), variant("a", Variable, 0)}, []string{"/v/2/name"}, "the variant at index 0"},
		{"a weight below 0", []Variant{variant("a", Variable, -1)}, []string{"/v/0/weight"}, "0 to 1000, not -1"},
		{"a weight over 1000", []Variant{variant("a", Variable, 1000.1)}, []string{"/v/0/weight"}, "not 1000.1"},
		{"another weight type", []Variant{variant("a", "fixed", 1), variant("b", Variable, 1)}, []string{"/v/0/weightType"}, "variable or fix"},
		{"no weight type", []Variant{variant("a", "", 1), variant("b", Variable, 1)}, []string{"/v/0/weightType"}, "variable or fix"},
		{"no stickiness", []Variant{{Name: "a", WeightType: Variable}}, []string{"/v/0/stickiness"}, "empty"},
		{"an override without context", []Variant{overridden}, []string{"/v/0/overrides/1/contextName"}, "required"},
		{"a double quote in a stickiness", sticky(`a"b`), []string{"/v/0/stickiness"}, "must not contain a double quote"},
		{"a line break in a stickiness", sticky("a\nb"), []string{"/v/0/stickiness"}, "must not contain control characters"},
		{"a double quote in an override", with(`a"b`, `"`, "\n"), []string{"/v/0/overrides/0/contextName"}, "must not contain a double quote"},
		{"a control character in an override", with("a\u0085"), []string{"/v/0/overrides/0/contextName"}, "must not contain control characters"},
		{"an empty value of an override", with("a", "1", ""), []string{"/v/0/overrides/0/values/1"}, "matches no context"},
		{"an override without values", with("a b"), nil, ""},
		{"no variable one", []Variant{variant("a", Fix, 500)}, []string{"/v"}, "at least one"},
		{"fix weights of 1000", []Variant{variant("a", Fix, 400), variant("b", Fix, 600), variant("c", Variable, 0)}, []string{"/v"}, "less than 1000; they add up to 1000"},
		{"fix weights of 1000 with decimals", []Variant{variant("a", Fix, 999.5), variant("b", Fix, 0.5), variant("c", Variable, 0)}, []string{"/v"}, "less than 1000"},
		{"both rules of the list", []Variant{variant("a", Fix, 1000)}, []string{"/v", "/v"}, "at least one"},
		{"a faulty payload", []Variant{withPayload("xml", "<a/>")}, []string{"/v/0/payload/type"}, "json, csv, string, number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			CheckVariants(tt.variants, "/v", &p)
			if got := paths(p); !slices.Equal(got, tt.want) {
				t.Fatalf("faults at %q, want %q: %v", got, tt.want, p)
			}
			if len(p) > 0 && !strings.Contains(p[0].Message, tt.message) {
				t.Errorf("message %q, want %q in it", p[0].Message, tt.message)
			}
		})
	}
}

func TestCheckVariantsPayload(t *testing.T) {
	tests := []struct {
		kind, value string
		want        string // path of the problem below the payload
	}{
		{"string", "", ""},
		{"string", "any \x00 thing", ""},
		{"csv", "a,b,c", ""},
		{"csv", `a,"b`, ""},
		{"json", `{"a": [1, null, "b"]}`, ""},
		{"json", ` 1 `, ""},
		{"json", `"text"`, ""},
		{"number", "1", ""},
		{"number", "-1.5e3", ""},

		{"", "a", "/type"},
		{"JSON", "{}", "/type"},
		{"json", "", "/value"},
		{"json", "{", "/value"},
		{"json", "{'a': 1}", "/value"},
		{"json", `{"a": 1,}`, "/value"},
		{"json", `{"a": 1} {}`, "/value"},
		{"json", `{"a": 1, "a": 2}`, "/value"},
		{"json", "\"\xff\"", "/value"},
		{"json", "NaN", "/value"},
		{"number", "", "/value"},
		{"number", "abc", "/value"},
		{"number", "NaN", "/value"},
		{"number", "0x10", "/value"},
		{"number", "1e999", "/value"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %q", tt.kind, tt.value), func(t *testing.T) {
			var p Problems
			CheckVariants([]Variant{withPayload(tt.kind, tt.value)}, "", &p)
			var want []string
			if tt.want != "" {
				want = append(want, "/0/payload"+tt.want)
			}
			if got := paths(p); !slices.Equal(got, want) {
				t.Errorf("faults at %q, want %q", got, want)
			}
		})
	}
}

func weights(variants []Variant) []float64 {
	list := []float64{}
	for _, v := range variants {
		list = append(list, v.Weight)
	}
	return list
}

func TestDistribute(t *testing.T) {
	tests := []struct {
		name     string
		variants []Variant
		want     []float64
	}{
		{"none", nil, []float64{}},
		{"one takes all", []Variant{variant("a", Variable, 3)}, []float64{1000}},
		{"what was sent does not count", []Variant{variant("a", Variable, 900), variant("b", Variable, 100)}, []float64{500, 500}},
		{"thirds", []Variant{variant("a", Variable, 0), variant("b", Variable, 0), variant("c", Variable, 0)}, []float64{334, 333, 333}},
		{"a fix one first", []Variant{variant("a", Fix, 1), variant("b", Variable, 0), variant("c", Variable, 0)}, []float64{1, 500, 499}},
		{"a fix one between", []Variant{variant("a", Variable, 0), variant("b", Fix, 333), variant("c", Variable, 0)}, []float64{334, 333, 333}},
		{"a fix one of 0", []Variant{variant("a", Fix, 0), variant("b", Variable, 0)}, []float64{0, 1000}},
		{"decimals are cut off", []Variant{variant("a", Fix, 333.9), variant("b", Variable, 0), variant("c", Fix, 0.9)}, []float64{333, 667, 0}},
		{"rest smaller than the number of variable variants", []Variant{variant("a", Variable, 0), variant("b", Fix, 998.5), variant("c", Variable, 0), variant("d", Variable, 0)}, []float64{1, 998, 1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent := slices.Clone(tt.variants)
			if got := weights(Distribute(tt.variants)); !slices.Equal(got, tt.want) {
				t.Errorf("weights %v, want %v", got, tt.want)
			}
			if !reflect.DeepEqual(tt.variants, sent) {
				t.Errorf("changed what it was given to %v, want %v", tt.variants, sent)
			}
		})
	}
}

// TestDistributeProperties checks general properties of Distribute for many mixes of fix and variable variants.
func TestDistributeProperties(t *testing.T) {
	for fixes := range 5 {
		for sharers := 1; sharers <= 40; sharers++ {
			for _, weight := range []float64{0, 0.5, 1, 99.99, 249.7} {
				checkDistribution(t, mixed(fixes, sharers, weight))
			}
		}
	}
	checkDistribution(t, mixed(0, 1500, 0))
	checkDistribution(t, mixed(3, 1500, 333.3))
}

// mixed returns a list of variants in which the fix ones are spread among the variable ones.
func mixed(fixes, sharers int, weight float64) []Variant {
	list := []Variant{}
	for i := range max(fixes, sharers) {
		if i < sharers {
			list = append(list, variant(fmt.Sprint("variable", i), Variable, float64(i)))
		}
		if i < fixes {
			list = append(list, variant(fmt.Sprint("fix", i), Fix, weight))
		}
	}
	return list
}

func checkDistribution(t *testing.T, variants []Variant) {
	t.Helper()
	var p Problems
	if CheckVariants(variants, "", &p); len(variants) <= 1000 && len(p) > 0 {
		t.Fatalf("faults %v, want a list without", p)
	}
	got := Distribute(variants)
	total, shares := 0.0, []float64{}
	for i, v := range got {
		total += v.Weight
		if v.Name != variants[i].Name {
			t.Errorf("variant %d is %s, want %s", i, v.Name, variants[i].Name)
		}
		if v.Weight != float64(int(v.Weight)) || v.Weight < 0 {
			t.Errorf("weight of %s is %v, want a whole number", v.Name, v.Weight)
		}
		if v.WeightType == Variable {
			shares = append(shares, v.Weight)
		}
	}
	if total != 1000 {
		t.Errorf("total of %v is %v, want 1000", weights(got), total)
	}
	if slices.Max(shares)-slices.Min(shares) > 1 {
		t.Errorf("shares %v, want them to differ by at most 1", shares)
	}
	if !slices.IsSortedFunc(shares, func(a, b float64) int { return int(b - a) }) {
		t.Errorf("shares %v, want the larger ones first", shares)
	}
	if again := Distribute(got); !reflect.DeepEqual(again, got) {
		t.Errorf("distributed again it is %v, want %v", weights(again), weights(got))
	}
}

func TestSetVariants(t *testing.T) {
	env := development()
	before := &Feature{Name: "f"}
	before.SetVariants(env, []Variant{variant("a", Variable, 0), variant("b", Variable, 0), variant("c", Variable, 0)})

	f := before.Clone()
	f.SetVariants(env, []Variant{variant("d", Fix, 100.5), variant("e", Variable, 0)})
	if got, want := weights(f.In(env).Variants), []float64{100, 900}; !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	if got, want := weights(before.In(env).Variants), []float64{334, 333, 333}; !slices.Equal(got, want) {
		t.Errorf("weights of the flag it was copied from %v, want %v", got, want)
	}
	f.SetVariants(env, []Variant{})
	if got := f.In(env).Variants; len(got) != 0 {
		t.Errorf("variants %v, want none", got)
	}

	untouched := &Feature{Name: "f"}
	untouched.SetVariants(env, []Variant{})
	if got := untouched.Environments; len(got) != 0 {
		t.Errorf("environments %v, want none for a list that holds nothing", got)
	}
}
