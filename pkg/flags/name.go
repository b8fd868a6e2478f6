package flags

import (
	"fmt"
	"slices"
)

// maxName is the maximum length of a name in characters.
const maxName = 100

// CheckName checks the name of a flag, project, environment, tag type, strategy type or context field, and
// returns the problem, or "". A name has 1 to 100 characters of A-Z a-z 0-9 . _ - ~ and is not "." or "..", so
// that it needs no escaping in a path.
func CheckName(name string) string {
	switch {
	case name == "":
		return "is required"
	case len(name) > maxName:
		return fmt.Sprintf("must have at most %d characters, but has %d", maxName, len(name))
	case name == "." || name == "..":
		return `must not be "." or ".."`
	}
	for _, c := range []byte(name) {
		if !isNameByte(c) {
			return fmt.Sprintf("%q contains a character that is not allowed: use only A-Z, a-z, 0-9 and . _ - ~", name)
		}
	}
	return ""
}

// IsNamePrefix reports whether a name can begin with a text.
func IsNamePrefix(text string) bool {
	return len(text) <= maxName && !slices.ContainsFunc([]byte(text), func(c byte) bool { return !isNameByte(c) })
}

func isNameByte(c byte) bool {
	switch {
	case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == '-' || c == '~'
}
