package admin_test

import (
	"testing"

	"guidon/pkg/apitest"
)

// TestMalformedQueries sends queries of which net/url drops a part without an error. A list without a filter that the caller sent would be
// a wrong answer, so the error names the parameter.
func TestMalformedQueries(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	refused := func(name string) string {
		return apitest.Failure("ValidationError", `the query's parameter "`+name+`" is malformed: write % as %25 and ; as %3B, and separate parameters with &`)
	}
	s.Run(t, []apitest.Call{
		{"an escape", "GET", "/api/admin/search/features?query=50%&limit=1", "", 400, refused("query")},
		{"a semicolon", "GET", "/api/admin/search/features?limit=1&tag=simple:a;b", "", 400, refused("tag")},
		{"a name", "GET", "/api/admin/projects?limit=1&%zz=1", "", 400, refused("%zz")},
		{"a parameter that nothing reads", "GET", "/api/admin/projects?x=a;b", "", 400, refused("x")},
		{"a change", "POST", "/api/admin/projects?x=%", `{"id": "p", "name": "p"}`, 400, refused("x")},
		{"escaped ones", "GET", "/api/admin/search/features?query=50%25&tag=INCLUDE:a%3Bb", "", 200, `{"...":0}`},
	})
}
