package serving

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// FuzzClient sends any query and headers: every answer is one of these, and no request is a server error.
func FuzzClient(f *testing.F) {
	w := recorded(f)
	c := w.client(w.token("t", "default"))
	c.source.set(w.state)
	f.Add("namePrefix=a&tag=simple:a&project=default&environment=x", "5.2.0", `"e:3:1f57bf55", W/"x"`, "gzip")
	f.Add("tag=%3A&tag=a%3Ab;", "v5", "*", "gzip;q=0, *")
	f.Add("%zz", "4.2.0-beta+x", `"e::"`, "")
	f.Fuzz(func(t *testing.T, query, spec, tag, accept string) {
		for _, path := range []string{"/api/client/features", "/api/client/delta", "/api/client/features/dif-sdk-on"} {
			for _, token := range []string{"t", "admin"} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.URL.RawQuery = query
				for name, value := range map[string]string{"Authorization": token, "Unleash-Client-Spec": spec, "If-None-Match": tag, "Accept-Encoding": accept} {
					r.Header.Set(name, value)
				}
				w := httptest.NewRecorder()
				c.handler.ServeHTTP(w, r)
				switch w.Code {
				case http.StatusOK, http.StatusNotModified, http.StatusBadRequest:
				default:
					t.Errorf("%s?%s: %d %s", path, query, w.Code, w.Body)
				}
			}
		}
	})
}
