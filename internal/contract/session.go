package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"guidon/internal/adminapi"
)

// signInAndOut uses the operations that need an unused link or a session, which Schemathesis does not have: it signs in as the
// first administrator and out, in both ways.
func signInAndOut(ctx context.Context, server *adminapi.Client, url string) error {
	for _, path := range []string{"/auth/sign-out", "/auth/sign-out-everywhere"} {
		var link struct{ URL string }
		if err := server.CallOnce(ctx, http.MethodPost, "/api/admin/user-admin/1/sign-in-link", nil, &link); err != nil {
			return err
		}
		_, secret, _ := strings.Cut(link.URL, "#link=")
		session, err := post(ctx, url+"/auth/link", map[string]string{"secret": secret}, nil)
		if err != nil {
			return err
		}
		if _, err := post(ctx, url+path, nil, session); err != nil {
			return err
		}
	}
	return nil
}

// post sends a request as the console does, and returns the cookies that the response sets.
func post(ctx context.Context, address string, body any, cookies []*http.Cookie) ([]*http.Cookie, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, &content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Guidon-Console", "1")
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return nil, fmt.Errorf("POST %s: %s, expected a 204", address, response.Status)
	}
	return response.Cookies(), nil
}
