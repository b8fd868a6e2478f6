package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Anything matches every body.
const Anything = `"<any>"`

// Match returns the differences between a body and the wanted JSON, which is "" for no body. In the wanted JSON, "<any>" matches
// any value, "<uuid>" and "<time>" match a value of that form, and "<has x>" matches a string that contains x. An object with
// a field "..." matches objects with additional fields.
func Match(want, got string) []string {
	if want == "" || want == Anything {
		if want == "" && got != "" {
			return []string{"a body, want none"}
		}
		return nil
	}
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return []string{"the wanted JSON is invalid: " + err.Error()}
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		return []string{"the body is not JSON: " + err.Error()}
	}
	return differences("", w, plainError(w, g))
}

// plainError returns an error of the OpenFeature manifest in the form of all other errors, if one of that form is wanted.
func plainError(want, got any) any {
	w, _ := want.(map[string]any)
	g, _ := got.(map[string]any)
	inner, is := g["error"].(map[string]any)
	if _, wanted := w["error"]; !is || wanted || len(g) > 1 {
		return got
	}
	failure := map[string]any{"id": inner["id"], "name": w["name"], "message": inner["message"]}
	if details, has := inner["details"].([]any); has {
		for _, detail := range details {
			d := detail.(map[string]any)
			d["description"] = d["message"]
			if field, at := d["field"].(string); at {
				d["path"] = "/" + field
				delete(d, "field")
			}
		}
		failure["details"] = details
	}
	return failure
}

var shapes = map[string]*regexp.Regexp{
	"<uuid>": regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
	"<time>": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
}

func differences(at string, want, got any) []string {
	different := []string{fmt.Sprintf("at %q: %#v, want %#v", at, got, want)}
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return different
		}
		return memberDifferences(at, want, object)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return different
		}
		var all []string
		for i := range want {
			all = append(all, differences(fmt.Sprintf("%s/%d", at, i), want[i], list[i])...)
		}
		return all
	case string:
		if matchesText(want, got) {
			return nil
		}
		return different
	}
	if want != got {
		return different
	}
	return nil
}

func memberDifferences(at string, want, got map[string]any) []string {
	var all []string
	_, open := want["..."]
	if message, detail := want["message"]; detail && strings.Contains(at, "/details/") {
		want["description"] = message // the two fields of a detail are always equal
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, there := got[name]; there {
			all = append(all, differences(at+"/"+name, want[name], value)...)
		} else if name != "..." {
			all = append(all, fmt.Sprintf("at %q: no field %q", at, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[name]; !wanted && !open {
			all = append(all, fmt.Sprintf("at %q: an additional field %q", at, name))
		}
	}
	return all
}

func matchesText(want string, got any) bool {
	text, isText := got.(string)
	if want == "<any>" {
		return true
	}
	if shape := shapes[want]; shape != nil {
		return isText && shape.MatchString(text)
	}
	if part, ok := strings.CutPrefix(want, "<has "); ok {
		return isText && strings.Contains(text, strings.TrimSuffix(part, ">"))
	}
	return isText && text == want
}

// Failure is the body of an error without details, whose message contains part.
func Failure(name, part string) string {
	message, _ := json.Marshal("<has " + part + ">")
	return fmt.Sprintf(`{"id":"<uuid>","name":%q,"message":%s}`, name, message)
}

// NotFound is the body of a 404 whose message contains part.
func NotFound(part string) string { return Failure("NotFoundError", part) }

// Invalid is the body of a 400 whose details have the paths of the invalid fields, in that order.
func Invalid(paths ...string) string {
	details := make([]string, len(paths))
	for i, path := range paths {
		details[i] = fmt.Sprintf(`{"message":"<any>","path":%q}`, path)
		if path == "" { // the body as a whole
			details[i] = `{"message":"<any>"}`
		}
	}
	message := "<any>"
	if paths[0] != "" {
		message = "<has " + paths[0] + ">"
	}
	return fmt.Sprintf(`{"id":"<uuid>","name":"ValidationError","message":%q,"details":[%s]}`, message, strings.Join(details, ","))
}

// Malformed is the body of a 400 for invalid JSON, or for a patch that cannot be applied.
func Malformed(part string) string { return Failure("ValidationError", part) }
