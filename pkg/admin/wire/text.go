package wire

import (
	"strings"
	"unicode/utf8"

	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// TextOver returns the new text: unchanged if the field is absent, empty if it is null.
func TextOver(member jsonbody.Maybe[*string], text string) string {
	switch {
	case !member.Set:
		return text
	case member.Value == nil:
		return ""
	}
	return *member.Value
}

// MaxTitle is how long the name or description of a token may be, in characters.
const MaxTitle = flags.MaxTitle

// CheckTitle says what is wrong with the name or description of a token: people read it, and any words will do.
func CheckTitle(path, title string, problems *flags.Problems) {
	switch {
	case title == "":
		problems.Add(path, "is required, and must not be empty")
	case strings.TrimSpace(title) == "":
		problems.Add(path, "must not be blank")
	case utf8.RuneCountInString(title) > MaxTitle:
		problems.Add(path, "must have at most %d characters, but has %d", MaxTitle, utf8.RuneCountInString(title))
	default:
		flags.CheckControl(path, title, problems)
	}
}

// CheckSameName finds that a body would rename what the path names.
func CheckSameName(name jsonbody.Maybe[string], path string, problems *flags.Problems) {
	if name.Set && name.Value != path {
		problems.Add("/name", "must be the name in the path, or be omitted: it cannot be changed")
	}
}
