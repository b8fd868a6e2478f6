package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Which pages of other origins may call, as a browser asks for it (CORS, in the Fetch standard): those of the Origins
// that are listed, and never all, because this is the administration. On AWS API Gateway sets these headers, from the
// template's CorsConfiguration, and CORS_ORIGINS is not set. A preflight still reaches the function, because all routes are
// ANY routes: the function answers 204 without a token, and API Gateway adds the headers. `make run` sets them here.
//
// A token goes in a header that the page sets itself, so no credentials of the browser's are ever let in.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type"
	corsExpose  = "Retry-After"
	corsMaxAge  = "600" // seconds
)

// parseOrigins reads a list between commas, such as "https://console.example.com, http://localhost:3000".
func parseOrigins(list string) ([]string, error) {
	var origins []string
	for origin := range strings.SplitSeq(list, ",") {
		if origin = strings.ToLower(strings.TrimSpace(origin)); origin == "" { // browsers send them so
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin ||
			strings.Contains(origin, "*") {
			return nil, fmt.Errorf("CORS_ORIGINS has %q; an origin is https://host or http://host, with a port if it has "+
				"one and nothing behind it; * is not taken: this is the administration", origin)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

// cors tells a browser whether the page that calls may read the answer.
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

// preflight answers OPTIONS, which comes without a token, before any authentication. A browser lets the page's request
// follow where the headers allow it; any other caller learns nothing.
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
