package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		name         string
		routes       []string
		method, path string
		want         string // "" for none
		parameters   map[string]string
	}{
		// The example of "Create routes for HTTP APIs" in Amazon's developer guide.
		{"full match", pets, "GET", "/pets/dog/1", "GET /pets/dog/1", nil},
		{"full match with a variable", pets, "GET", "/pets/dog/2", "GET /pets/dog/{id}", map[string]string{"id": "2"}},
		{"greedy", pets, "GET", "/pets/cat/1", "GET /pets/{proxy+}", map[string]string{"proxy": "cat/1"}},
		{"any method, greedy", pets, "POST", "/test/5", "ANY /{proxy+}", map[string]string{"proxy": "test/5"}},
		{"default", pets, "GET", "/", "$default", nil},

		{"full before greedy, whatever the order", []string{"ANY /a/{proxy+}", "ANY /a/{x}/b"}, "GET", "/a/1/b", "ANY /a/{x}/b",
			map[string]string{"x": "1"}},
		{"longer greedy first", []string{"ANY /a/{proxy+}", "ANY /a/b/{proxy+}"}, "GET", "/a/b/c", "ANY /a/b/{proxy+}",
			map[string]string{"proxy": "c"}},
		{"text before variable", []string{"ANY /a/{x}", "ANY /a/b"}, "GET", "/a/b", "ANY /a/b", nil},
		{"earlier text counts more", []string{"ANY /{x}/b", "ANY /a/{y}"}, "GET", "/a/b", "ANY /a/{y}", map[string]string{"y": "b"}},
		{"the very method before any", []string{"ANY /a", "PUT /a"}, "PUT", "/a", "PUT /a", nil},
		{"any for the other methods", []string{"ANY /a", "PUT /a"}, "PATCH", "/a", "ANY /a", nil},
		{"greedy when the method has no full match", []string{"PUT /a/b", "ANY /a/{proxy+}"}, "GET", "/a/b", "ANY /a/{proxy+}",
			map[string]string{"proxy": "b"}},

		{"no route", []string{"GET /a"}, "POST", "/a", "", nil},
		{"a variable is never empty", []string{"GET /a/{x}"}, "GET", "/a/", "", nil},
		{"nor is a greedy one", []string{"GET /a/{x+}"}, "GET", "/a/", "", nil},
		{"greedy takes at least one segment", []string{"GET /a/{x+}"}, "GET", "/a", "", nil},
		{"greedy keeps slashes", []string{"GET /a/{x+}"}, "GET", "/a/b//c/", "GET /a/{x+}", map[string]string{"x": "b//c/"}},
		{"a slash at the end is another path", []string{"GET /a/{x}"}, "GET", "/a/b/", "", nil},
		{"case matters", []string{"GET /a"}, "GET", "/A", "", nil},
		{"decoded characters", []string{"GET /a/{x}"}, "GET", "/a/100% é?#", "GET /a/{x}", map[string]string{"x": "100% é?#"}},
		{"root", []string{"GET /"}, "GET", "/", "GET /", nil},
		{"no path", []string{"GET /"}, "OPTIONS", "*", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := testRouter(t, nil, tt.routes...)
			r, parameters := rt.match(tt.method, tt.path)
			got := ""
			if r != nil {
				got = r.key
			}
			if got != tt.want {
				t.Errorf("%s %s goes to %q, want %q", tt.method, tt.path, got, tt.want)
			}
			if diff := cmp.Diff(tt.parameters, parameters); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}

var pets = []string{"$default", "ANY /{proxy+}", "GET /pets/{proxy+}", "GET /pets/dog/{id}", "GET /pets/dog/1"}

func TestInvalidRoutes(t *testing.T) {
	for _, keys := range [][]string{
		{"nonsense"}, {"GET a"}, {"GET /{x+}/b"}, {"GET /a/{x}", "GET /a/{y}"}, {"$default", "$default"},
	} {
		var routes []route
		for _, key := range keys {
			routes = append(routes, route{key: key})
		}
		if _, err := newRouter(routes); err == nil {
			t.Errorf("%q were accepted, want an error", keys)
		}
	}
}

// testRouter sends all routes to one function.
func testRouter(t *testing.T, f *function, keys ...string) *router {
	t.Helper()
	var routes []route
	for _, key := range keys {
		routes = append(routes, route{key: key, function: f})
	}
	rt, err := newRouter(routes)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}
