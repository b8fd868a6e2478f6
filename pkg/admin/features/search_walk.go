package features

import (
	"encoding/base64"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A search with cursor reads flags in the order of their keys: by project ID, then by name, both byte by byte. It stops once its
// page is full, so a walk through all pages reads each row about once. A cursor is the place of the last flag that was read. It
// holds nothing but two names, which are checked, so that a caller who changes it can only start elsewhere in the same list.

// How much a search with cursor reads at most. If few flags match, its page then has fewer flags than the limit, even none.
const (
	MaxWalkedRows    = 5_000
	MaxWalkedQueries = 40
	maxWalkedAtOnce  = 1_000 // rows
)

// A place is a flag in the order of a search with cursor: the search continues after it. The name is empty at the start of a
// project.
type place struct{ project, name string }

var placeEncoding = base64.RawURLEncoding.Strict()

func (p place) cursor() string { return placeEncoding.EncodeToString([]byte(p.project + "/" + p.name)) }

// readCursor reads the cursor. A query with a cursor, even an empty one, is for the order of keys, so it cannot have another one.
func (c *criteria) readCursor(query httpapi.Query, problems *flags.Problems) {
	if !query.Has("cursor") {
		return
	}
	c.keyed = true
	for _, name := range []string{"sortBy", "sortOrder", "favoritesFirst", "offset"} {
		if query.Has(name) {
			problems.Add(name, "must be left out with cursor: the flags are sorted by project ID and name")
		}
	}
	cursor := query.Get("cursor")
	if cursor == "" {
		return
	}
	decoded, err := placeEncoding.DecodeString(cursor)
	project, name, found := strings.Cut(string(decoded), "/")
	c.after = place{project, name}
	if err != nil || !found || flags.CheckName(project) != "" || name != "" && flags.CheckName(name) != "" || c.after.cursor() != cursor {
		problems.Add("cursor", "must be empty for the first page, or next of the page before")
	}
}

// walk returns the page after the cursor.
func (s *search) walk() foundFeatures {
	type walk struct{} // the search is that of the request
	w := httpapi.OncePerRound(s.tx, walk{}, func() *walked {
		w := &walked{search: s, at: s.after, atOnce: s.limit + 1}
		for _, p := range s.projects {
			if p.ID < w.at.project {
				continue
			}
			if p.ID != w.at.project {
				w.at = place{project: p.ID}
			}
			if !w.project(p) {
				return w
			}
		}
		w.at = place{} // the end
		return w
	})
	found := foundFeatures{Features: s.views(w.page)}
	if w.at != (place{}) {
		found.Next = w.at.cursor()
	}
	return found
}

// A walked is how far a search with cursor has come.
type walked struct {
	*search
	page          []*finding
	at            place
	rows, queries int
	atOnce        int // rows of the next query, if not all match
}

// project reads flags of a project up to its end. It returns false if the page is full, or enough was read.
func (w *walked) project(p *flags.Project) (ended bool) {
	for more := true; more; {
		if w.rows >= MaxWalkedRows || w.queries >= MaxWalkedQueries {
			return false
		}
		read := w.tx.SummariesAfter(p, w.archived, w.at.name, w.nextRows())
		w.queries++
		used := w.filteredSegments(read.Rows)
		for i, row := range read.Rows {
			w.rows++
			w.at.name = row.Name
			f, matches, err := w.finding(p, row, used)
			if err != nil {
				w.tx.Fail(err)
			}
			if !matches {
				continue
			}
			w.page = append(w.page, f)
			if len(w.page) == w.limit {
				last := i == len(read.Rows)-1 && !read.More && p == w.projects[len(w.projects)-1]
				return last
			}
		}
		more = read.More
	}
	return true
}

// nextRows is how many rows to read. Without filters that is the rest of the page, and one more to know whether it is the
// last. With filters it doubles each time, so that few matches take few queries.
func (w *walked) nextRows() int {
	if w.matchesAll() {
		return w.limit - len(w.page) + 1
	}
	rows := w.atOnce
	w.atOnce = min(2*w.atOnce, maxWalkedAtOnce)
	return rows
}

// filteredSegments returns which segments of the filter flags use, by the name of the flag.
func (w *walked) filteredSegments(rows []flags.SummaryRow) map[string][]string {
	if w.filterIDs == nil || len(rows) == 0 {
		return nil
	}
	used := map[string][]string{}
	for _, u := range w.tx.UsesOf(httpapi.Each(rows, func(row flags.SummaryRow) string { return row.Name })) {
		w.addFiltered(used, u)
	}
	return used
}
