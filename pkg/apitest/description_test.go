package apitest

import (
	"net/http"
	"strings"
	"testing"
)

// TestDescriptionIsStrict checks that responses that do not match the description are found.
func TestDescriptionIsStrict(t *testing.T) {
	t.Parallel()
	d, err := TheDescription()
	if err != nil {
		t.Fatal(err)
	}
	const (
		route = "POST /api/admin/environments"
		media = "application/json; charset=utf-8"
		good  = `{"name":"n","type":"t","enabled":true,"protected":false,"sortOrder":1}`
		fault = `{"id":"5e0cf0b1-6b8a-4a3e-9d2e-0c1f7a9b2d44","name":"NotFoundError","message":"m"}`
	)
	tests := []struct {
		name, route string
		status      int
		media, body string
		fits        bool
	}{
		{"a valid response", route, 201, media, good, true},
		{"another status", route, 200, media, good, false},
		{"another type", route, 201, "text/plain", good, false},
		{"invalid JSON", route, 201, media, `{`, false},
		{"no body", route, 201, media, ``, false},
		{"a missing field", route, 201, media, strings.Replace(good, `,"sortOrder":1`, ``, 1), false},
		{"an additional field", route, 201, media, strings.Replace(good, `{`, `{"more":1,`, 1), false},
		{"a field of another type", route, 201, media, strings.Replace(good, `"n"`, `1`, 1), false},
		{"null", route, 201, media, strings.Replace(good, `"n"`, `null`, 1), false},
		{"an error", route, 409, media, fault, true},
		{"a status that does not belong to the error", route, 404, media, fault, false},
		{"an unknown error name", route, 409, media, strings.Replace(fault, "NotFoundError", "Nosuch", 1), false},
		{"an error with an invalid id", route, 409, media, strings.Replace(fault, "5e0c", "", 1), false},
		{"an unknown path", "", 404, media, fault, true},
		{"an unknown path with another body", "", 404, media, good, false},
		{"no body, as described", "POST /api/admin/environments/validate", 200, "", "", true},
		{"a body where none is described", "POST /api/admin/environments/validate", 200, media, good, false},
		{"an unknown route", "POST /nosuch", 200, media, good, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := d.check(tt.route, tt.status, http.Header{"Content-Type": {tt.media}}, []byte(tt.body)); (err == nil) != tt.fits {
				t.Errorf("got %v, want a match: %t", err, tt.fits)
			}
		})
	}
}
