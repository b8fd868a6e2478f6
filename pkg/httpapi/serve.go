package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// A Response is what a function of Serve returns. The body is sent as it is.
type Response struct {
	Status int         // 0 for the status of the operation
	Header http.Header // must describe the body: Content-Type, Content-Encoding
	Body   []byte      // nil for none
}

// Serve is the handler of a function that works without a transaction: it authenticates the caller, reads and encodes by
// itself. Package serving uses it, because its responses come from memory. An error becomes the JSON error, as for other operations.
// takes and answers are zero values of the types of the bodies, for the description of the API; nil for none.
//
// An operation with it has no Permission, so the kernel does not ask for a token.
func Serve(takes, answers any, serve func(ctx context.Context, r *http.Request) (Response, error)) Handler {
	return Handler{serve: serve, takes: takes, answers: answers}
}

// serveHandler runs an operation of Serve.
func (s *service) serveHandler(op Operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		ctx, cancel := context.WithDeadline(r.Context(), s.deadline(r.Context()))
		defer cancel()
		response, err := op.Handle.serve(ctx, r)
		o := outcome{route: op.Route, status: op.status(), application: true, err: err, rounds: 1, took: time.Since(started)}
		if response.Status != 0 {
			o.status = response.Status
		}
		for name, values := range response.Header { // also with an error: a page must be able to read it
			w.Header()[name] = append(w.Header()[name], values...) // Vary can have values already
		}
		if err != nil {
			s.respond(w, r, o)
			return
		}
		if o.status < http.StatusBadRequest {
			s.count(r, o)
		} else {
			s.log(r, o, o.status, errorBody{})
		}
		w.WriteHeader(o.status)
		_, _ = w.Write(response.Body) // fails only if the caller is gone
	})
}

// RemoteAddress returns the IP address of the caller, as Address writes it: behind API Gateway, what pkg/lambdahttp takes from the event.
func RemoteAddress(r *http.Request) string { return Address(r.RemoteAddr) }

// Address returns the IP address in a text, such as an item of X-Forwarded-For, in the form that is compared: without a port, brackets
// or a zone, and an IPv4 address as such, even if it is mapped to IPv6. Any other text is returned as it is.
func Address(text string) string {
	text = strings.TrimSpace(text)
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return text
	}
	return address.Unmap().WithZone("").String()
}

// WriteError responds with an error as operations for applications do, for a server that has no operations.
func WriteError(w http.ResponseWriter, err error) {
	status, body := outcome{application: true, err: err}.fail(w.Header())
	w.Header().Set("X-Content-Type-Options", "nosniff") // a text in the body must not make it a page
	encode(body, false, false).write(w, status)
}
