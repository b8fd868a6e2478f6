package httpapi

import (
	"net/url"

	"guidon/pkg/flags"
)

// MaxPage is the largest page of a list, and the page without a limit: the smaller lists are answered whole.
const MaxPage = 10_000

// pageOf cuts a list to the page that the query asks for by limit and offset. A list that is longer than a page, or too
// large for one answer, is read in several: no number of entries makes it unreadable.
func pageOf[T any](query url.Values, list []T) ([]T, error) {
	var problems flags.Problems
	offset := wholeNumber(query, "offset", 0, 0, MaxSearchOffset, &problems)
	limit := wholeNumber(query, "limit", MaxPage, 1, MaxPage, &problems)
	if err := queryFault(problems); err != nil {
		return nil, err
	}
	from := min(offset, len(list))
	return list[from:min(from+limit, len(list))], nil
}
