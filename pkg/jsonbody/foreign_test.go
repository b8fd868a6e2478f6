package jsonbody_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/jsonbody"
)

// A foreign has a field of each kind.
type foreign struct {
	Text    string             `json:"text"`
	Float   float64            `json:"float"`
	Whole   int64              `json:"whole"`
	Bool    bool               `json:"bool"`
	Texts   []string           `json:"texts"`
	Map     map[string]string  `json:"map"`
	Object  struct{ A string } `json:"object"`
	Pointer *string            `json:"pointer"`
}

// TestForeign checks what is read of a value of another type.
func TestForeign(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"text": 18}`: "18", `{"text": 18.0}`: "18", `{"text": 1e3}`: "1000", `{"text": 1.50}`: "1.50", `{"text": 9007199254740993}`: "9007199254740993", `{"text": 1e999}`: "1e999", `{"text": -0}`: "0",
		`{"text": true}`: "true", `{"text": null}`: "", `{"text": "\ud83d"}`: "\uFFFD", "{\"text\": \"a\xff\"}": "a\uFFFD", `{"text": "a", "text": "b"}`: "b",
		`{"text": {}}`: "/text: must be a string, not an object", `{"text": [1]}`: "/text: must be a string, not a list",
		`{"float": "1.5"}`: "1.5", `{"float": " 2 "}`: "2", `{"float": null}`: "0", `{"float": "NaN"}`: "/float: must be a number", `{"float": "0x10"}`: "/float: must be a number", `{"float": "1_0"}`: "/float: must be a number",
		`{"float": "1e999"}`: "/float: must be a number", `{"float": 1e999}`: "/float", `{"float": true}`: "/float: must be a number, not a boolean", `{"float": ""}`: "/float: must be a number",
		`{"whole": "3"}`: "3", `{"whole": 3.0}`: "3", `{"whole": 9007199254740993}`: "9007199254740993", `{"whole": 3.5}`: "/whole: must be a whole number", `{"whole": 1e30}`: "/whole: must be a whole number", `{"whole": "x"}`: "/whole: must be a whole number",
		`{"bool": "True"}`: "true", `{"bool": 1}`: "true", `{"bool": "0"}`: "false", `{"bool": null}`: "false", `{"bool": 2}`: "/bool: must be true or false", `{"bool": "yes"}`: "/bool: must be true or false", `{"bool": []}`: "/bool: must be true or false, not a list",
		`{"texts": null}`: "[]", `{"texts": {}}`: "[]", `{"texts": [1, "a"]}`: "[1 a]", `{"texts": [1, null, "a"]}`: "must not have null", `{"texts": {"a": 1}}`: "/texts: must be a list, not an object", `{"texts": "a"}`: "/texts: must be a list, not a string", `{"texts": [[]]}`: "/texts/0: must be a string",
		`{"map": []}`: "map[]", `{"map": null}`: "map[]", `{"map": {"a": 1}}`: "map[a:1]", `{"map": [1]}`: "/map: must be an object, not a list", `{"map": "a"}`: "/map: must be an object, not a string",
		`{"object": null}`: "/object: must be an object, not null", `{"object": []}`: "/object: must be an object, not a list", `{"pointer": null}`: "<nil>", `{"new": [{}]}`: "", `{`: "not valid JSON",
	} {
		var got foreign
		err := jsonbody.DecodeForeign([]byte(body), &got)
		is := map[string]string{
			"text": got.Text, "float": fmt.Sprint(got.Float), "whole": fmt.Sprint(got.Whole), "bool": fmt.Sprint(got.Bool), "texts": fmt.Sprint(got.Texts), "map": fmt.Sprint(got.Map), "pointer": fmt.Sprint(got.Pointer),
		}[strings.Split(body+`""`, `"`)[1]]
		if err != nil {
			is = err.Error()
		}
		if is != want && (err == nil || !strings.Contains(is, want)) {
			t.Errorf("%s is %q, want %q", body, is, want)
		}
	}
}

// TestItems checks that an item that cannot be read leaves the others.
func TestItems(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`: "absent", `{"list": null}`: "", `{"list": []}`: "", `{"list": {}}`: "", `{"list": [1, {}, "a", null, [2]]}`: "1 {} a  [2]", `{"list": "a"}`: `"a"`, `{"list": {"a": 1}}`: `{"a": 1}`,
	} {
		var got struct {
			List jsonbody.Items[string] `json:"list"`
		}
		if err := jsonbody.DecodeForeign([]byte(body), &got); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		var is []string
		for _, item := range got.List {
			if item.Err != nil {
				is = append(is, string(item.Raw))
			} else {
				is = append(is, item.Value)
			}
		}
		if text := strings.Join(is, " "); text != want && (want != "absent" || got.List != nil) {
			t.Errorf("%s is %q, want %q", body, text, want)
		}
	}
}
