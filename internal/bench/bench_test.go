package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestUnexpectedStatus checks that the error has the request, the status and the body.
func TestUnexpectedStatus(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such flag", http.StatusTeapot) }))
	defer srv.Close()
	err := (&load{server: &server{url: srv.URL}}).send(t.Context(), turn("nosuch", "on"), nil)
	want := "POST " + environmentPath("nosuch") + "/on: got status 418, expected 200: no such flag\n"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestPercentile(t *testing.T) {
	var values []float64
	for ms := 100; ms > 0; ms-- {
		values = append(values, float64(ms))
	}
	for p, want := range map[int]float64{0: 1, 50: 50, 99: 99, 100: 100} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %d: got %v, expected %v", p, got, want)
		}
	}
}
