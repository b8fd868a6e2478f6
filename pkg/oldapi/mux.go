package oldapi

import "net/http"

// A Mux is an http.ServeMux that also takes routes of which neither is more specific than the other, as Unleash has
// them: …/segments/{id}/strategies and …/segments/strategies/{strategyId}. The one that was there first goes first.
type Mux struct {
	first, second http.ServeMux
	split         bool // whether there are routes in second
}

// ambiguous are the routes that give way to others.
var ambiguous = map[string]bool{"GET " + segmentsOfStrategy: true}

// Handle has a handler serve a route.
func (m *Mux) Handle(route string, handler http.Handler) {
	if ambiguous[route] {
		m.second.Handle(route, handler)
		m.split = true
		return
	}
	m.first.Handle(route, handler)
}

// Handler is the handler of a request, and its route; "" without one.
func (m *Mux) Handler(r *http.Request) (http.Handler, string) { return m.of(r).Handler(r) }

// ServeHTTP serves a request by the handler of its route.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.of(r).ServeHTTP(w, r) }

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
