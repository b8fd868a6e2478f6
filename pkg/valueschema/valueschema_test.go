package valueschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	const box = `{"type":"object","properties":{"size":{"$ref":"#/$defs/size"},"name":{"type":"string","pattern":"^[a-z]+$"}},"required":["size"],"$defs":{"size":{"type":"integer","minimum":1}}}`
	deep := strings.Repeat(`{"not":`, 61) + `{"type":"string"}` + strings.Repeat(`}`, 61)
	for _, tt := range []struct {
		name, schema string
		values       []string
		index        int
		want         string // a part of the error; "" for none
	}{
		{"values that match", box, []string{`{"size":1}`, `{"size":2,"name":"a"}`}, 0, ""},
		{"one that does not", box, []string{`{"size":1}`, `{"size":"2"}`}, 1, `size: type: 2 has type "string", want "integer"`},
		{"a pattern", box, []string{`{"size":1,"name":"A"}`}, 0, "does not match regular expression"},
		{"a missing property", box, []string{`{}`}, 0, `missing properties: ["size"]`},
		{"draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"number"}},"items":{"$ref":"#/definitions/n"}}`, []string{`["a"]`}, 0, `want "number"`},
		{"any value", `true`, []string{`{}`}, 0, ""},
		{"nested", deep, []string{`{}`}, 0, ""},
		{"letters of all scripts", `{"items":{"pattern":"^\\p{L}+$"}}`, []string{`["für"]`}, 0, ""},
		{"a large exponent", `{"items":{"type":"number"}}`, []string{`[1e999]`}, 0, "number is too large"},

		{"no schema", `7`, nil, -1, "must be a JSON Schema"},
		{"a type that is none", `{"type":7}`, nil, -1, "must be a JSON Schema"},
		{"null in the place of a schema", `{"properties":{"a":null}}`, nil, -1, "null is none"},
		{"another draft", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, nil, -1, "draft-04"},
		{"a remote reference", `{"$ref":"https://example.com/schema.json"}`, nil, -1, "$refs that name a definition"},
		{"a file", `{"items":{"$ref":"file:///etc/passwd"}}`, nil, -1, "$refs that name a definition"},
		{"the root", `{"properties":{"a":{"$ref":"#"}}}`, nil, -1, "$refs that name a definition"},
		{"the root, disguised", `{"$ref":"#","$defs":{"#":{}}}`, nil, -1, "$refs that name a definition"},
		{"the root, spelled in another way", `{"$REF":"#"}`, nil, -1, "$refs that name a definition"},
		{"a pointer to another place", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, nil, -1, "$refs that name a definition"},
		{"an escaped name", `{"$ref":"#/$defs/%61","$defs":{"%61":{},"a":{"$ref":"#/$defs/%61"}}}`, nil, -1, "$refs that name a definition"},
		{"a circle", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, nil, -1, "circle"},
		{"a circle of definitions that are spelled in two ways", `{"$ref":"#/$defs/a","$defs":{"a":{}},"$DEFS":{"a":{"$ref":"#/$defs/a"}}}`, nil, -1, "circle"},
		{"an id", `{"items":{"$id":"https://example.com/"}}`, nil, -1, "$id"},
		{"a dynamic reference", `{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, nil, -1, "$dynamicRef"},
		{"a reference that doubles thirty times", doubling(30), nil, -1, "at most 1000 nodes"},
		{"too many nodes", `{"anyOf":[` + strings.Repeat(`{},`, 1000) + `{}]}`, nil, -1, "at most 1000 nodes"},
		{"a long repetition", `{"pattern":"(abcdefghij){1000}"}`, nil, -1, "at most 1000 nodes"},
		{"many repetitions", `{"pattern":"` + strings.Repeat("[ab]{900}", 200) + `"}`, nil, -1, "at most 1000 nodes"},
		{"a repetition in a name", `{"patternProperties":{"a{999}b{999}":{}}}`, nil, -1, "at most 1000 nodes"},
		{"a look-ahead", `{"pattern":"(?=a)"}`, nil, -1, "RE2"},

		{"a pattern that takes other engines for ever", `{"items":{"pattern":"^(a+)+$"}}`, []string{`["` + strings.Repeat("a", 50_000) + `!"]`}, 0, "pattern"},
		{"many values for many nodes", `{"contains":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 200) + `{"type":"null"}]}}`, []string{"[" + strings.Repeat("1,", 20_000) + "1]"}, 0, "takes too much work"},
		{"many large values", box, []string{`{"size":1,"a":"` + strings.Repeat("x", 200_000) + `"}`, `{"size":1,"b":"` + strings.Repeat("x", 200_000) + `"}`}, 1, "takes too much work"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var values []jsontext.Value
			for _, v := range tt.values {
				values = append(values, jsontext.Value(v))
			}
			index, err := Check(jsontext.Value(tt.schema), values)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || index != tt.index) {
				t.Errorf("got %d, %v; want %d, %q", index, err, tt.index, tt.want)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// doubling is a schema in which each definition names the next one twice.
func doubling(times int) string {
	schema := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range times {
		schema += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%[2]d"},{"$ref":"#/$defs/d%[2]d"}]},`, i, i+1)
	}
	return schema + fmt.Sprintf(`"d%d":{}}}`, times)
}

// FuzzCheck looks for schemas and values that make the library panic, or overflow the stack.
func FuzzCheck(f *testing.F) {
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"type":["object","array"],"items":{"enum":[1,"a",null]},"oneOf":[{},{"minItems":2}]}}}`, `[1,{"a":[]}]`)
	f.Add(`{"if":{"const":{}},"then":{"multipleOf":0},"unevaluatedProperties":false,"dependentSchemas":{"a":true}}`, `{"a":1.5}`)
	f.Add(`{"contains":{"pattern":"a*"},"minContains":-1,"uniqueItems":true,"prefixItems":[{"maxLength":0.5}]}`, `["a","b",1e300]`)
	f.Add(`{"$REF":"#","Properties":{"a":{"$Ref":"#/$defs/b"}},"$DEFS":{"b":{}}}`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, v := jsontext.Value(schema), jsontext.Value(value)
		if len(s) > 1<<13 || !s.IsValid() || !v.IsValid() {
			t.Skip()
		}
		if index, err := Check(s, []jsontext.Value{v}); err != nil && (index > 0 || err.Error() == "") {
			t.Errorf("%d, %v", index, err)
		}
	})
}
