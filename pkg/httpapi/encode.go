package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"guidon/pkg/flags"
)

const (
	// MinGzip is the smallest response in bytes that is compressed. A smaller one fits into one packet anyway.
	MinGzip = 1400

	// GzipLevel is the fastest level. For a list of flags it takes a third of the time of the default level, and compresses
	// to 4 % of the size instead of 3 %.
	GzipLevel = gzip.BestSpeed
)

// An encoding is the body of a response as it is sent.
type encoding struct {
	body    []byte
	gzipped bool
	etag    string // weak (RFC 9110 section 8.8.1), the same compressed and not; "" without one
	media   string // its content type
}

// encode encodes a response as JSON. With compress, a text of MinGzip bytes or more is compressed while it is encoded, so that
// only the compressed form is in memory. With tagged, it computes an ETag. It panics at a defect: a body that cannot be JSON.
func encode(body any, compress, tagged bool) encoding {
	text := &compressor{after: MinGzip}
	if !compress {
		text.after = -1
	}
	out, media, sum := io.Writer(text), "application/json; charset=utf-8", sha256.New()
	if tagged {
		out = io.MultiWriter(text, sum)
	}
	var err error
	switch body := body.(type) {
	case CSV:
		media = "text/csv; charset=utf-8"
		_, err = io.WriteString(out, string(body))
	default:
		// AllowInvalidUTF8, because messages can quote parts of a path.
		err = json.MarshalWrite(out, body, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	}
	if err = cmp.Or(err, text.close()); err != nil {
		panic(err)
	}
	answer := encoding{body: text.out.Bytes(), gzipped: text.gzip != nil, media: media}
	if tagged {
		answer.etag = weakTag(sum)
	}
	return answer
}

// A CSV is a response that is a text of comma-separated values instead of JSON.
type CSV string

// JSONSize returns the number of bytes of a value as JSON.
func JSONSize(value any) int {
	var size byteCount
	_ = json.MarshalWrite(&size, value) // an error is reported when the value is sent
	return int(size)
}

// A byteCount counts what is written to it.
type byteCount int

func (n *byteCount) Write(b []byte) (int, error) {
	*n += byteCount(len(b))
	return len(b), nil
}

// weakTag returns a weak ETag of the first 128 bits of a hash.
func weakTag(sum hash.Hash) string { return `W/"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"` }

// A compressor buffers what is written to it, and compresses all of it once it is larger than a number of bytes.
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
		c.gzip, _ = gzip.NewWriterLevel(&c.out, GzipLevel) // fails only for a level that does not exist
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

// AcceptsGzip reports whether a request accepts gzip (RFC 9110 section 12.5.3).
func AcceptsGzip(r *http.Request) bool {
	any := false
	for item := range listed(r, "Accept-Encoding") {
		coding, parameters, _ := strings.Cut(item, ";")
		quality := 1.0
		for parameter := range strings.SplitSeq(parameters, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(parameter), "="); strings.EqualFold(name, "q") {
				quality, _ = strconv.ParseFloat(value, 64) // 0 if it is not a number
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

// matchesTag reports whether the If-None-Match of a request has an ETag, by weak comparison, or is "*" (RFC 9110 section 13.1.2).
func matchesTag(r *http.Request, etag string) bool { return listsTag(r, "If-None-Match", etag) }

// listsTag reports whether a header with ETags has one of them, by weak comparison, or is "*".
func listsTag(r *http.Request, header, etag string) bool {
	opaque := opaqueTag(etag)
	for item := range listedTags(r, header) {
		if item == "*" || item == opaque {
			return true
		}
	}
	return false
}

// ListedTags returns the items of the If-None-Match of a request: opaque tags, or "*".
func ListedTags(r *http.Request) iter.Seq[string] { return listedTags(r, "If-None-Match") }

func listedTags(r *http.Request, header string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range listed(r, header) {
			if !yield(opaqueTag(item)) {
				return
			}
		}
	}
}

// opaqueTag returns what weak comparison compares of an ETag: without W/, and without what proxies that compress a response add to the end,
// such as Apache's -gzip. No ETag of Guidon ends like that.
func opaqueTag(etag string) string {
	opaque := strings.TrimPrefix(etag, "W/")
	for _, suffix := range []string{"--gzip", "-gzip", ";gzip", "-br", "-zstd", "-deflate"} {
		if original, added := strings.CutSuffix(opaque, suffix+`"`); added {
			return original + `"`
		}
	}
	return opaque
}

// listed returns the items of a header that is a list. They can be in several headers, because the adapter of Lambda events
// splits headers at commas.
func listed(r *http.Request, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(strings.Join(r.Header.Values(name), ","), ",") {
			if !yield(strings.TrimSpace(item)) {
				return
			}
		}
	}
}

// MaxAnswer is the largest response of a Lambda function in bytes, less some room for headers. The body is a JSON string in it.
const MaxAnswer = 6<<20 - 16<<10

// The characters that package encoding/json escapes although JSON does not require it, because JavaScript once did.
const lineSeparator, paragraphSeparator = "\u2028", "\u2029"

// TooLong reports whether a body is larger than Lambda can return: a compressed body as base64, a text in a JSON string as
// package encoding/json escapes it.
func TooLong(body []byte, gzipped bool) bool {
	if gzipped {
		return len(body)/3*4 > MaxAnswer
	}
	if len(body) < MaxAnswer/6 { // even if every byte were escaped
		return false
	}
	size := len(body)
	for i, c := range body {
		switch {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			size++
		case c == '<', c == '>', c == '&', c < ' ':
			size += 5
		case c == lineSeparator[0] && (bytes.HasPrefix(body[i:], []byte(lineSeparator)) || bytes.HasPrefix(body[i:], []byte(paragraphSeparator))):
			size += 3
		}
	}
	return size > MaxAnswer
}

// write ends a response, with the headers that describe the body.
func (e encoding) write(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", e.media)
	w.Header().Set("Content-Length", strconv.Itoa(len(e.body)))
	if e.gzipped {
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(status)
	_, _ = w.Write(e.body) // fails only if the caller is gone
}

// What one process sends without compression: data out is most of the price of a response. A plainLarge response
// is as long as a compressed one with some 1,000 flags, so a shorter one needs no budget. PlainBurst is more than the longest response.
const (
	plainLarge = 32 << 10 // bytes
	PlainRate  = 64 << 10 // bytes a second
	PlainBurst = 16 << 20
)

// NewPlainBudget returns a function that refuses large responses which are not compressed, once there are too many.
func NewPlainBudget() func(bytes int, now time.Time) error {
	budget := rate.NewLimiter(PlainRate, PlainBurst)
	return func(bytes int, now time.Time) error {
		if bytes <= plainLarge || budget.AllowN(now, bytes) {
			return nil
		}
		return flags.Errorf(flags.TooManyRequests, "send Accept-Encoding: gzip; this response has %d KB without compression, and too many such responses "+
			"were sent in the last minutes", bytes>>10)
	}
}
