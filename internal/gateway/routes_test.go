package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoutes(t *testing.T) {
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
		{"the very method before any", []string{"ANY /a", "PUT /a"}, "PUT", "/a", "PUT /a", nil},
		{"any for the other methods", []string{"ANY /a", "PUT /a"}, "PATCH", "/a", "ANY /a", nil},
		{"greedy when the method has no full match", []string{"PUT /a/b", "ANY /a/{proxy+}"}, "GET", "/a/b", "ANY /a/{proxy+}",
			map[string]string{"proxy": "b"}},

		{"no route", []string{"GET /a"}, "POST", "/a", "", nil},
		{"a variable is never empty", []string{"GET /a/{x}"}, "GET", "/a/", "", nil},
		{"nor is a greedy one", []string{"GET /a/{x+}"}, "GET", "/a/", "", nil},
		{"greedy takes at least one segment", []string{"GET /a/{x+}"}, "GET", "/a", "", nil},
		{"greedy keeps slashes", []string{"GET /a/{x+}"}, "GET", "/a/b/c/", "GET /a/{x+}", map[string]string{"x": "b/c/"}},
		{"a slash at the end is another path", []string{"GET /a/{x}"}, "GET", "/a/b/", "", nil},
		{"case matters", []string{"GET /a"}, "GET", "/A", "", nil},
		{"decoded characters", []string{"GET /a/{x}"}, "GET", "/a/100%25%20%C3%A9%3F%23", "GET /a/{x}", map[string]string{"x": "100% é?#"}},
		{"a path that net/http would clean", pets, "GET", "/pets//dog", "$default", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, parameters := "", map[string]string(nil)
			router, err := NewRouter(&Template{Functions: []Function{{Routes: tt.routes}}}, func(_ http.ResponseWriter, r *http.Request, route *Route) {
				got, parameters = route.Key, route.parameters(r)
			})
			if err != nil {
				t.Fatal(err)
			}
			router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(tt.method, tt.path, nil))
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

// TestInvalidRoutes has routes that API Gateway refuses, and two that match the same path, of which neither is more specific.
func TestInvalidRoutes(t *testing.T) {
	for _, keys := range [][]string{
		{"GET a"}, {"GET /{x+}/b"}, {"GET /a/{x}", "GET /a/{y}"}, {"GET /{x}/b", "GET /a/{y}"},
	} {
		if _, err := NewRouter(&Template{Functions: []Function{{Routes: keys}}}, nil); err == nil {
			t.Errorf("%q were accepted, want an error", keys)
		}
	}
}
