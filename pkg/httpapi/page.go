package httpapi

import (
	"net/url"
	"strconv"

	"guidon/pkg/flags"
)

// MaxPage is the largest limit of a page.
const MaxPage = 10_000

// PageOf returns the page of a list that the query requests with limit and offset; without a limit, the rest of the list. With
// pages, a list that is too large for one answer can still be read.
func PageOf[T any](query url.Values, list []T) []T {
	offset, limit := PageBounds(query)
	from := min(offset, len(list))
	return list[from:min(from+limit, len(list))]
}

// PageBounds reads offset and limit. Without a limit it is as large as an offset can be.
func PageBounds(query url.Values) (offset, limit int) {
	return WholeNumber(query, "offset", 0, 0, MaxOffset), WholeNumber(query, "limit", MaxOffset, 1, MaxPage)
}

// MaxOffset is the largest offset: it fits into an int on every platform.
const MaxOffset = 1 << 30

// WholeNumber reads a parameter that is a whole number from least to most. Anything else is the default, as in Unleash.
func WholeNumber(query url.Values, name string, standard, least, most int) int {
	n, err := strconv.Atoi(query.Get(name))
	if err != nil || n < least || n > most {
		return standard
	}
	return n
}

// QueryFault is the error of parameters of the query. It has no details, which are places in bodies.
func QueryFault(problems flags.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	return flags.Errorf(flags.Invalid, "the query's %s %s", problems[0].Path, problems[0].Message)
}
