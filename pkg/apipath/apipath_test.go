package apipath

import (
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for path, want := range map[string]string{
		"/":                            "/",
		"/api/client/features":         "/api/client/features",
		"/api/client/features/my-flag": "/api/client/features/{…}",
		"/api/admin/projects/shop/features/new-checkout/environments/production/on/now": "/api/admin/projects/{…}/features/{…}/environments/{…}/…",
		"/api/admin/api-tokens/*:*.secret":                                              "/api/admin/api-tokens/{…}",
		"/*:*.secret":                                                                   "/{…}",
		"/API/client":                                                                   "/{…}/client",
		"//api/":                                                                        "//api/",
		"/" + strings.Repeat("a", 9000):                                                 "/{…}",
		strings.Repeat("/a", 9000):                                                      strings.Repeat("/{…}", maxSegments) + "/…",
		"/wp-login.php":                                                                 "/{…}",
		"/a\nb/\x1b[31m":                                                                "/{…}/{…}",
	} {
		if got := Pattern(path); got != want {
			t.Errorf("%.80q: %s, want %s", path, got, want)
		}
	}
}
