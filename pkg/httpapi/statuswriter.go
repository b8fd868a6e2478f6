package httpapi

import "net/http"

// A StatusWriter keeps the status of a response, for metrics.
type StatusWriter struct {
	http.ResponseWriter
	Status int // set it to 200 before: a handler can write a body without a status
}

// WriteHeader keeps the status and sends it.
func (w *StatusWriter) WriteHeader(status int) {
	w.Status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *StatusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
