package features

import (
	"net/url"
	"testing"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// FuzzSearchQuery reads queries of the search. A bad one must be refused as Invalid; a good one must give a bounded page and a
// consistent order.
func FuzzSearchQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) {
		query, _ := url.ParseQuery(raw) // as net/http does: what cannot be read is left out
		criteria, err := criteriaOf(httpapi.QueryOf(query))
		if err != nil {
			if flags.KindOf(err) != flags.Invalid {
				t.Errorf("error %v is of kind %v, want Invalid", err, flags.KindOf(err))
			}
			return
		}
		if criteria.limit < 1 || criteria.limit > maxFound || criteria.offset < 0 || criteria.offset > httpapi.MaxOffset {
			t.Errorf("a page of %d from %d", criteria.limit, criteria.offset)
		}
		if cursor := query.Get("cursor"); cursor != "" && criteria.after.cursor() != cursor {
			t.Errorf("the cursor %q is read as %q", cursor, criteria.after)
		}
		s := &search{criteria: criteria, favoritesOf: &flags.Favorites{}}
		a := &finding{SummaryRow: flags.SummaryRow{FeatureSummary: flags.FeatureSummary{Name: "a", Project: "p"}}}
		b := &finding{SummaryRow: flags.SummaryRow{FeatureSummary: flags.FeatureSummary{Name: "b", Project: "q"}}}
		if s.match(a); s.compare(a, b) != -s.compare(b, a) {
			t.Error("a before b is not b after a")
		}
	})
}
