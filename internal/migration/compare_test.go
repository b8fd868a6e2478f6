//go:build migration

package migration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// differences returns the paths at which two trees differ, each with both values.
func differences(a, b any) []string {
	found := differ("", a, b)
	slices.Sort(found)
	return found
}

func differ(path string, a, b any) (found []string) {
	switch x := a.(type) {
	case snapshot:
		return differ(path, object(x), object(b.(snapshot)))
	case object:
		if y, ok := b.(object); ok {
			both := maps.Clone(x)
			maps.Copy(both, y)
			for name := range both {
				one, inOne := x[name]
				other, inOther := y[name]
				switch at := path + "/" + name; {
				case !inOther:
					found = append(found, fmt.Sprintf("%s: %s → absent", at, text(one)))
				case !inOne:
					found = append(found, fmt.Sprintf("%s: absent → %s", at, text(other)))
				default:
					found = append(found, differ(at, one, other)...)
				}
			}
			return found
		}
	case list:
		if y, ok := b.(list); ok && len(x) == len(y) {
			for i := range x {
				found = append(found, differ(fmt.Sprintf("%s/%d", path, i), x[i], y[i])...)
			}
			return found
		}
	}
	if one, other := text(a), text(b); one != other {
		found = append(found, fmt.Sprintf("%s: %s → %s", path, one, other))
	}
	return found
}

// text returns a value as JSON, shortened.
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
