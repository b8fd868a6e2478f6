package flags

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest texts, in characters. Every text that an operation takes has a limit: without one, a few long texts make a
// list too large for an answer, for all callers. Texts that were stored before there was a limit stay, and so do those of
// a flag whose other fields are changed.
const (
	MaxDescription = 2000     // what something is for
	MaxTitle       = 255      // what people call something: projects, strategies, variants, tokens
	MaxIdentifier  = maxName  // what programs compare: context names, stickiness, types of environments
	MaxURL         = 2000     // addresses of links
	MaxPayload     = 64 << 10 // the value of a variant's payload
	MaxParameter   = 64 << 10 // a parameter of a strategy, such as a list of user ids
	MaxParameters  = 100      // of a strategy, and of a strategy type
	MaxLinks       = 20       // link templates of a project
	MaxLegalValues = 1000     // of a context field
)

// CheckLength notes a text that is too long.
func CheckLength(path, text string, most int, p *Problems) {
	if n := utf8.RuneCountInString(text); n > most {
		p.Add(path, "must have at most %d characters, has %d", most, n)
	}
}

// CheckCount notes a list that is too long, and tells whether it is not: the entries of a longer one need no check.
func CheckCount(path, what string, n, most int, p *Problems) bool {
	if n > most {
		p.Add(path, "must have at most %d %s, has %d", most, what, n)
	}
	return n <= most
}

// CheckPrintable notes a name that could pass for another one: with blanks at its ends, or with characters that cannot be
// seen. Names stand in messages, in lists and in the log of events. They are refused and not trimmed, so that what is
// stored is what the caller sent.
func CheckPrintable(path, name string, p *Problems) {
	if strings.TrimSpace(name) != name {
		p.Add(path, "must not begin or end with a blank")
	}
	if strings.ContainsFunc(name, isInvisible) {
		p.Add(path, "must not have control characters, zero-width characters or blanks other than the space in it")
	}
}

// isInvisible is for control, format and zero-width characters, and for blanks other than the space.
func isInvisible(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

func textOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// CheckTexts notes the texts that are too long.
func (m Metadata) CheckTexts(p *Problems) {
	CheckLength("/description", textOf(m.Description), MaxDescription, p)
}

// CheckTexts notes the texts that are too long, and too many links.
func (p *Project) CheckTexts(problems *Problems) {
	CheckLength("/name", p.Name, MaxTitle, problems)
	CheckLength("/description", p.Description, MaxDescription, problems)
	CheckLength("/defaultStickiness", p.DefaultStickiness, MaxIdentifier, problems)
	CheckLength("/featureNaming/pattern", p.Naming.Pattern, MaxTitle, problems)
	CheckLength("/featureNaming/example", p.Naming.Example, MaxTitle, problems)
	CheckLength("/featureNaming/description", p.Naming.Description, MaxDescription, problems)
	if !CheckCount("/linkTemplates", "links", len(p.LinkTemplates), MaxLinks, problems) {
		return
	}
	for i, link := range p.LinkTemplates {
		at := "/linkTemplates/" + strconv.Itoa(i)
		CheckLength(at+"/title", textOf(link.Title), MaxTitle, problems)
		CheckLength(at+"/urlTemplate", link.URL, MaxURL, problems)
	}
}

// CheckTexts notes the texts that are too long.
func (e Environment) CheckTexts(p *Problems) { CheckLength("/type", e.Type, MaxIdentifier, p) }

// CheckTexts notes the texts that are too long.
func (r Role) CheckTexts(p *Problems) { CheckLength("/description", r.Description, MaxDescription, p) }

// CheckTexts notes the texts that are too long.
func (t TagType) CheckTexts(p *Problems) {
	CheckLength("/description", t.Description, MaxDescription, p)
	CheckLength("/icon", t.Icon, MaxTitle, p)
}

// checkTexts notes the texts that are too long, but for those of constraints and variants, which have checks of their own.
func (s Strategy) checkTexts(p *Problems) {
	CheckLength("/title", textOf(s.Title), MaxTitle, p)
	if !CheckCount("/parameters", "parameters", len(s.Parameters), MaxParameters, p) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		if n := utf8.RuneCountInString(name); n > MaxIdentifier {
			p.Add("/parameters", "must have names of at most %d characters, one has %d", MaxIdentifier, n)
			continue
		}
		CheckLength("/parameters/"+pointerEscape.Replace(name), s.Parameters[name], MaxParameter, p)
	}
}

// checkTexts notes the texts that are too long, and lists of overrides and their values.
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

// Since is what is wrong now and was not before: a change of one field is not refused for another that was stored when
// less was forbidden.
func (p Problems) Without(before Problems) Problems {
	return slices.DeleteFunc(slices.Clone(p), func(d Detail) bool { return slices.Contains(before, d) })
}
