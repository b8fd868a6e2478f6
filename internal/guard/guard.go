// Package guard protects local replacements of AWS services: it serves HTTP only to callers that know a secret, which is
// the first segment of the path.
//
// Programs that know the address need no other settings, because AWS SDKs keep the path of an endpoint. Other processes
// on the machine, and web pages, get an empty 403 without CORS headers.
package guard

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"time"
)

// NewSecret returns 256 random bits as a path segment.
func NewSecret() string { return rand.Text() + rand.Text() }

// Handler removes the secret from the path and calls next. Requests without the secret get an empty 403.
func Handler(secret string, next http.Handler) http.Handler {
	inner := http.StripPrefix("/"+secret, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(given), []byte(secret)) != 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// A Server is a guarded handler on a port of 127.0.0.1.
type Server struct {
	URL string // contains the secret

	server *http.Server
}

// Serve starts a server on a port of 127.0.0.1, any free one for 0. The caller closes it.
func Serve(port string, next http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil, err
	}
	secret := NewSecret()
	s := &Server{
		URL:    "http://" + listener.Addr().String() + "/" + secret,
		server: &http.Server{Handler: Handler(secret, next), ReadHeaderTimeout: time.Minute},
	}
	go func() { _ = s.server.Serve(listener) }() // until Close
	return s, nil
}

// Close stops the server and closes its connections.
func (s *Server) Close() error { return s.server.Close() }
