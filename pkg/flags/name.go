package flags

import "fmt"

// maxName is the longest name, in characters.
const maxName = 100

// CheckName says what is wrong with the name of a flag, project, environment or tag type; "" when nothing is.
// A name is 1 to 100 characters of A-Z a-z 0-9 . _ - ~ and never "." or "..", so that it is a path segment as it is.
func CheckName(name string) string {
	switch {
	case name == "":
		return "is required"
	case len(name) > maxName:
		return fmt.Sprintf("must have at most %d characters, has %d", maxName, len(name))
	case name == "." || name == "..":
		return `must not be "." or ".."`
	}
	for _, c := range []byte(name) {
		if !isNameByte(c) {
			return fmt.Sprintf("%q must be made of the letters A-Z and a-z, digits and . _ - ~", name)
		}
	}
	return ""
}

func isNameByte(c byte) bool {
	switch {
	case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == '-' || c == '~'
}
