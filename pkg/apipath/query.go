package apipath

import (
	"net/url"
	"strings"
)

// Parameters reads the query of a URL as browsers write it: only & separates parameters, and an escape that is not valid stays as it
// is. Package net/url drops a parameter with a semicolon or such an escape.
func Parameters(query string) url.Values {
	values := url.Values{}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); pair != "" {
			name = unescape(name)
			values[name] = append(values[name], unescape(value))
		}
	}
	return values
}

// unescape returns a name or a value of a query without its escapes.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	var out strings.Builder
	for len(text) > 0 {
		n := 1
		if text[0] == '%' && len(text) > 2 {
			n = 3
		}
		plain, err := url.QueryUnescape(text[:n])
		if err != nil {
			plain, n = text[:1], 1
		}
		out.WriteString(plain)
		text = text[n:]
	}
	return out.String()
}
