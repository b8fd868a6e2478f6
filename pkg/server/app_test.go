package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestInProcess checks that a call of the engine returns its answer, and an error if there is none.
func TestInProcess(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		want error
	}{{"an answer", t.Context(), nil}, {"no answer", t.Context(), io.ErrUnexpectedEOF}, {"no answer in time", ended, context.Canceled}} {
		p := inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if tt.want != nil {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("X-Got", r.Header.Get("X-Amz-Target"))
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.Copy(w, r.Body)
		})}
		r, err := http.NewRequestWithContext(tt.ctx, http.MethodPost, "http://engine.test", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "GetItem")
		response, err := p.RoundTrip(r)
		if !errors.Is(err, tt.want) || (response == nil) != (tt.want != nil) {
			t.Errorf("%s: %v, %v; want the error %v", tt.name, response, err, tt.want)
		}
		if response == nil {
			continue
		}
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != "{}" || response.StatusCode != http.StatusBadRequest || response.Header.Get("X-Got") != "GetItem" {
			t.Errorf("%s: %d %q, %v", tt.name, response.StatusCode, body, err)
		}
		response.Body.Close()
	}
}
