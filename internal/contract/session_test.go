//go:build contract

package contract

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"guidon/internal/adminapi"
)

// signInAndOut uses the operations that need an unused link or a session, which Schemathesis does not have: it signs in as the
// first administrator and out, in both ways.
func signInAndOut(t *testing.T, server *adminapi.Client, url string) {
	for _, path := range []string{"/auth/sign-out", "/auth/sign-out-everywhere"} {
		var link struct{ URL string }
		must(t, server.CallOnce(t.Context(), http.MethodPost, "/api/admin/user-admin/1/sign-in-link", nil, &link))
		_, secret, _ := strings.Cut(link.URL, "#link=")
		post(t, url+path, nil, post(t, url+"/auth/link", map[string]string{"secret": secret}, nil))
	}
}

// post sends a request as the console does, and returns the cookies that the response sets.
func post(t *testing.T, address string, body any, cookies []*http.Cookie) []*http.Cookie {
	var content bytes.Buffer
	if body != nil {
		must(t, json.NewEncoder(&content).Encode(body))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, &content)
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Guidon-Console", "1")
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("POST %s: %s, expected a 204", address, response.Status)
	}
	return response.Cookies()
}
