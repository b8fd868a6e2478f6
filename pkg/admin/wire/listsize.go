package wire

import (
	"unicode/utf8"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// The lists of projects, segments, release templates, users and tokens are each returned whole, in one response. Each list is
// therefore limited in its number of entries and in the size of the response, so that no caller can make a list too
// large to be read. If a limit is lowered below what is stored, existing entries stay and can be changed as long
// as they do not grow.
//
// The check uses the list as it was read, so several concurrent callers can exceed the limit together. What they
// can add is far below the 6 MB that a Lambda function can return.

// MaxListSize is the largest size of all entries of a list together, in bytes.
const MaxListSize = 4 << 20

// listLimits has the name and the maximum number of entries of each limited list.
var listLimits = map[flags.Entity]struct {
	name string
	most int
}{
	flags.EntityProject:         {"projects", flags.MaxProjects},
	flags.EntitySegment:         {"segments", flags.MaxSegments},
	flags.EntityReleaseTemplate: {"release templates", flags.MaxReleaseTemplates},
	access.EntityUser:           {"users and service accounts", access.MaxUsers},
	access.EntityToken:          {"API tokens", access.MaxTokens},
	access.EntitySignupToken:    {"public signup tokens", access.MaxSignupTokens},
}

// CheckListSize returns Invalid if the list of all aggregates of a kind would become too large by saving after, as a new entry or
// in place of the stored one, and also others, which are new.
func CheckListSize(tx *httpapi.Tx, after flags.Aggregate, others ...flags.Aggregate) error {
	list, before := tx.All(after.Key().Entity), httpapi.Was(tx, after)
	of := listLimits[after.Key().Entity]
	entries, bytes := len(list)+len(others), ListEntrySize(after)
	switch {
	case before == nil:
		entries++
	case ListEntrySize(before) >= bytes:
		return nil
	default:
		bytes -= ListEntrySize(before)
	}
	if before == nil && entries > of.most {
		return flags.Errorf(flags.Invalid, "there would be %d %s, but no more than %d are allowed; delete some first", entries, of.name, of.most)
	}
	for _, a := range list {
		bytes += ListEntrySize(a)
	}
	for _, a := range others {
		bytes += ListEntrySize(a)
	}
	if bytes > MaxListSize {
		return flags.Errorf(flags.Invalid, "the list of all %s would take %d KB, but no more than %d KB are allowed; shorten texts or delete entries first",
			of.name, bytes>>10, MaxListSize>>10)
	}
	return nil
}

// The largest size that an entry has in a response in addition to its texts, in bytes.
const (
	projectBytes    = 900
	linkBytes       = 80
	segmentBytes    = 500
	constraintBytes = 200
	valueBytes      = 5 // quotes and comma around a text in a list
	userBytes       = 800
	userTokenBytes  = 300
	tokenBytes      = 800
	signupBytes     = 900
	signupUserBytes = 400
)

// ListEntrySize returns an upper bound of the bytes that an aggregate takes in the list of its kind.
func ListEntrySize(a flags.Aggregate) int {
	switch a := a.(type) {
	case *flags.Project:
		size := projectBytes + responseSize(a.ID, a.Name, a.Description, a.Mode, a.DefaultStickiness, a.Naming.Pattern, a.Naming.Example, a.Naming.Description)
		for _, link := range a.LinkTemplates {
			size += linkBytes + responseSize(textOrEmpty(link.Title), link.URL)
		}
		return size
	case *flags.Segment:
		size := segmentBytes + responseSize(a.Name, textOrEmpty(a.Description), a.Project, a.CreatedBy)
		for _, c := range a.Constraints {
			size += constraintBytes + responseSize(c.ContextName, textOrEmpty(c.Value)) + len(c.Values)*valueBytes + responseSize(c.Values...)
		}
		return size
	case *access.User:
		size := userBytes + responseSize(a.Name, a.Username, a.Email, a.ImageURL)
		if a.ServiceAccount { // the list of service accounts includes their tokens
			for _, t := range a.Tokens {
				size += userTokenBytes + responseSize(t.Description)
			}
		}
		return size
	case *access.Token:
		first := ""
		if len(a.Projects) > 0 {
			first = a.Projects[0]
		}
		return tokenBytes + responseSize(a.Name, a.Name, a.Environment, a.Environment, first, first) + len(a.Projects)*valueBytes + responseSize(a.Projects...)
	case *access.SignupToken:
		return signupBytes + responseSize(a.Name, a.CreatedBy) + len(a.Users)*signupUserBytes
	}
	return 0
}

// responseSize returns how many bytes the texts take in a response. Lambda returns the JSON response as a JSON
// string, so that each text is escaped twice.
func responseSize(texts ...string) int {
	size := 0
	for _, text := range texts {
		for _, c := range text {
			switch {
			case c == '"' || c == '\\':
				size += 4
			case c < ' ':
				size += 7
			case c == '<' || c == '>' || c == '&' || c == '\u2028' || c == '\u2029':
				size += 6
			default:
				size += utf8.RuneLen(c)
			}
		}
	}
	return size
}

func textOrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
