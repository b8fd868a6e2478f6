package oldapi

import (
	stdjson "encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// What is fuzzed here is what reads the texts of strangers. testdata/fuzz holds the texts to begin with, which are cases
// of every run; `make fuzz` looks for more.

// refusedWell sees that an error is the caller's fault, and says so in a short text of good UTF-8.
func refusedWell(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if kind := flags.KindOf(err); kind != flags.Invalid {
		t.Errorf("error %v is of kind %v, want Invalid", err, kind)
	}
	status, body := describe(err)
	document, failure := json.Marshal(body)
	if failure != nil || status != http.StatusBadRequest || !utf8.Valid(document) || len(document) > 256<<10 {
		t.Errorf("the answer is %d, %d bytes, %v: want a short 400", status, len(document), failure)
	}
}

// FuzzBody decodes bodies of every operation.
func FuzzBody(f *testing.F) {
	var operations []Operation
	for _, group := range Groups() {
		for _, op := range group.Operations {
			if op.Decide.decode != nil {
				operations = append(operations, op)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint, body []byte) {
		op := operations[which%uint(len(operations))]
		in, err := op.Decide.decode(body, flags.DefaultLimits())
		refusedWell(t, err)
		if err != nil || op.Decide.bodyOptional && len(body) == 0 {
			return
		}
		if !stdjson.Valid(body) && strings.TrimSpace(string(body)) != "" {
			t.Errorf("%s takes %q, which is no JSON", op.Route, body)
		}
		again, err := op.Decide.decode(append([]byte(" \n"), body...), flags.DefaultLimits())
		if diff := cmp.Diff(in, again, cmp.Exporter(func(reflect.Type) bool { return true })); err != nil || diff != "" {
			t.Errorf("%s: decoded again, %v:\n%s", op.Route, err, diff)
		}
	})
}

// FuzzQuery reads the queries of the search.
func FuzzQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) {
		query, _ := url.ParseQuery(raw) // as net/http does: what cannot be read is left out
		criteria, err := criteriaOf(query)
		refusedWell(t, err)
		if err == nil {
			if criteria.limit < 1 || criteria.limit > maxFound || criteria.offset < 0 || criteria.offset > maxSearchOffset {
				t.Errorf("a page of %d from %d", criteria.limit, criteria.offset)
			}
			a, b := finding{FeatureSummary: flags.FeatureSummary{Name: "a", Project: "p"}}, finding{FeatureSummary: flags.FeatureSummary{Name: "b", Project: "q"}}
			if criteria.match(a); criteria.compare(a, b, "") != -criteria.compare(b, a, "") {
				t.Error("a before b is not b after a")
			}
		}
	})
}
