package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A route sends requests to a function. Its key has the form of API Gateway: "GET /a/{b}", "ANY /a/{proxy+}", "$default".
type route struct {
	key      string
	group    string
	function *function

	method   string    // empty for any
	segments []segment // of the path
	greedy   string    // the name of the variable that takes the rest of the path; empty for none
	fallback bool      // $default
}

// A segment of a route's path: a text, or a variable if text is empty.
type segment struct{ text, variable string }

// A router finds the route of a request by the rules that API Gateway documents: a full match, then a greedy match, then
// $default. Of several matches it prefers the one with the longer fixed part, and an exact method to ANY.
type router struct{ routes []route } // by precedence: the first match wins

func newRouter(routes []route) (*router, error) {
	parsed := make([]route, 0, len(routes))
	seen := map[string]string{}
	for _, r := range routes {
		if err := r.parse(); err != nil {
			return nil, err
		}
		if other, ok := seen[r.shape()]; ok {
			return nil, fmt.Errorf("routes %q and %q are equal for API Gateway", other, r.key)
		}
		seen[r.shape()] = r.key
		parsed = append(parsed, r)
	}
	slices.SortStableFunc(parsed, byPrecedence)
	return &router{parsed}, nil
}

// parse reads the key.
func (r *route) parse() error {
	if r.key == "$default" {
		r.fallback = true
		return nil
	}
	method, path, ok := strings.Cut(r.key, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return fmt.Errorf("route %q is neither $default nor a method and a path", r.key)
	}
	if method != "ANY" {
		r.method = method
	}
	for text := range strings.SplitSeq(path[1:], "/") {
		if r.greedy != "" {
			return fmt.Errorf("route %q goes on after its greedy variable", r.key)
		}
		variable, isVariable := strings.CutPrefix(strings.TrimSuffix(text, "}"), "{")
		switch {
		case !isVariable:
			r.segments = append(r.segments, segment{text: text})
		case strings.HasSuffix(variable, "+"):
			r.greedy = strings.TrimSuffix(variable, "+")
		default:
			r.segments = append(r.segments, segment{variable: variable})
		}
	}
	return nil
}

// shape is the key without the names of its variables.
func (r *route) shape() string {
	if r.fallback {
		return r.key
	}
	var b strings.Builder
	b.WriteString(r.method)
	for _, s := range r.segments {
		b.WriteString("/")
		if s.variable != "" {
			b.WriteString("{}")
		}
		b.WriteString(s.text)
	}
	if r.greedy != "" {
		b.WriteString("/{+}")
	}
	return b.String()
}

// byPrecedence orders routes by the preference of API Gateway.
func byPrecedence(a, b route) int {
	if c := cmp.Or(compareBool(a.fallback, b.fallback), compareBool(a.greedy != "", b.greedy != "")); c != 0 {
		return c
	}
	for i := range min(len(a.segments), len(b.segments)) {
		if c := compareBool(a.segments[i].variable != "", b.segments[i].variable != ""); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(b.segments), len(a.segments)), compareBool(a.method == "", b.method == ""))
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// match returns the route of a request and the values of its variables, or nil. The path is decoded, as in API Gateway.
func (rt *router) match(method, path string) (*route, map[string]string) {
	for i := range rt.routes {
		if r := &rt.routes[i]; r.matches(method, path) {
			return r, r.parameters(path)
		}
	}
	return nil, nil
}

func (r *route) matches(method, path string) bool {
	if r.fallback {
		return true
	}
	if r.method != "" && r.method != method {
		return false
	}
	for _, s := range r.segments {
		var text string
		var ok bool
		if text, path, ok = nextSegment(path); !ok || (s.variable == "" && text != s.text) || (s.variable != "" && text == "") {
			return false
		}
	}
	if r.greedy == "" {
		return path == ""
	}
	return len(path) > 1
}

// parameters are the values of the variables in a matching path.
func (r *route) parameters(path string) map[string]string {
	var found map[string]string
	set := func(name, value string) {
		if found == nil {
			found = make(map[string]string, len(r.segments))
		}
		found[name] = value
	}
	for _, s := range r.segments {
		var text string
		text, path, _ = nextSegment(path)
		if s.variable != "" {
			set(s.variable, text)
		}
	}
	if r.greedy != "" {
		set(r.greedy, strings.TrimPrefix(path, "/"))
	}
	return found
}

// nextSegment splits off the first segment of a path; false if there is none.
func nextSegment(path string) (text, rest string, ok bool) {
	if path == "" || path[0] != '/' {
		return "", "", false
	}
	path = path[1:]
	if end := strings.IndexByte(path, '/'); end >= 0 {
		return path[:end], path[end:], true
	}
	return path, "", true
}
