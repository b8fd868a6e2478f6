package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// differences are the places in which two trees differ: a path, and what is there on either side.
func differences(a, b any) []string {
	var found []string
	differ("", a, b, &found)
	slices.Sort(found)
	return found
}

func differ(path string, a, b any, found *[]string) {
	switch x := a.(type) {
	case snapshot:
		differ(path, object(x), object(b.(snapshot)), found)
		return
	case object:
		if y, ok := b.(object); ok {
			for name := range union(x, y) {
				one, inOne := x[name]
				other, inOther := y[name]
				switch {
				case !inOther:
					*found = append(*found, fmt.Sprintf("%s/%s: %s → absent", path, name, text(one)))
				case !inOne:
					*found = append(*found, fmt.Sprintf("%s/%s: absent → %s", path, name, text(other)))
				default:
					differ(path+"/"+name, one, other, found)
				}
			}
			return
		}
	case list:
		if y, ok := b.(list); ok && len(x) == len(y) {
			for i := range x {
				differ(fmt.Sprintf("%s/%d", path, i), x[i], y[i], found)
			}
			return
		}
	}
	if one, other := text(a), text(b); one != other {
		*found = append(*found, fmt.Sprintf("%s: %s → %s", path, one, other))
	}
}

func union(a, b object) map[string]bool {
	names := map[string]bool{}
	for _, m := range []object{a, b} {
		for name := range maps.Keys(m) {
			names[name] = true
		}
	}
	return names
}

// text is a value in one line, as JSON has it: the members of objects are sorted in it.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	s := string(raw)
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
