package oldapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// minGzip is the size in bytes from which an answer is compressed: a smaller one fits into one packet anyway.
	minGzip = 1400

	// gzipLevel is the fastest one: on a list of flags it takes a third of the time of the default level, and the result
	// is 4 % of the size instead of 3 %.
	gzipLevel = gzip.BestSpeed
)

// An encoding is an answer's body as it is sent.
type encoding struct {
	body    []byte
	gzipped bool
	etag    string // of the text, the same for each encoding of it: a weak one, RFC 9110 section 8.8.1; "" without one
	media   string // its content type
}

// encode makes the JSON text of an answer. With compress, a text of minGzip bytes or more is compressed while it is made,
// so that only the compressed form is ever held in memory. With tagged, it has an ETag.
func encode(body any, compress, tagged bool) (encoding, error) {
	text := &compressor{after: minGzip}
	if !compress {
		text.after = -1
	}
	out, media, sum := io.Writer(text), "application/json; charset=utf-8", sha256.New()
	if tagged {
		out = io.MultiWriter(text, sum)
	}
	// What a path holds may be quoted in a message, hence AllowInvalidUTF8.
	if err := json.MarshalWrite(out, body, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return encoding{}, err
	}
	if err := text.close(); err != nil {
		return encoding{}, err
	}
	answer := encoding{body: text.out.Bytes(), gzipped: text.gzip != nil, media: media}
	if tagged {
		answer.etag = weakTag(sum)
	}
	return answer, nil
}

// jsonSize is the number of bytes of the JSON text of a value.
func jsonSize(value any) int {
	var size byteCount
	_ = json.MarshalWrite(&size, value) // what cannot be encoded is told where it is answered
	return int(size)
}

// A byteCount counts what is written to it.
type byteCount int

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// weakTag makes an ETag of the first 128 bits of a hash.
func weakTag(sum hash.Hash) string { return `W/"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"` }

// A compressor collects what is written to it, and compresses all of it once that is more than a number of bytes.
type compressor struct {
	after int // bytes; never when negative
	out   bytes.Buffer
	gzip  *gzip.Writer // nil until then
}

func (c *compressor) Write(b []byte) (int, error) {
	if c.gzip == nil && (c.after < 0 || c.out.Len()+len(b) < c.after) {
		return c.out.Write(b)
	}
	if c.gzip == nil {
		plain := bytes.Clone(c.out.Bytes())
		c.out.Reset()
		c.gzip, _ = gzip.NewWriterLevel(&c.out, gzipLevel) // fails only for a level that does not exist
		if _, err := c.gzip.Write(plain); err != nil {
			return 0, err
		}
	}
	return c.gzip.Write(b)
}

func (c *compressor) close() error {
	if c.gzip == nil {
		return nil
	}
	return c.gzip.Close()
}

// acceptsGzip tells whether a request allows gzip (RFC 9110 section 12.5.3).
func acceptsGzip(r *http.Request) bool {
	any := false
	for item := range listed(r, "Accept-Encoding") {
		coding, parameters, _ := strings.Cut(item, ";")
		quality := 1.0
		for parameter := range strings.SplitSeq(parameters, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(parameter), "="); strings.EqualFold(name, "q") {
				quality, _ = strconv.ParseFloat(value, 64) // 0 for what is no number
			}
		}
		switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
		case "gzip", "x-gzip":
			return quality > 0
		case "*":
			any = quality > 0
		}
	}
	return any
}

// matchesTag tells whether a request's If-None-Match names an ETag, compared weakly, or is "*" (RFC 9110 section 13.1.2).
func matchesTag(r *http.Request, etag string) bool {
	opaque := strings.TrimPrefix(etag, "W/")
	for item := range listed(r, "If-None-Match") {
		if item = strings.TrimSpace(item); item == "*" || strings.TrimPrefix(item, "W/") == opaque {
			return true
		}
	}
	return false
}

// listed are the items of a header that is a list. It may come as several headers: the adapter of Lambda's events splits it
// at its commas.
func listed(r *http.Request, name string) iter.Seq[string] {
	return strings.SplitSeq(strings.Join(r.Header.Values(name), ","), ",")
}

// maxAnswer is what Lambda lets a function answer, in bytes, less some room for headers. The body is a JSON string in it.
const maxAnswer = 6<<20 - 16<<10

// tooLong tells whether a body is more than Lambda can answer: a compressed one as base64, a text escaped as a JSON string.
func (e encoding) tooLong() bool {
	if e.gzipped {
		return len(e.body)/3*4 > maxAnswer
	}
	if len(e.body) < maxAnswer/6 { // even if every byte were escaped
		return false
	}
	size := len(e.body)
	for _, c := range e.body {
		switch c {
		case '"', '\\':
			size++
		case '<', '>', '&':
			size += 5
		}
	}
	return size > maxAnswer
}

// setHeaders describes the body.
func (e encoding) setHeaders(header http.Header) {
	header.Set("Content-Type", e.media)
	header.Set("Content-Length", strconv.Itoa(len(e.body)))
	if e.gzipped {
		header.Set("Content-Encoding", "gzip")
	}
}
