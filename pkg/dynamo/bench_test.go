package dynamo

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// cannedResponse sends the same body for every request, so that the benchmarks measure this package and the SDK and not
// an engine.
type cannedResponse string

func (body cannedResponse) Do(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)), Request: r,
	}, nil
}

func (body cannedResponse) RoundTrip(r *http.Request) (*http.Response, error) { return body.Do(r) }

func benchmarkStore(b *testing.B, answer string) *Store {
	b.Helper()
	store, err := Open(b.Context(), Options{Table: "t", Endpoint: "http://localhost:1", HTTPClient: &http.Client{Transport: cannedResponse(answer)}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return store
}

// BenchmarkOpen measures what the store adds to a cold start, without package variables (see GODEBUG=inittrace=1).
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		benchmarkStore(b, "{}")
	}
}

func BenchmarkLoad(b *testing.B) {
	f := FullFeature()
	doc, err := featureEntity.encode(f)
	if err != nil {
		b.Fatal(err)
	}
	quoted, err := encode(doc)
	if err != nil {
		b.Fatal(err)
	}
	store := benchmarkStore(b, `{"Responses":{"t":[{"pk":{"S":"FLAG#`+f.Name+`"},"sk":{"S":"FLAG"},"version":{"N":"1"},"doc":{"S":`+quoted+`}}]}}`)
	keys := []flags.Key{f.Key()}
	for b.Loop() {
		view, err := store.Load(b.Context(), keys)
		if err != nil || len(view) != 1 {
			b.Fatal(err, len(view))
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	before := FullFeature()
	after := before.Clone()
	after.Stale = !after.Stale
	store := benchmarkStore(b, "{}")
	change := flags.Change{
		Writes: []flags.Write{{Before: before, After: after}},
		Event:  flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: "test", CreatedBy: "test"},
	}
	for b.Loop() {
		if err := store.Commit(b.Context(), change); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlan is BenchmarkCommit without the SDK.
func BenchmarkPlan(b *testing.B) {
	before := FullFeature()
	after := before.Clone()
	after.Stale = !after.Stale
	store := benchmarkStore(b, "{}")
	change := flags.Change{
		Writes: []flags.Write{{Before: before, After: after}},
		Event:  flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: "test", CreatedBy: "test"},
	}
	for b.Loop() {
		if tx, err := store.plan(change); err != nil || tx == nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSummaries lists 1,000 flags with two environments.
func BenchmarkSummaries(b *testing.B) {
	doc, err := encode(storeRow(FullFeature().Summary()))
	if err != nil {
		b.Fatal(err)
	}
	quoted, err := encode(doc)
	if err != nil {
		b.Fatal(err)
	}
	item := `{"doc":{"S":` + quoted + `}}`
	const rows = 1000
	store := benchmarkStore(b, `{"Items":[`+strings.Repeat(item+",", rows-1)+item+`],"Count":1000}`)
	for b.Loop() {
		list, err := store.Summaries(b.Context(), "p", false)
		if err != nil || len(list) != rows {
			b.Fatal(err, len(list))
		}
	}
}
