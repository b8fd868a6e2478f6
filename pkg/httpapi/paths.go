package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"guidon/pkg/apipath"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/version"
)

// guard responds to preflights before authentication, and rejects paths that are not in canonical form, which net/http would
// redirect. The exception are additional slashes that clients create from a base URL that ends in a slash: such a path is served
// as the one without them.
func (s *service) guard(mux *Mux, nothing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w, r)
		cors := s.corsOf(r)
		cors.setHeaders(w.Header(), r)
		if r.URL.Path == apipath.Health {
			w.Header().Set("Guidon-Version", version.String())
		}
		switch {
		case r.Method == http.MethodOptions:
			cors.preflight(w, r)
		case isCanonical(r.URL, endsInText(mux, r)):
			mux.ServeHTTP(w, r)
		default:
			shorter := withoutSpareSlashes(r)
			if shorter == nil || !isCanonical(shorter.URL, false) || toDocs(r) { // notFound redirects to the page
				nothing.ServeHTTP(w, r)
				return
			}
			if _, route := mux.Handler(shorter); route == "/" || strings.HasSuffix(route, "...}") { // the text can contain slashes
				nothing.ServeHTTP(w, r)
				return
			}
			mux.ServeHTTP(w, shorter)
		}
	})
}

// isCanonical reports whether a path has no empty segment and none of dots, escaped or not. In the text at the end of a path
// they are allowed if they are escaped.
func isCanonical(u *url.URL, endsInText bool) bool {
	escaped := u.EscapedPath()
	return strings.HasPrefix(escaped, "/") && path.Clean(escaped) == escaped && (endsInText || path.Clean(u.Path) == u.Path)
}

// withoutSpareSlashes returns the request without the additional slashes at the start and the end of its path and after /api,
// where SDKs append their own path to a base URL. It returns nil if there are none. A doubled slash elsewhere stays, and so does
// one at the end of a DELETE, because there it is more likely an empty variable in a script.
func withoutSpareSlashes(r *http.Request) *http.Request {
	escaped := r.URL.EscapedPath()
	shorter := "/" + strings.TrimLeft(escaped, "/")
	if r.Method != http.MethodDelete {
		shorter = "/" + strings.Trim(escaped, "/")
	}
	if rest, found := strings.CutPrefix(shorter, "/api/"); found {
		shorter = "/api/" + strings.TrimLeft(rest, "/")
	}
	if shorter == escaped {
		return nil
	}
	decoded, err := url.PathUnescape(shorter)
	if err != nil {
		return nil
	}
	c := r.Clone(r.Context())
	c.URL.Path, c.URL.RawPath = decoded, shorter
	return c
}

// notFound responds to a request for a path and method that this group does not serve. operations has the routes that it serves.
func (s *service) notFound(mux *Mux, operations map[string]bool, w http.ResponseWriter, r *http.Request) {
	if toDocs(r) {
		s.log(r, outcome{path: apipath.Pattern(r.URL.Path)}, http.StatusFound, errorBody{})
		http.Redirect(w, r, "/docs", http.StatusFound)
		return
	}
	if s.page != nil && opensPage(r) {
		w.Header().Add("Vary", "Accept")
		s.page.ServeHTTP(w, r)
		return
	}
	if to := withoutSlashesOfSDK(r); to != "" {
		s.log(r, outcome{path: apipath.Pattern(r.URL.Path)}, http.StatusPermanentRedirect, errorBody{})
		http.Redirect(w, r, to, http.StatusPermanentRedirect) //nolint:gosec // G710: to begins with a path of ours
		return
	}
	s.respond(w, r, outcome{path: apipath.Pattern(r.URL.Path), err: flags.Errorf(flags.NotFound, "%s", unknownPath(r, mux.methods(r, operations)))})
}

// withoutSlashesOfSDK returns the path and query without the additional slashes of an SDK's request; "" for other requests. API
// Gateway sends a path with such slashes to the function site, which cannot serve it. SDKs follow a redirect.
func withoutSlashesOfSDK(r *http.Request) string {
	shorter := withoutSpareSlashes(r)
	if shorter == nil || !isCanonical(shorter.URL, false) {
		return ""
	}
	if !apipath.ForSDKs(shorter.URL.EscapedPath()) {
		return ""
	}
	return shorter.URL.RequestURI()
}

// toDocs reports whether a path is that of the documentation with a slash at its end: it is redirected.
func toDocs(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.URL.Path == "/docs/" && r.URL.RawPath == ""
}

// unknownPath is the message of the 404 for a path that this group does not serve, or serves only with these methods.
func unknownPath(r *http.Request, methods []string) string {
	if escaped := r.URL.EscapedPath(); strings.Contains(escaped, "//") || len(escaped) > 1 && strings.HasSuffix(escaped, "/") {
		return "no such endpoint: remove the extra slash; see /docs"
	}
	if len(methods) > 0 && !slices.Contains(methods, r.Method) {
		return fmt.Sprintf("no such endpoint: this path has no %s; it has %s; see /docs", jsonbody.Shorten(r.Method), strings.Join(methods, ", "))
	}
	return apipath.Unknown(r.URL.Path)
}

// endsInText reports whether the path ends in a text of any characters, such as the value of a tag.
func endsInText(mux *Mux, r *http.Request) bool {
	_, route := mux.Handler(r)
	return strings.HasSuffix(route, "...}")
}

// fails returns one error for every request.
func (s *service) fails(route string, failure *flags.Error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.respond(w, r, outcome{route: route, err: failure})
	})
}

// withoutTail returns a route without a {name...} at its end.
func withoutTail(route string) (before string, tail bool) {
	if !strings.HasSuffix(route, "...}") {
		return route, false
	}
	return route[:strings.LastIndex(route, "/")], true
}
