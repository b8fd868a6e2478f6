package flags

import "unicode/utf8"

// The lists of all projects, segments, users and tokens are one answer each, which every caller gets whole. So each has a
// limit of entries, and of the bytes that all of them take in an answer: no caller can make a list too large for others.
// What is there already stays when a limit is lower than that, and can be changed to something no longer.
//
// The check is made on the list as it was read, and several callers at once may pass it together. What they can add is
// less than the answer's own limit, 6 MB, leaves; and lists can be read in pages.
const (
	MaxProjects     = 2_000
	MaxSegments     = 1_000
	MaxUsers        = 5_000 // service accounts included
	MaxTokens       = 4_000
	MaxSignupTokens = 500
	MaxFavorites    = 500     // callers who have one flag among their favorites
	MaxListSize     = 4 << 20 // bytes of all entries of a list
)

// collections are what the rule is about, by entity.
var collections = map[Entity]struct {
	name string
	most int
}{
	EntityProject:     {"projects", MaxProjects},
	EntitySegment:     {"segments", MaxSegments},
	EntityUser:        {"users and service accounts", MaxUsers},
	EntityToken:       {"API tokens", MaxTokens},
	EntitySignupToken: {"public signup tokens", MaxSignupTokens},
}

// CheckListSize says whether the list of all aggregates of a kind has room for others, and for after in the place of before:
// nil for a new one. Invalid when it has not.
func CheckListSize(list []Aggregate, before, after Aggregate, others ...Aggregate) error {
	of := collections[after.Key().Entity]
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
		return Errorf(Invalid, "there would be %d %s, and no more than %d are allowed; delete some first", entries, of.name, of.most)
	}
	for _, a := range list {
		bytes += ListEntrySize(a)
	}
	for _, a := range others {
		bytes += ListEntrySize(a)
	}
	if bytes > MaxListSize {
		return Errorf(Invalid, "the list of all %s would take %d KB, and no more than %d KB are allowed; shorten or delete some first",
			of.name, bytes>>10, MaxListSize>>10)
	}
	return nil
}

// What an entry takes in an answer beside its texts, at most, in bytes.
const (
	projectBytes    = 900
	linkBytes       = 80
	segmentBytes    = 500
	constraintBytes = 200
	valueBytes      = 5 // quotes and a comma, of a text in a list
	userBytes       = 800
	userTokenBytes  = 300
	tokenBytes      = 800
	signupBytes     = 900
	signupUserBytes = 400
)

// ListEntrySize is at most how many bytes an entry takes in the list of all of its kind.
func ListEntrySize(a Aggregate) int {
	switch a := a.(type) {
	case *Project:
		size := projectBytes + answered(a.ID, a.Name, a.Description, a.Mode, a.DefaultStickiness, a.Naming.Pattern, a.Naming.Example, a.Naming.Description)
		for _, link := range a.LinkTemplates {
			size += linkBytes + answered(textOf(link.Title), link.URL)
		}
		return size
	case *Segment:
		size := segmentBytes + answered(a.Name, textOf(a.Description), a.Project, a.CreatedBy)
		for _, c := range a.Constraints {
			size += constraintBytes + answered(c.ContextName, textOf(c.Value)) + len(c.Values)*valueBytes + answered(c.Values...)
		}
		return size
	case *User:
		size := userBytes + answered(a.Name, a.Username, a.Email, a.ImageURL)
		if a.ServiceAccount { // the list of which has their tokens
			for _, t := range a.Tokens {
				size += userTokenBytes + answered(t.Description)
			}
		}
		return size
	case *Token:
		first := ""
		if len(a.Projects) > 0 {
			first = a.Projects[0]
		}
		return tokenBytes + answered(a.Name, a.Name, a.Environment, a.Environment, first, first) + len(a.Projects)*valueBytes + answered(a.Projects...)
	case *SignupToken:
		return signupBytes + answered(a.Name, a.CreatedBy) + len(a.Users)*signupUserBytes
	}
	return 0
}

// answered is how many bytes texts take in an answer: as JSON, and that as a JSON text again, which is how a Lambda function
// hands it over.
func answered(texts ...string) int {
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
