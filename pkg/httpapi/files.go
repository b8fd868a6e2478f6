package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// A File is what a path answers as it is.
type File struct {
	Type    string // content type
	Content []byte
	Gzipped bool              // whether Content is compressed
	Headers map[string]string // further ones
}

// NewFiles serves files by path, without a token and without a store, and the JSON 404 for every other path and method.
func NewFiles(files map[string]File, config Config) http.Handler {
	s := &service{config: config}
	mux := &Mux{}
	for path, file := range files {
		mux.Handle("GET "+path, s.file("GET "+path, file))
	}
	nothing := http.HandlerFunc(s.notFound)
	mux.Handle("/", nothing)
	return s.guard(mux, nothing)
}

// file answers with a file: compressed where the caller takes that, and not at all where the caller has it already.
func (s *service) file(route string, f File) http.Handler {
	sum := sha256.Sum256(f.Content)
	tag := `W/"` + hex.EncodeToString(sum[:8]) + `"` // the same for each encoding
	compressed := sync.OnceValue(func() []byte { return compress(f.Content) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, header, status := f.Content, w.Header(), http.StatusOK
		for name, value := range f.Headers {
			header.Set(name, value)
		}
		header.Set("Cache-Control", "no-cache") // asked for again each time, and not sent again
		header.Set("ETag", tag)
		header.Add("Vary", "Accept-Encoding")
		header.Set("X-Content-Type-Options", "nosniff")
		switch {
		case matchesTag(r, tag):
			status, content = http.StatusNotModified, nil
		case f.Gzipped && acceptsGzip(r):
			header.Set("Content-Encoding", "gzip")
		case len(content) >= minGzip && acceptsGzip(r):
			content = compressed()
			header.Set("Content-Encoding", "gzip")
		case f.Gzipped:
			content = uncompressed(content)
		}
		s.log(r, outcome{route: route}, status, errorBody{})
		if status == http.StatusOK {
			header.Set("Content-Type", f.Type)
			header.Set("Content-Length", strconv.Itoa(len(content)))
		}
		w.WriteHeader(status)
		_, _ = w.Write(content) // a caller that has gone cannot be told
	})
}

// compress makes a gzip file.
func compress(content []byte) []byte {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, _ = writer.Write(content) // a buffer takes everything
	_ = writer.Close()
	return out.Bytes()
}

// uncompressed is the content of a gzip file, which is one of the program's own: that it is good is seen to by tests.
func uncompressed(file []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		panic(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return content
}
