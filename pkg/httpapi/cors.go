package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// CORS (Fetch standard): pages of the origins in CORS_ORIGINS may call, never pages of all origins, because this is the
// administration. On AWS too, the functions set these headers and answer preflights, which reach them because all routes are ANY
// routes. API Gateway could do it, but only with the same origins for all routes.
//
// A page sends its token in a header, so the browser's own credentials are never allowed.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type"
	corsExpose  = "Retry-After"
	corsMaxAge  = "600" // seconds
)

// parseOrigins reads a comma-separated list, such as "https://console.example.com, http://localhost:3000".
func parseOrigins(list string) ([]string, error) {
	var origins []string
	for origin := range strings.SplitSeq(list, ",") {
		if origin = strings.ToLower(strings.TrimSpace(origin)); origin == "" { // browsers send origins in lower case
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin ||
			strings.Contains(origin, "*") {
			return nil, fmt.Errorf("CORS_ORIGINS has %q; an origin is https://host or http://host, with a port if "+
				"needed and without a path; * is not allowed for the administration", origin)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

// cors sets the headers that let the calling page read the answer.
func (s *service) cors(header http.Header, r *http.Request) {
	if len(s.config.Origins) == 0 {
		return
	}
	header.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); slices.Contains(s.config.Origins, origin) {
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", corsExpose)
	}
}

// preflight answers OPTIONS, which has no token, before authentication. A browser sends the actual request only if the headers
// allow it.
func (s *service) preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if len(s.config.Origins) > 0 {
		header.Add("Vary", "Access-Control-Request-Method")
	}
	if header.Get("Access-Control-Allow-Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" {
		header.Del("Access-Control-Expose-Headers")
		header.Set("Access-Control-Allow-Methods", corsMethods)
		header.Set("Access-Control-Allow-Headers", corsHeaders)
		header.Set("Access-Control-Max-Age", corsMaxAge)
	}
	w.WriteHeader(http.StatusNoContent)
}
