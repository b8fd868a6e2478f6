package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"
)

// A File is a static response.
type File struct {
	Type      string // content type
	Content   []byte
	Gzipped   bool              // whether Content is compressed with gzip: all callers get it so, as every browser takes it
	Immutable bool              // whether its path changes with its content: callers may keep it for a year
	Status    int               // 0 for 200
	Headers   map[string]string // further ones
}

// The values of Cache-Control. A page is revalidated each time.
const (
	revalidated = "no-cache"
	immutable   = "public, max-age=31536000, immutable"
)

// transportSecurity has browsers use HTTPS for this host for a year.
const transportSecurity = "max-age=31536000"

// file serves a file, compressed if the caller accepts that, or the file is compressed or large, or returns 304 if the caller has it already.
func (s *service) file(route string, f File) http.Handler {
	tag := sync.OnceValue(func() string {
		sum := sha256.Sum256(f.Content)
		return `W/"` + hex.EncodeToString(sum[:8]) + `"` // the same for each encoding
	})
	compressed := sync.OnceValue(func() []byte { return compress(f.Content) }) // kept, as files are few and small
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, header, status := f.Content, w.Header(), cmp.Or(f.Status, http.StatusOK)
		for name, value := range f.Headers {
			header.Set(name, value)
		}
		header.Set("Cache-Control", revalidated)
		if f.Immutable {
			header.Set("Cache-Control", immutable)
		}
		if r.Header.Get("X-Forwarded-Proto") == "https" { // which API Gateway sets
			header.Set("Strict-Transport-Security", transportSecurity)
		}
		header.Add("Vary", "Accept-Encoding")
		header.Set("X-Content-Type-Options", "nosniff")
		if status == http.StatusOK {
			header.Set("ETag", tag())
		}
		switch {
		case status == http.StatusOK && matchesTag(r, tag()):
			status, content = http.StatusNotModified, nil
		case f.Gzipped:
			header.Set("Content-Encoding", "gzip")
		case len(content) > plainLarge, len(content) >= MinGzip && AcceptsGzip(r):
			content = compressed()
			header.Set("Content-Encoding", "gzip")
		}
		s.log(r, outcome{route: route}, status, errorBody{})
		if status != http.StatusNotModified {
			header.Set("Content-Type", f.Type)
			header.Set("Content-Length", strconv.Itoa(len(content)))
		}
		w.WriteHeader(status)
		_, _ = w.Write(content) // fails only if the caller is gone
	})
}

// compress compresses a file with gzip, at the default level, because it happens once in a process.
func compress(content []byte) []byte {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, _ = writer.Write(content) // a buffer takes everything
	_ = writer.Close()
	return out.Bytes()
}
