package answers

import (
	"iter"
	"slices"

	"guidon/pkg/flags"
)

// The kinds of responses.
const (
	featuresKind = "features"
	deltaKind    = "delta"
)

// Features returns the response of GET /api/client/features.
func (r *Responder) Features(set *Set, scope Scope, query Query, q Request) (Response, error) {
	s := newSelection(set, scope, query, featuresKind)
	return r.cached(q, s, "", func() string { return s.sum().etag() }, s.document)
}

// document returns the parts of a response with flags and segments.
func (s *selection) document(etag string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := writer{yield: yield}
		w.write([]byte(`{"version":2,"features":[`))
		w.flags(s, func(f *Flag) *fragment { return s.set.fragment(f, s.query.inlined) })
		w.write([]byte(`],"query":`), encode(s.shown))
		if !s.query.inlined {
			w.write([]byte(`,"segments":[`))
			w.segments(s)
			w.write([]byte(`]`))
		}
		meta := ClientMeta{RevisionID: s.set.revision.Number, ETag: etag, QueryHash: s.queryHash()}
		w.write([]byte(`,"meta":`), encode(meta), []byte(`}`))
	}
}

// Feature returns the response of GET /api/client/features/{featureName}. Of the query, only what the caller's SDK knows counts.
func (r *Responder) Feature(set *Set, scope Scope, query Query, name string, q Request) (Response, error) {
	f := set.flag(name)
	if f == nil || !scope.Sees(f.ProjectUID) {
		return Response{}, flags.Errorf(flags.NotFound, "there is no flag %q, or the token gives no access to it", name)
	}
	made := set.fragment(f, query.inlined)
	return r.respond(q, made.hash.etag(), "", func() body { return r.newBody(slices.Values([][]byte{made.json}), q.Gzip, compressFast) })
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
func (w *writer) flags(s *selection, encoded func(f *Flag) *fragment) {
	first := true
	for f := range s.flags() {
		if !first {
			w.write(comma)
		}
		if first = false; w.stopped {
			return
		}
		w.write(encoded(f).json)
	}
}

// segments writes the segments of a selection, separated by commas.
func (w *writer) segments(s *selection) {
	first := true
	for segment := range s.segments() {
		if !first {
			w.write(comma)
		}
		first = false
		w.write(segment.fragment().json)
	}
}
