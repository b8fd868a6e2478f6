package flags

import "unicode/utf8"

// The lists of projects, segments, users and tokens are each returned whole, in one response. Each list is
// therefore limited in its number of entries and in the size of the response, so that no caller can make a list too
// large to be read. If a limit is lowered below what is stored, existing entries stay and can be changed as long
// as they do not grow.
//
// The check uses the list as it was read, so several concurrent callers can exceed the limit together. What they
// can add is far below the 6 MB that a response may have.
const (
	MaxProjects     = 2_000
	MaxSegments     = 1_000
	MaxUsers        = 5_000 // includes service accounts
	MaxTokens       = 4_000
	MaxSignupTokens = 500
	MaxFavorites    = 500     // callers who marked one flag or project as a favorite
	MaxListSize     = 4 << 20 // bytes of all entries of a list
)

// listLimits has the name and the maximum number of entries of each limited list.
var listLimits = map[Entity]struct {
	name string
	most int
}{
	EntityProject:     {"projects", MaxProjects},
	EntitySegment:     {"segments", MaxSegments},
	EntityUser:        {"users and service accounts", MaxUsers},
	EntityToken:       {"API tokens", MaxTokens},
	EntitySignupToken: {"public signup tokens", MaxSignupTokens},
}

// CheckListSize returns Invalid if the list of all aggregates of a kind would become too large. The change
// replaces before, which is nil for a new entry, by after, and also adds others.
func CheckListSize(list []Aggregate, before, after Aggregate, others ...Aggregate) error {
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
		return Errorf(Invalid, "there would be %d %s, but no more than %d are allowed; delete some first", entries, of.name, of.most)
	}
	for _, a := range list {
		bytes += ListEntrySize(a)
	}
	for _, a := range others {
		bytes += ListEntrySize(a)
	}
	if bytes > MaxListSize {
		return Errorf(Invalid, "the list of all %s would take %d KB, but no more than %d KB are allowed; shorten texts or delete entries first",
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
func ListEntrySize(a Aggregate) int {
	switch a := a.(type) {
	case *Project:
		size := projectBytes + responseSize(a.ID, a.Name, a.Description, a.Mode, a.DefaultStickiness, a.Naming.Pattern, a.Naming.Example, a.Naming.Description)
		for _, link := range a.LinkTemplates {
			size += linkBytes + responseSize(valueOrEmpty(link.Title), link.URL)
		}
		return size
	case *Segment:
		size := segmentBytes + responseSize(a.Name, valueOrEmpty(a.Description), a.Project, a.CreatedBy)
		for _, c := range a.Constraints {
			size += constraintBytes + responseSize(c.ContextName, valueOrEmpty(c.Value)) + len(c.Values)*valueBytes + responseSize(c.Values...)
		}
		return size
	case *User:
		size := userBytes + responseSize(a.Name, a.Username, a.Email, a.ImageURL)
		if a.ServiceAccount { // the list of service accounts includes their tokens
			for _, t := range a.Tokens {
				size += userTokenBytes + responseSize(t.Description)
			}
		}
		return size
	case *Token:
		first := ""
		if len(a.Projects) > 0 {
			first = a.Projects[0]
		}
		return tokenBytes + responseSize(a.Name, a.Name, a.Environment, a.Environment, first, first) + len(a.Projects)*valueBytes + responseSize(a.Projects...)
	case *SignupToken:
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
