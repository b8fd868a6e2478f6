package httpapi

import (
	"fmt"
	"net/http"
	"strings"
)

// A Mux is an http.ServeMux that also takes two routes that match the same path and of which neither is more specific, as
// Unleash has them: …/segments/{id}/strategies and …/segments/strategies/{strategyId}.
type Mux struct {
	first, second http.ServeMux
	split         bool // whether there are routes in second
}

// Handle has a handler serve a route. A path that also matches an ambiguous route from before is served by that one.
func (m *Mux) Handle(route string, handler http.Handler) {
	defer func() {
		conflict := recover() // the only way in which http.ServeMux says that routes are ambiguous
		switch {
		case conflict == nil:
		case strings.Contains(fmt.Sprint(conflict), "matches the same requests"): // there is this route already
			panic(conflict)
		default:
			m.second.Handle(route, handler)
			m.split = true
		}
	}()
	m.first.Handle(route, handler)
}

// Handler is the handler of a request, and its route; "" without one.
func (m *Mux) Handler(r *http.Request) (http.Handler, string) { return m.of(r).Handler(r) }

// ServeHTTP serves a request by the handler of its route.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.of(r).ServeHTTP(w, r) }

// methods are the methods with which the path of a request is one of these routes.
func (m *Mux) methods(r *http.Request, routes map[string]bool) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, route := m.Handler(&other); routes[route] {
			methods = append(methods, method)
		}
	}
	return methods
}

func (m *Mux) of(r *http.Request) *http.ServeMux {
	if !m.split {
		return &m.first
	}
	if _, route := m.first.Handler(r); route != "" && route != "/" {
		return &m.first
	}
	if _, route := m.second.Handler(r); route != "" {
		return &m.second
	}
	return &m.first
}
