package gateway

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
)

// fallback is the key of the route for all requests that no other route matches.
const fallback = "$default"

// A Route sends requests to a function.
type Route struct {
	Key      string // such as "ANY /a/{b}/{proxy+}" or "$default"
	Function Function
	names    []string // of its variables
}

// variable matches a variable of a route, with its name and the + of one that takes the rest of the path.
var variable = regexp.MustCompile(`\{(\w+)(\+?)\}`)

// NewRouter returns a handler that chooses the route of a request, by the rules that API Gateway documents: a full match, then a greedy one,
// then $default. http.ServeMux follows them, and refuses routes that match the same path if neither is more specific: which one API Gateway
// would choose is not documented.
func NewRouter(t *Template, serve func(w http.ResponseWriter, r *http.Request, route *Route)) (_ http.Handler, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the routes of the template: %v", p)
		}
	}()
	var mux http.ServeMux
	others := http.NotFoundHandler()
	paths, greedy := map[string]bool{}, []string{}
	for _, f := range t.Functions {
		for _, key := range f.Routes {
			route := &Route{Key: key, Function: f}
			pattern := strings.TrimPrefix(key, "ANY ")
			tail := ""
			for _, v := range variable.FindAllStringSubmatch(key, -1) {
				route.names = append(route.names, v[1])
				if v[2] != "" {
					tail = v[1]
				}
			}
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tail != "" && r.PathValue(tail) == "" { // a variable is never empty
					others.ServeHTTP(w, r)
					return
				}
				serve(w, r, route)
			})
			if key == fallback {
				others = handler
				continue
			}
			paths[pattern] = true
			if tail != "" {
				greedy = append(greedy, path.Dir(pattern))
			}
			mux.Handle(variable.ReplaceAllStringFunc(pattern, func(v string) string { return strings.Replace(v, "+", "...", 1) }), handler)
		}
	}
	for _, before := range greedy { // http.ServeMux would add a slash and redirect
		if before != "/" && !paths[before] {
			mux.Handle(before, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { others.ServeHTTP(w, r) }))
			paths[before] = true
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.URL.EscapedPath()
		clean := path.Clean(sent) == sent || path.Clean(sent)+"/" == sent // http.ServeMux redirects other paths
		if _, pattern := mux.Handler(r); pattern == "" || !clean {
			others.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}), nil
}

// parameters are the values of the variables in the path of a request.
func (route *Route) parameters(r *http.Request) map[string]string {
	var found map[string]string
	for _, name := range route.names {
		if found == nil {
			found = map[string]string{}
		}
		found[name] = r.PathValue(name)
	}
	return found
}
