package serving

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"
	"weak"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A body is an encoded answer, or why it cannot be sent.
type body struct {
	bytes   []byte
	gzipped bool
	refusal error
}

func (b *body) made() bool { return b.bytes != nil || b.refusal != nil }

// newBody joins the parts of a JSON text. With compress, they are compressed unless the text is short.
func newBody(parts iter.Seq[[]byte], compress bool) body {
	size := 0
	for part := range parts {
		if size += len(part); compress && size >= httpapi.MinGzip {
			return checked(body{bytes: compressed(parts), gzipped: true})
		}
	}
	text := make([]byte, 0, size)
	for part := range parts {
		text = append(text, part...)
	}
	return checked(body{bytes: text})
}

// gzipWriters keeps writers for other answers: one takes more than half a megabyte.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, httpapi.GzipLevel) // fails only for a level that does not exist
	return w
}}

func compressed(parts iter.Seq[[]byte]) []byte {
	var out bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	w.Reset(&out)
	for part := range parts {
		_, _ = w.Write(part) // a buffer does not fail
	}
	_ = w.Close()
	return bytes.Clone(out.Bytes()) // without the room for more
}

// checked refuses a body that is larger than Lambda can return.
func checked(b body) body {
	if !httpapi.TooLong(b.bytes, b.gzipped) {
		return b
	}
	advice := "accept a compressed one (Accept-Encoding: gzip), or "
	if b.gzipped {
		advice = "even compressed; "
	}
	return body{refusal: flags.Errorf(flags.TooLarge, "the answer is larger than the 6 MB that Lambda can return; %s"+
		"use a token of fewer projects, or the parameters namePrefix, tag or project of GET /api/client/features", advice)}
}

// respond sends the answer of an ETag, unless the caller has it. It is made only if it is sent.
func (s *server) respond(r *http.Request, etag string, answer func() body) (httpapi.Response, error) {
	response := s.notModified(etag)
	if httpapi.MatchesTag(r, etag) {
		return response, nil
	}
	b := answer()
	if b.refusal != nil {
		return httpapi.Response{}, b.refusal
	}
	response.Status, response.Body = http.StatusOK, b.bytes
	response.Header.Set("Content-Type", "application/json; charset=utf-8")
	response.Header.Set("Content-Length", strconv.Itoa(len(b.bytes)))
	if b.gzipped {
		response.Header.Set("Content-Encoding", "gzip")
	}
	return response, nil
}

// notModified tells the caller that its answer is up to date.
func (s *server) notModified(etag string) httpapi.Response {
	return httpapi.Response{Status: http.StatusNotModified, Header: http.Header{
		"Etag": {etag}, "Vary": {"Accept-Encoding, Authorization, Unleash-Client-Spec"}, "Cache-Control": {s.cacheControl()},
	}}
}

// revalidate lets the caller keep an answer, but ask each time whether it changed.
const revalidate = "private, no-cache"

// cacheControl lets caches keep answers, but ask each time whether they changed. With CLIENT_MAX_AGE, shared caches such as a
// CDN can answer by themselves for that long; Vary tells them that answers depend on the token.
func (s *server) cacheControl() string {
	if s.maxAge < time.Second {
		return revalidate
	}
	return fmt.Sprintf("public, max-age=%d", int(s.maxAge.Seconds()))
}

// cached sends the answer to a selection. It makes the ETag and the body once for each state, for all requests with the same
// selection. A state with the same ETag has the same answer, so the body is kept. The body tells the number of the first such
// state (meta.revisionId).
func (s *server) cached(r *http.Request, selection *selection, etag func() string, parts func(etag string) iter.Seq[[]byte]) (httpapi.Response, error) {
	answer := s.answers.get(selection.key)
	answer.mu.Lock()
	defer answer.mu.Unlock()
	if state := weak.Make(selection.state); answer.state != state {
		if is := etag(); is != answer.etag {
			answer.etag, answer.plain, answer.gzip = is, body{}, body{}
			s.answers.resize(selection.key, answer)
		}
		answer.state = state
	}
	return s.respond(r, answer.etag, func() body {
		compress := httpapi.AcceptsGzip(r)
		kept := &answer.plain
		if compress {
			kept = &answer.gzip
		}
		if !kept.made() {
			*kept = newBody(parts(answer.etag), compress)
			s.answers.resize(selection.key, answer)
		}
		return *kept
	})
}
