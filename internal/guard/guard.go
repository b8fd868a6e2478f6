// Package guard serves HTTP only to callers that know a secret: the first segment of the path.
//
// Local stand-ins for AWS services are protected by it. Programs that know the address reach them without further
// settings, because the AWS SDKs keep the path of an endpoint. Other processes on the machine, and pages in a browser,
// get an empty 403 without CORS headers.
package guard

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"time"
)

// NewSecret returns 256 random bits that fit into a path.
func NewSecret() string { return rand.Text() + rand.Text() }

// Handler passes requests to next, without the secret, if their path starts with it. The others get an empty 403.
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

// A Server is a guarded handler on a port of this machine's loopback address.
type Server struct {
	// URL is where the handler is served. It contains the secret.
	URL string

	server *http.Server
}

// Serve starts a server on 127.0.0.1, on any free port for 0. The caller closes it.
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

// Close ends the server and its connections.
func (s *Server) Close() error { return s.server.Close() }
