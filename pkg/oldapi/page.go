package oldapi

import "net/url"

// maxPage is the largest limit of a page.
const maxPage = 10_000

// pageOf cuts a list to the page that the query asks for by limit and offset; without a limit it has no end. A list that is
// too large for one answer is read in several: no number of entries makes it unreadable.
func pageOf[T any](query url.Values, list []T) []T {
	from := min(wholeNumber(query, "offset", 0, 0, maxSearchOffset), len(list))
	return list[from:min(from+wholeNumber(query, "limit", len(list), 1, maxPage), len(list))]
}
