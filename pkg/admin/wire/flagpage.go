package wire

import (
	"slices"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	// DefaultPage is how many flags a page has if the query has a cursor and no limit.
	DefaultPage = 1_000

	// maxListed is how many flags a response can have at most, compressed: what fits into the memory of a function.
	maxListed = 120_000
)

// A FlagPage is the part of a list of flags, sorted by name, that a query requests: a page after a cursor, a part by offset, or
// the whole list. A cursor is the last name of the previous page.
type FlagPage struct {
	keyed         bool // whether it is a page after a cursor
	after         string
	offset, limit int // no limit: the rest of the list
}

// Parse reads limit with cursor or offset, for a place that embeds the page. Next to a cursor, an offset is ignored. Invalid if the cursor
// is not a name.
func (page *FlagPage) Parse(r httpapi.Request) error {
	query := r.Query()
	*page = FlagPage{offset: httpapi.WholeNumber(query, "offset", 0, 0, httpapi.MaxOffset), limit: httpapi.WholeNumber(query, "limit", 0, 1, httpapi.MaxPage)}
	if !query.Has("cursor") {
		return nil
	}
	page.keyed, page.after, page.offset = true, query.Get("cursor"), 0
	if page.limit == 0 {
		page.limit = DefaultPage
	}
	return CheckCursor(page.after)
}

// FlagPageAfter is the page of so many flags after a cursor.
func FlagPageAfter(cursor string, limit int) FlagPage {
	return FlagPage{keyed: true, after: cursor, limit: limit}
}

// Keyed returns the name that the page follows and its limit, if the query has a cursor.
func (page FlagPage) Keyed() (after string, limit int, keyed bool) {
	return page.after, page.limit, page.keyed
}

// CheckCursor returns Invalid if a cursor is not empty and not a name.
func CheckCursor(cursor string) error {
	if cursor != "" && flags.CheckName(cursor) != "" {
		return flags.Errorf(flags.Invalid, "the cursor must be the next of the previous page, or empty for the first page")
	}
	return nil
}

// A FlagList is the flags on a page.
type FlagList struct {
	Flags []flags.FeatureSummary
	Next  string // the cursor of the next page; empty on the last one, and without pages
}

// ListFlags reads a page of the flags of projects: of those that the query selects, by name. It reads no flags after the page. An
// entry of the response has at least so many bytes. TooLarge if the caller requests the whole list and it cannot fit into a response.
func ListFlags(tx *httpapi.Tx, projects []*flags.Project, q flags.SummaryQuery, page FlagPage, least int) (FlagList, error) {
	q.After, q.Limit = page.after, page.rows(tx, least)
	all, more := tx.SummaryPage(projects, q)
	slices.SortFunc(all, func(a, b flags.FeatureSummary) int { return strings.Compare(a.Name, b.Name) })
	// A flag that is moved while the projects are read can be in two of the lists.
	all = slices.CompactFunc(all, func(a, b flags.FeatureSummary) bool { return a.Name == b.Name })
	if len(all) > q.Limit {
		all, more = all[:q.Limit], true
	}
	return page.of(all, more, tx.AcceptsGzip())
}

// rows is how many flags are read.
func (page FlagPage) rows(tx *httpapi.Tx, least int) int {
	if page.limit > 0 {
		return page.offset + page.limit
	}
	return page.offset + mostEntries(tx, least)
}

// of returns the page of the first flags of a list, which has more of them.
func (page FlagPage) of(list []flags.FeatureSummary, more, gzipped bool) (FlagList, error) {
	if more && page.limit == 0 {
		return FlagList{}, flags.Errorf(flags.TooLarge, "%s", httpapi.TooLongMessage(gzipped))
	}
	found := FlagList{Flags: list[min(page.offset, len(list)):]}
	if more {
		found.Next = list[len(list)-1].Name
	}
	return found, nil
}

// mostEntries is how many entries of at least so many bytes of JSON a response to the caller can have.
func mostEntries(tx *httpapi.Tx, least int) int {
	if tx.AcceptsGzip() {
		return maxListed
	}
	return min(maxListed, httpapi.MaxAnswer/least)
}
