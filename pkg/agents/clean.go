package agents

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a result.
const (
	maxText  = 500    // characters of a text
	maxError = 2_000  // characters of an error
	maxList  = 50     // elements of a list, and members of an object
	maxDepth = 10     // lists and objects in each other
	maxTotal = 40_000 // bytes of all texts
)

// An object is one of JSON.
type object = map[string]any

// asJSON returns a value as JSON has it; nil if it cannot be.
func asJSON(value any) (decoded any) {
	if raw, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(raw, &decoded) // what was just encoded
	}
	return decoded
}

// member returns a member of a value that should be an object.
func member(of any, name string) any {
	o, _ := of.(object)
	return o[name]
}

// objects are the objects of a value that should be a list.
func objects(of any) (list []object) {
	all, _ := of.([]any)
	for _, one := range all {
		if o, is := one.(object); is {
			list = append(list, o)
		}
	}
	return list
}

// pick returns these members of a value that should be an object.
func pick(from any, names ...string) object {
	picked := object{}
	for _, name := range names {
		if value := member(from, name); value != nil {
			picked[name] = value
		}
	}
	return picked
}

// clean returns a value as JSON has it with short texts and lists, and whether it cut any. Texts lose what a reader does not see or
// what changes how the rest is shown. Members without a value are left out.
func clean(value any) (cleaned any, cut bool) {
	c := &cleaner{left: maxTotal}
	return c.value(asJSON(value), 0), c.cut
}

type cleaner struct {
	left int // bytes
	cut  bool
}

func (c *cleaner) value(value any, depth int) any {
	switch v := value.(type) {
	case string:
		return c.text(v)
	case []any:
		list := []any{}
		for i, one := range v {
			if c.ends(i, depth) {
				break
			}
			list = append(list, c.value(one, depth+1))
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if c.ends(i, depth) {
				break
			}
			if v[name] != nil && v[name] != "" {
				object[c.text(name)] = c.value(v[name], depth+1)
			}
		}
		return object
	}
	return value
}

// ends reports whether a list or object is cut before its i-th part.
func (c *cleaner) ends(i, depth int) bool {
	end := i >= maxList || depth >= maxDepth || c.left <= 0
	c.cut = c.cut || end
	return end
}

func (c *cleaner) text(text string) string {
	most := min(maxText, max(c.left, 0))
	c.cut = c.cut || utf8.RuneCountInString(text) > most
	text = cleanText(text, most)
	c.left -= len(text)
	return text
}

// cleanText returns at most that many characters of a text. Control characters, and those that are invisible or change the direction of
// others, become the replacement character.
func cleanText(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Co) {
			return utf8.RuneError
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
