package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"guidon/pkg/apipath"
)

// A cors says which pages may call operations from a browser (Fetch standard). The functions set its headers, on
// AWS too: API Gateway could have only one setting for all routes.
//
// A page sends its token in a header, so the browser's own credentials are never allowed.
type cors struct {
	Origins []string // that may call; or only AllOrigins
	Methods string
	Headers string // that a page may send; "" for all that it asks for
	Expose  string // headers of the response that a page may read, in addition to those that browsers always allow
	MaxAge  string // how long a browser may remember the response to a preflight, in seconds
}

// AllOrigins stands for pages of all origins.
const AllOrigins = "*"

// administrationCORS is for all other paths: pages of the origins in CORS_ORIGINS may call, never pages of all
// origins, because this is the administration.
func administrationCORS(origins []string) *cors {
	return &cors{
		Origins: origins, Methods: "GET, POST, PUT, PATCH, DELETE", Headers: "Authorization, Content-Type, If-Match, If-None-Match", Expose: "ETag, Retry-After", MaxAge: "600",
	}
}

// frontendCORS is for what browsers of users call: pages of the origins in FRONTEND_ORIGINS may, by default all. They may send
// any headers, because SDKs send their own.
func frontendCORS(origins []string) *cors {
	if len(origins) == 0 {
		origins = []string{AllOrigins}
	}
	return &cors{Origins: origins, Methods: "GET, HEAD, POST", Expose: "ETag, Retry-After", MaxAge: "86400"}
}

// corsOf returns the settings for a request, by its path. So paths of browsers that a group does not serve, such as one with an
// additional slash, have those of browsers too: a page can follow the redirect, or read the error.
func (s *service) corsOf(r *http.Request) *cors {
	if apipath.ForBrowsers(path.Clean(r.URL.Path)) {
		return s.frontendCORS
	}
	return s.cors
}

// parseOrigins reads the comma-separated list in a variable, such as "https://console.example.com, http://localhost:3000".
func parseOrigins(variable, list string) ([]string, error) {
	var origins []string
	for origin := range strings.SplitSeq(list, ",") {
		if origin = strings.ToLower(strings.TrimSpace(origin)); origin == "" { // browsers send origins in lower case
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin ||
			strings.Contains(origin, "*") {
			return nil, fmt.Errorf("%s has %q; an origin is https://host or http://host, with a port if needed and without a path", variable, origin)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

// parseFrontendOrigins reads FRONTEND_ORIGINS, which can also be *, the default.
func parseFrontendOrigins(list string) ([]string, error) {
	if list = cmp.Or(strings.TrimSpace(list), AllOrigins); list == AllOrigins {
		return []string{AllOrigins}, nil
	}
	origins, err := parseOrigins("FRONTEND_ORIGINS", list)
	if err != nil {
		return nil, fmt.Errorf("%w; use * alone for all origins", err)
	}
	return origins, nil
}

// setHeaders sets the headers that let the calling page read the response.
func (c *cors) setHeaders(header http.Header, r *http.Request) {
	if len(c.Origins) == 0 {
		return
	}
	allowed := AllOrigins
	if c.Origins[0] != AllOrigins {
		header.Add("Vary", "Origin")
		if allowed = r.Header.Get("Origin"); !slices.Contains(c.Origins, allowed) {
			return
		}
	}
	header.Set("Access-Control-Allow-Origin", allowed)
	header.Set("Access-Control-Expose-Headers", c.Expose)
}

// preflight responds to OPTIONS, which has no token, before authentication. A browser sends the actual request only if the headers
// allow it.
func (c *cors) preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if len(c.Origins) > 0 {
		header.Add("Vary", "Access-Control-Request-Method")
		if c.Headers == "" {
			header.Add("Vary", "Access-Control-Request-Headers")
		}
	}
	if header.Get("Access-Control-Allow-Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" {
		header.Del("Access-Control-Expose-Headers")
		header.Set("Access-Control-Allow-Methods", c.Methods)
		header.Set("Access-Control-Allow-Headers", cmp.Or(c.Headers, requestedHeaders(r)))
		header.Set("Access-Control-Max-Age", c.MaxAge)
	}
	w.WriteHeader(http.StatusNoContent)
}

// The limits of the headers that a preflight may ask for, and what it gets beyond them.
const (
	maxRequestedHeaders = 2000 // bytes
	usualHeaders        = "Authorization, Content-Type, If-None-Match"
)

// requestedHeaders returns the headers that a preflight asks for.
func requestedHeaders(r *http.Request) string {
	list := strings.Join(r.Header.Values("Access-Control-Request-Headers"), ",") // the adapter of Lambda events splits it
	isName := func(name string) bool {
		return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
			return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
		})
	}
	if len(list) > maxRequestedHeaders {
		return usualHeaders
	}
	names := strings.Split(list, ",")
	for i, name := range names {
		if names[i] = strings.TrimSpace(name); !isName(names[i]) {
			return usualHeaders
		}
	}
	return strings.Join(names, ", ")
}
