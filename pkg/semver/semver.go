// Package semver parses and compares semantic versions. github.com/Masterminds/semver, with which its tests compare it,
// allocates four times for each version, and compiles regular expressions in every function that links it.
package semver

import (
	"cmp"
	"strconv"
	"strings"
)

// A Version is a semantic version (semver.org, 2.0.0) without its build metadata, which does not count in comparisons.
type Version struct {
	major, minor, patch uint64
	prerelease          string
}

const maxLength = 256 // bytes

// Parse parses a full version. Short forms (1.2) and a leading v are not semantic versions.
func Parse(s string) (v Version, ok bool) {
	if s == "" || len(s) > maxLength {
		return Version{}, false
	}
	s, metadata, found := strings.Cut(s, "+")
	if found && !validIdentifiers(metadata, true) {
		return Version{}, false
	}
	s, v.prerelease, found = strings.Cut(s, "-")
	if found && !validIdentifiers(v.prerelease, false) {
		return Version{}, false
	}
	major, rest, _ := strings.Cut(s, ".")
	minor, patch, _ := strings.Cut(rest, ".")
	for _, part := range [...]struct {
		text   string
		number *uint64
	}{{major, &v.major}, {minor, &v.minor}, {patch, &v.patch}} {
		if *part.number, ok = parsePart(part.text); !ok {
			return Version{}, false
		}
	}
	return v, true
}

// parsePart parses a number without sign and leading zeros.
func parsePart(s string) (uint64, bool) {
	if !allDigits(s) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// validIdentifiers checks a list of identifiers, separated by dots. Only those of metadata may have leading zeros.
func validIdentifiers(list string, metadata bool) bool {
	for identifier := range strings.SplitSeq(list, ".") {
		if identifier == "" || !metadata && len(identifier) > 1 && identifier[0] == '0' && allDigits(identifier) {
			return false
		}
		for i := range len(identifier) {
			c := identifier[i]
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if digit := c >= '0' && c <= '9'; !letter && !digit && c != '-' {
				return false
			}
		}
	}
	return true
}

// Compare returns a negative number if v is older than other, a positive one if it is newer, and 0 if they are equal.
func (v Version) Compare(other Version) int {
	return cmp.Or(
		cmp.Compare(v.major, other.major), cmp.Compare(v.minor, other.minor), cmp.Compare(v.patch, other.patch),
		comparePrereleases(v.prerelease, other.prerelease))
}

// comparePrereleases applies rule 11 of the specification. A version without a prerelease is later than one with it.
func comparePrereleases(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	for a != "" && b != "" {
		var first, second string
		first, a, _ = strings.Cut(a, ".")
		second, b, _ = strings.Cut(b, ".")
		if order := compareIdentifiers(first, second); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b)) // the longer list is later
}

func compareIdentifiers(a, b string) int {
	switch numberA, numberB := allDigits(a), allDigits(b); {
	case numberA && numberB: // without leading zeros, the longer number is greater
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case numberA:
		return -1
	case numberB:
		return 1
	}
	return strings.Compare(a, b)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
