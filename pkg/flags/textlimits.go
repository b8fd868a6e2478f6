package flags

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The maximum length of texts, in characters. Every text of a request has a limit, because a few long texts
// would make lists too large to be returned. Longer texts that are stored already are kept, also when other
// fields of the same flag change.
const (
	MaxDescription = 2000     // descriptions
	MaxTitle       = 255      // display names of projects, strategies, variants and tokens
	MaxIdentifier  = maxName  // texts that programs compare: context names, stickiness, environment types
	MaxURL         = 2000     // links
	MaxPayload     = 64 << 10 // the payload of a variant
	MaxParameter   = 64 << 10 // a parameter of a strategy, such as a list of user IDs
	MaxParameters  = 100      // parameters of a strategy or strategy type
	MaxLinks       = 20       // links of a flag, and link templates of a project
	MaxLegalValues = 1000     // legal values of a context field
)

// MaxServedDescription is how much of a flag's description applications get, in characters. They only display it, and a few hundred long
// ones would make responses to applications too large to be returned.
const MaxServedDescription = 100

// CheckLength adds a problem if the text is too long.
func CheckLength(path, text string, most int, p *Problems) {
	if n := utf8.RuneCountInString(text); n > most {
		p.Add(path, "must have at most %d characters, but has %d", most, n)
	}
}

// firstRunes returns the first characters of a text.
func firstRunes(text string, most int) string {
	for i := range text {
		if most == 0 {
			return text[:i]
		}
		most--
	}
	return text
}

// CheckCount adds a problem if a list is too long, and reports whether it is short enough. Callers skip the
// check of the entries otherwise.
func CheckCount(path, what string, n, most int, p *Problems) bool {
	if n > most {
		p.Add(path, "must have at most %d %s, but has %d", most, what, n)
	}
	return n <= most
}

// CheckPrintable adds a problem if a name could be confused with another one: if it begins or ends with a space
// or contains invisible characters. Such names are refused rather than trimmed, so that what is stored is what
// the caller sent.
func CheckPrintable(path, name string, p *Problems) {
	if strings.TrimSpace(name) != name {
		p.Add(path, "must not begin or end with white space")
	}
	if strings.ContainsFunc(sequences().ReplaceAllString(name, ""), isInvisible) {
		p.Add(path, "must not contain control characters, zero-width characters or white space other than the ordinary space")
	}
}

// CheckText is CheckPrintable for a text rather than a name. Such a text may have emoji that consist of several, such as that of a family.
func CheckText(path, text string, p *Problems) { CheckPrintable(path, withoutJoiners(text), p) }

// withoutJoiners returns a text without the zero-width joiners that join two emoji. Anywhere else, such a joiner stays.
func withoutJoiners(text string) string {
	const joiner, asEmoji = '\u200d', '\ufe0f'
	isEmoji := func(r rune) bool { return r >= '\u2190' && unicode.IsSymbol(r) } // some are arrows; also a skin tone, which comes last
	runes := []rune(text)
	kept, last := make([]rune, 0, len(runes)), rune(0)
	for i, r := range runes {
		if r == joiner && isEmoji(last) && i+1 < len(runes) && isEmoji(runes[i+1]) {
			continue
		}
		if r != asEmoji {
			last = r
		}
		kept = append(kept, r)
	}
	return string(kept)
}

// CheckControl adds a problem if a text that any words will do for has control characters, such as a line break.
func CheckControl(path, text string, p *Problems) {
	if hasControl(text) {
		p.Add(path, noControl)
	}
}

const noControl = "must not contain control characters"

func hasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// checkIdentifier adds the problems of a text that programs compare, such as a stickiness.
func checkIdentifier(path, text string, p *Problems) {
	checkQuote(path, text, p)
	CheckControl(path, text, p)
}

// sequences matches the characters whose form an invisible one selects: an emoji, a keycap, a flag such as that of Scotland, a Han or a Mongolian
// letter. Anywhere else, nobody would see it.
var sequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[©®‼⁉™ℹ\x{2194}-\x{21AA}\x{231A}-\x{23FA}Ⓜ\x{25AA}-\x{27BF}\x{2934}\x{2935}\x{2B05}-\x{2B55}〰〽㊗㊙\x{1F000}-\x{1FAFF}][\x{FE0E}\x{FE0F}]|` +
		`[0-9#*]\x{FE0F}\x{20E3}|\x{1F3F4}\x{E0067}\x{E0062}(\x{E0065}\x{E006E}\x{E0067}|\x{E0073}\x{E0063}\x{E0074}|\x{E0077}\x{E006C}\x{E0073})\x{E007F}|` +
		`\p{Han}[\x{FE00}-\x{FE02}\x{E0100}-\x{E01EF}]|[\x{1820}-\x{1878}\x{1880}-\x{18AA}][\x{180B}-\x{180D}\x{180F}]`)
})

