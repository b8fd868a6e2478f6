// Package answers makes the responses that applications get: from a Set, which is what one environment serves, and a Scope, which
// is what a token may read of it. It reads no store and authenticates nobody, so Guidon (pkg/serving) makes its Sets from the
// feed, and another program can make them from what it read from Guidon.
//
//	set.go       a Set, and how a change makes the next one
//	features.go  /api/client/features; delta.go /api/client/delta
//	frontend.go  /api/frontend; ofrep.go OpenFeature providers
//	cache.go     whole responses, as they are sent
package answers

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"
)

// Options configure a Responder.
type Options struct {
	// MaxAge is how long shared caches can answer by themselves; 0 for never.
	MaxAge time.Duration

	// Check refuses a body that cannot be sent; nil for none.
	Check func(body []byte, gzipped bool) error

	// Plain refuses a response that would be sent now without compression; nil for none.
	Plain func(bytes int, now time.Time) error
}

// A Responder makes responses, and keeps those that were requested last.
type Responder struct {
	options Options
	cache   *cache
}

// NewResponder returns a Responder.
func NewResponder(options Options) *Responder {
	return &Responder{options: options, cache: newCache(maxCache)}
}

// A Request is what every response depends on.
type Request struct {
	Tags          []string // of If-None-Match: ETags, with W/ or without, or "*"
	Gzip          bool     // whether the caller accepts it
	RemoteAddress string   // of the caller: the one in a context that has none
	Now           time.Time
}

// A Response is the response to a request. Its header describes the body.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// knows reports whether the caller has the response of an ETag, by weak comparison (RFC 9110 section 13.1.2).
func (q Request) knows(etag string) bool {
	opaque := strings.TrimPrefix(etag, "W/")
	return slices.ContainsFunc(q.Tags, func(tag string) bool { return tag == "*" || strings.TrimPrefix(tag, "W/") == opaque })
}

// minGzip is the smallest body in bytes that is compressed. A smaller one fits into one packet anyway.
const minGzip = 1400

// A body is an encoded response, or why it cannot be sent.
type body struct {
	bytes   []byte
	gzipped bool
	refusal error
}

func (b *body) made() bool { return b.bytes != nil || b.refusal != nil }

// newBody joins the parts of a JSON text. With compress, writers compress them unless the text is short.
func (r *Responder) newBody(parts iter.Seq[[]byte], compress bool, writers *gzipWriters) body {
	size := 0
	for part := range parts {
		if size += len(part); compress && size >= minGzip {
			return r.checked(body{bytes: writers.compressed(parts), gzipped: true})
		}
	}
	text := make([]byte, 0, size)
	for part := range parts {
		text = append(text, part...)
	}
	return r.checked(body{bytes: text})
}

func (r *Responder) checked(b body) body {
	if r.options.Check != nil {
		if err := r.options.Check(b.bytes, b.gzipped); err != nil {
			return body{refusal: err}
		}
	}
	return b
}

// A gzipWriters keeps writers of one level for other responses: one takes more than half a megabyte.
type gzipWriters struct{ sync.Pool }

// What many callers get is compressed well, which costs less than sending it a quarter longer, even if only one of them gets it. What is
// made for one caller is compressed fast (docs/performance.md).
var compressWell, compressFast = newGzipWriters(gzip.DefaultCompression), newGzipWriters(gzip.BestSpeed)

func newGzipWriters(level int) *gzipWriters {
	return &gzipWriters{sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, level) // fails only for a level that does not exist
		return w
	}}}
}

func (writers *gzipWriters) compressed(parts iter.Seq[[]byte]) []byte {
	var out bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	for part := range parts {
		_, _ = w.Write(part) // a buffer does not fail
	}
	_ = w.Close()
	return bytes.Clone(out.Bytes()) // without the room for more
}

// respond returns the response of an ETag: a 304 if the caller has it. ETags are weak, because they are the same for a compressed body:
// proxies that compress drop a strong one, and a 304 would never follow. The body is made only if it is sent. An empty cacheControl
// stands for the one of the settings.
func (r *Responder) respond(q Request, etag, cacheControl string, body func() body) (Response, error) {
	response := Response{Status: http.StatusNotModified, Header: http.Header{
		"Etag": {etag}, "Vary": {"Accept-Encoding, Authorization, Unleash-Client-Spec"}, "Cache-Control": {cmp.Or(cacheControl, r.cacheControl())},
	}}
	if q.knows(etag) {
		return response, nil
	}
	b := body()
	if b.refusal != nil {
		return Response{}, b.refusal
	}
	if !b.gzipped && r.options.Plain != nil {
		if err := r.options.Plain(len(b.bytes), q.Now); err != nil {
			return Response{}, err
		}
	}
	response.Status, response.Body = http.StatusOK, b.bytes
	response.Header.Set("Content-Type", "application/json; charset=utf-8")
	response.Header.Set("Content-Length", strconv.Itoa(len(b.bytes)))
	if b.gzipped {
		response.Header.Set("Content-Encoding", "gzip")
	}
	return response, nil
}

// revalidate lets the caller keep a response, but ask each time whether it changed.
const revalidate = "private, no-cache"

// cacheControl lets caches keep responses, but ask each time whether they changed. With MaxAge, shared caches such as a CDN can
// answer by themselves for that long; Vary tells them that responses depend on the token.
func (r *Responder) cacheControl() string {
	if r.options.MaxAge < time.Second {
		return revalidate
	}
	return fmt.Sprintf("public, max-age=%d", int(r.options.MaxAge.Seconds()))
}

// cached returns the response to a selection. It makes the ETag and the body once for each Set, for all requests with the same
// selection. If the ETag is that of the Set before, the body is kept. So the body tells the number of the first such Set
// (meta.revisionId).
func (r *Responder) cached(q Request, s *selection, cacheControl string, etag func() string, parts func(etag string) iter.Seq[[]byte]) (Response, error) {
	kept := r.cache.get(s.key)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if set := weak.Make(s.set); kept.set != set {
		if is := etag(); is != kept.etag {
			kept.etag, kept.plain, kept.gzip = is, body{}, body{}
			r.cache.resize(s.key, kept)
		}
		kept.set = set
	}
	return r.respond(q, kept.etag, cacheControl, func() body {
		made := &kept.plain
		if q.Gzip {
			made = &kept.gzip
		}
		if !made.made() {
			*made = r.newBody(parts(kept.etag), q.Gzip, compressWell)
			r.cache.resize(s.key, kept)
		}
		return *made
	})
}
