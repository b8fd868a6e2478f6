package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"

	"guidon/pkg/apipath"
)

// A Site is a web application in the browser: files by path, and one page for every other path that a user can open. The application
// itself reads the path and shows what belongs there.
type Site struct {
	Files map[string]File
	Page  File // without content for none
}

// join returns a site with the files of both and the page of one of them. Either can be nil.
func (site *Site) join(other *Site) *Site {
	if site == nil || other == nil {
		return cmp.Or(site, other)
	}
	joined := &Site{Files: maps.Clone(site.Files), Page: site.Page}
	maps.Copy(joined.Files, other.Files)
	if joined.Page.Content == nil {
		joined.Page = other.Page
	}
	return joined
}

// The routes of a site in the log.
const (
	routeOfAssets = "GET /assets/{file}"
	routeOfPages  = "GET /{page...}"
)

// serveSite adds the files of a site to the routes of a group, and returns the handler of its page, nil without one.
func (s *service) serveSite(mux *Mux, site *Site) http.Handler {
	if site == nil {
		return nil
	}
	for name, file := range site.Files {
		route := "GET " + name
		if path.Dir(name) == "/assets" {
			route = routeOfAssets
		}
		mux.Handle("GET "+name, s.file(route, file))
	}
	if site.Page.Content == nil {
		return nil
	}
	return s.file(routeOfPages, site.Page)
}

// opensPage reports whether a browser opens a path that can be one of a site's pages. Programs accept any type or JSON, and get the
// 404 in JSON.
func opensPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return !apipath.NoPage(r.URL.Path) && !apipath.NoPage(path.Clean(r.URL.Path)) && acceptsHTML(r)
}

// acceptsHTML reports whether the Accept header names text/html.
func acceptsHTML(r *http.Request) bool {
	for item := range listed(r, "Accept") {
		media, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(media), "text/html") {
			continue
		}
		name, value, _ := strings.Cut(strings.ReplaceAll(parameters, " ", ""), "=")
		if !strings.EqualFold(name, "q") {
			return true
		}
		quality, err := strconv.ParseFloat(value, 64)
		return err == nil && quality > 0
	}
	return false
}
