package serving

import (
	"context"
	"iter"
	"net/http"
	"slices"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// The kinds of answers.
const (
	featuresKind = "features"
	featureKind  = "feature"
	deltaKind    = "delta"
)

// selected authenticates a request and returns what it selects.
func (s *server) selected(ctx context.Context, r *http.Request, kind string) (*selection, error) {
	q, invalid := parseQuery(r)
	q.inlined = q.inlined && kind != deltaKind // its clients know segments
	a, err := s.access(ctx, r, q.environment, flags.ClientToken)
	if err != nil {
		return nil, err
	}
	if invalid != nil {
		return nil, invalid
	}
	return newSelection(a, q, kind), nil
}

// features answers GET /api/client/features.
func (s *server) features(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	selection, err := s.selected(ctx, r, featuresKind)
	if err != nil {
		return httpapi.Response{}, err
	}
	return s.cached(r, selection, func() string { return selection.sum().etag() }, selection.document)
}

// document returns the parts of the answer of GET /api/client/features.
func (s *selection) document(etag string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := writer{yield: yield}
		w.write([]byte(`{"version":2,"features":[`))
		w.flags(s)
		w.write([]byte(`],"query":`), encode(s.shown))
		if !s.query.inlined {
			w.write([]byte(`,"segments":[`))
			w.segments(s)
			w.write([]byte(`]`))
		}
		meta := clientMeta{RevisionID: s.state.Number, ETag: etag, QueryHash: s.queryHash()}
		w.write([]byte(`,"meta":`), encode(meta), []byte(`}`))
	}
}

// A writer writes the parts of a document until the reader stops.
type writer struct {
	yield   func([]byte) bool
	stopped bool
}

func (w *writer) write(parts ...[]byte) {
	for _, part := range parts {
		w.stopped = w.stopped || !w.yield(part)
	}
}

var comma = []byte{','}

// flags writes the flags of a selection, separated by commas.
func (w *writer) flags(s *selection) {
	first := true
	for f := range s.flags() {
		if !first {
			w.write(comma)
		}
		if first = false; w.stopped {
			return
		}
		w.write(s.fragment(f).json)
	}
}

// segments writes the segments of a selection, separated by commas.
func (w *writer) segments(s *selection) {
	for i, segment := range s.segments() {
		if i > 0 {
			w.write(comma)
		}
		w.write(segment.fragment().json)
	}
}

// feature answers GET /api/client/features/{featureName}.
func (s *server) feature(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	selection, err := s.selected(ctx, r, featureKind)
	if err != nil {
		return httpapi.Response{}, err
	}
	name := r.PathValue("featureName")
	f := selection.state.Flags[name]
	if f == nil || !selection.sees(f) {
		return httpapi.Response{}, flags.Errorf(flags.NotFound, "there is no flag %q, or the token gives no access to it", name)
	}
	fragment := selection.fragment(f)
	return s.respond(r, fragment.hash.etag(), func() body {
		return newBody(slices.Values([][]byte{fragment.json}), httpapi.AcceptsGzip(r))
	})
}