// isInvisible reports whether r is a control, format or zero-width character, or white space other than the
// ordinary space. So are the blanks among letters and symbols, such as that of Braille.
func isInvisible(r rune) bool {
	return !unicode.IsPrint(r) || strings.ContainsRune("\u2800\U00013441\U00016FE4\U0001D159", r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func valueOrEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// CheckTexts adds a problem for each text that is too long.
func (m Metadata) CheckTexts(p *Problems) {
	CheckLength("/description", valueOrEmpty(m.Description), MaxDescription, p)
	CheckLength("/owner", m.Owner, MaxTitle, p)
	CheckText("/owner", m.Owner, p)
}

// CheckTexts adds a problem for each text that is too long, for too many links, and for a stickiness that SDKs cannot read.
func (p *Project) CheckTexts(problems *Problems) {
	CheckLength("/name", p.Name, MaxTitle, problems)
	CheckLength("/description", p.Description, MaxDescription, problems)
	CheckLength("/defaultStickiness", p.DefaultStickiness, MaxIdentifier, problems)
	checkIdentifier("/defaultStickiness", p.DefaultStickiness, problems)
	CheckLength("/featureNaming/pattern", p.Naming.Pattern, MaxTitle, problems)
	CheckLength("/featureNaming/example", p.Naming.Example, MaxTitle, problems)
	CheckLength("/featureNaming/description", p.Naming.Description, MaxDescription, problems)
	if !CheckCount("/linkTemplates", "links", len(p.LinkTemplates), MaxLinks, problems) {
		return
	}
	for i, link := range p.LinkTemplates {
		at := "/linkTemplates/" + strconv.Itoa(i)
		CheckLength(at+"/title", valueOrEmpty(link.Title), MaxTitle, problems)
		CheckLength(at+"/urlTemplate", link.URL, MaxURL, problems)
	}
}

// CheckTexts adds a problem for each text that is too long.
func (e Environment) CheckTexts(p *Problems) { CheckLength("/type", e.Type, MaxIdentifier, p) }

// CheckTexts adds a problem for each text that is too long.
func (t TagType) CheckTexts(p *Problems) {
	CheckLength("/description", t.Description, MaxDescription, p)
	CheckLength("/icon", t.Icon, MaxTitle, p)
}

// checkTexts adds a problem for each text that is too long. Constraints and variants have checks of their own.
func (s Strategy) checkTexts(p *Problems) {
	CheckLength("/title", valueOrEmpty(s.Title), MaxTitle, p)
	if !CheckCount("/parameters", "parameters", len(s.Parameters), MaxParameters, p) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		if n := utf8.RuneCountInString(name); n > MaxIdentifier {
			p.Add("/parameters", "must have names of at most %d characters; one has %d", MaxIdentifier, n)
			continue
		}
		CheckLength("/parameters/"+pointerEscape.Replace(name), s.Parameters[name], MaxParameter, p)
	}
}

// checkTexts adds a problem for each text that is too long, and for too many overrides or override values.
func (v Variant) checkTexts(path string, p *Problems) {
	CheckLength(path+"/name", v.Name, MaxTitle, p)
	CheckLength(path+"/stickiness", v.Stickiness, MaxIdentifier, p)
	if v.Payload != nil {
		CheckLength(path+"/payload/value", v.Payload.Value, MaxPayload, p)
	}
	if !CheckCount(path+"/overrides", "overrides", len(v.Overrides), MaxOverrides, p) {
		return
	}
	for i, o := range v.Overrides {
		at := path + "/overrides/" + strconv.Itoa(i)
		CheckLength(at+"/contextName", o.ContextName, MaxIdentifier, p)
		if !CheckCount(at+"/values", "values", len(o.Values), MaxOverrideValues, p) {
			continue
		}
		for j, value := range o.Values {
			CheckLength(at+"/values/"+strconv.Itoa(j), value, MaxTitle, p)
		}
	}
}

// Without returns the problems that are not in before. With it, a change of one field is not refused because of
// another one that was stored when limits were higher.
func (p Problems) Without(before Problems) Problems {
	return slices.DeleteFunc(slices.Clone(p), func(d Detail) bool { return slices.Contains(before, d) })
}
