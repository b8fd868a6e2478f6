package evaluate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lower returns a text in lower case as Unicode defines it, which SDKs follow. strings.ToLower takes each character alone: it has no
// final sigma, and İ loses its dot.
func lower(s string) string {
	if strings.Contains(s, "Σ") {
		s = finalSigmas(s)
	}
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
}

// finalSigmas replaces each Σ at the end of a word by ς.
func finalSigmas(s string) string {
	var b strings.Builder
	rest := s
	for {
		before, after, found := strings.Cut(rest, "Σ")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if at := len(s) - len(after); endsInLetter(s[:at-len("Σ")]) && !startsWithLetter(after) {
			b.WriteString("ς")
		} else {
			b.WriteString("σ")
		}
		rest = after
	}
}

func endsInLetter(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	for size > 0 && ignored(r) {
		s = s[:len(s)-size]
		r, size = utf8.DecodeLastRuneInString(s)
	}
	return size > 0 && cased(r)
}

func startsWithLetter(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	for size > 0 && ignored(r) {
		s = s[size:]
		r, size = utf8.DecodeRuneInString(s)
	}
	return size > 0 && cased(r)
}

// cased reports whether a character has the property Cased of Unicode.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignored reports whether a character has the property Case_Ignorable of Unicode: it may be in the middle of a word.
func ignored(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r)
}
