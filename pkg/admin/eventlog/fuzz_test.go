package eventlog

import (
	"net/url"
	"testing"
	"unicode/utf8"

	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// FuzzQuery reads queries of the log. The texts in testdata/fuzz are cases of every run; `make fuzz` searches for more.
func FuzzQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) {
		query, _ := url.ParseQuery(raw) // as net/http does: unreadable parameters are left out
		q, err := parseQuery(httpapi.QueryOf(query))
		if err != nil {
			if message := err.Error(); flags.KindOf(err) != flags.Invalid || !utf8.ValidString(message) || len(message) > 1024 {
				t.Errorf("error %q of kind %v, want a short one of kind Invalid", message, flags.KindOf(err))
			}
			return
		}
		if q.Limit < 1 || q.Limit > MaxEvents || q.IncludeReserved || len(q.Text) > wire.MaxTitle {
			t.Errorf("query %+v", q)
		}
		for _, values := range [][]string{q.Projects, q.Features, q.Environments, q.Actors} {
			if len(values) > maxFilter {
				t.Errorf("a filter of %d values, want at most %d", len(values), maxFilter)
			}
		}
	})
}
