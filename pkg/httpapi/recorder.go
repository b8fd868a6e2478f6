package httpapi

import (
	"bytes"
	"net/http"
)

// A Recorder keeps a response in memory.
type Recorder struct {
	Status int
	Body   bytes.Buffer
	header http.Header
}

// NewRecorder returns a Recorder for a handler.
func NewRecorder() *Recorder { return &Recorder{Status: http.StatusOK, header: http.Header{}} }

// Header returns the header, which the handler sets.
func (r *Recorder) Header() http.Header { return r.header }

// Write adds to the body.
func (r *Recorder) Write(b []byte) (int, error) { return r.Body.Write(b) }

// WriteHeader sets the status.
func (r *Recorder) WriteHeader(status int) { r.Status = status }

// Response returns what the handler has written.
func (r *Recorder) Response() Response {
	return Response{Status: r.Status, Header: r.header, Body: r.Body.Bytes()}
}
