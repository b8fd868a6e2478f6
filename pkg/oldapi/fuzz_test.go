package oldapi

import (
	stdjson "encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
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

// FuzzPatch applies patches to a strategy and to variants.
func FuzzPatch(f *testing.F) {
	value, title := "50", "a title"
	strategy := strategyViewOf(flags.Strategy{
		ID: "an-id", Name: "flexibleRollout", Title: &title, Parameters: map[string]string{"rollout": value, "a/b~c": ""},
		Constraints: []flags.Constraint{{ContextName: "userId", Operator: flags.In, Values: []string{"1", "2"}}, {ContextName: "age", Operator: flags.NumGt, Value: &value}},
	}, "flag")
	variants := variantViews([]flags.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}})
	f.Fuzz(func(t *testing.T, body []byte) {
		var patch patchBody
		if err := decodeStrict(body, &patch); err != nil {
			refusedWell(t, err)
			return
		}
		var problems flags.Problems
		patch.check(flags.DefaultLimits(), &problems)
		if len(problems) > 0 {
			refusedWell(t, problems.Err())
			return
		}
		was, _ := json.Marshal(strategy, json.Deterministic(true))
		var one strategyBody
		err := patch.apply(strategy, &one)
		refusedWell(t, err)
		var list []variantBody
		refusedWell(t, patch.apply(variants, &list))
		if is, _ := json.Marshal(strategy, json.Deterministic(true)); string(is) != string(was) {
			t.Errorf("the patch changed what it was applied to: %s was %s", is, was)
		}
		if most := maxPatchCopies + 3*(len(was)+2*len(body)); err == nil && len(one.Constraints)*16 > most {
			t.Errorf("%d constraints after a patch of %d bytes", len(one.Constraints), len(body))
		}
	})
}

// FuzzQuery reads the queries of the log and of the search.
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
		for _, admin := range []bool{false, true} {
			q, err := queriedEvents(&call{query: query, caller: flags.Caller{Admin: admin}})
			refusedWell(t, err)
			if err == nil && (q.Limit < 1 || q.Limit > maxEvents || q.IncludeReserved != admin || len(q.Text) > maxTitle || len(q.Projects) > maxFilter) {
				t.Errorf("query %+v", q)
			}
		}
	})
}

// FuzzAuthorization reads tokens out of headers, and moments out of texts.
func FuzzAuthorization(f *testing.F) {
	f.Fuzz(func(t *testing.T, header string) {
		secret := secretOf(&http.Request{Header: http.Header{"Authorization": {header}}})
		if !strings.HasSuffix(strings.TrimSpace(header), secret) || strings.TrimSpace(secret) != secret {
			t.Errorf("the secret in %q is %q", header, secret)
		}
		if hash := flags.HashSecret(secret); len(hash) != 64 {
			t.Errorf("hash %q", hash)
		}
		if at, ok := parseMoment(header); ok && (at.IsZero() || at.Location() != time.UTC || at.Nanosecond()%int(time.Millisecond) != 0) {
			t.Errorf("%q is %v", header, at)
		}
	})
}
