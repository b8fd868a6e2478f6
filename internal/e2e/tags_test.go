package e2e

import (
	"net/url"
	"strings"
	"testing"
)

// TestTagValues removes tags by path. API Gateway decodes a path before it passes it on, so slashes of a value cannot be
// distinguished from those of the path.
func TestTagValues(t *testing.T) {
	g := start(t)
	type list struct {
		Version int   `json:"version"`
		Tags    []tag `json:"tags"`
	}
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "tagged"}, nil)
	const tags = "/api/admin/features/tagged/tags"
	for _, value := range []string{"plain", "a/b", "a//b/", "//", "..", "../..", "a/../b", "100%", "a%2Fb", "a b+c", "a?b=c&d", "a#b", "é😀", `"a"\`, "a;b,c:d@e"} {
		one := tag{"simple", value}
		g.do(t, 201, "POST", tags, one, nil)
		var got list
		g.do(t, 200, "GET", tags, nil, &got)
		equal(t, "the tags", got, list{1, []tag{one}})
		g.do(t, 200, "DELETE", tags+"/simple/"+strings.ReplaceAll(url.PathEscape(value), ".", "%2E"), nil, nil)
		g.do(t, 404, "DELETE", tags+"/simple/"+strings.ReplaceAll(url.PathEscape(value), ".", "%2E"), nil, nil)
	}
}

// TestTagWithoutValue checks that a path without a value gets a JSON 404, not a redirect.
func TestTagWithoutValue(t *testing.T) {
	g := start(t)
	g.fails(t, 404, "NotFoundError", "DELETE", "/api/admin/features/nosuch/tags/simple", nil)
}
