package serving

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/evaluate"
	"guidon/pkg/httpapi"
)

// TestPlainBudget floods each operation with requests that do not accept gzip, while the flags have 1 MB. The bytes that are sent are bounded.
// Short responses, 304s and compressed ones take nothing of the budget, and are sent beside the flood.
func TestPlainBudget(t *testing.T) {
	t.Parallel()
	f := newFixture()
	payload := &evaluate.Payload{Type: "string", Value: strings.Repeat("0123456789", 5000)}
	for i := range 20 {
		f.addEvaluated(evaluate.Flag{Name: fmt.Sprintf("flag-%d", i), Enabled: true, Strategies: []evaluate.Strategy{
			{Name: "default", Variants: []evaluate.Variant{{Name: "long", Weight: 1000, Payload: payload}}},
		}})
	}
	f.addEvaluated(evaluate.Flag{Name: "short", Enabled: true, Strategies: []evaluate.Strategy{{Name: "default"}}})
	const context = `{"context":{"targetingKey":"7"}}`
	for _, r := range []struct{ method, target, body, token, short string }{
		{"GET", "/api/client/features", "", "client", "?namePrefix=short"},
		{"GET", "/api/client/delta", "", "client", "?namePrefix=short"},
		{"GET", "/api/frontend?userId=7", "", "frontend", ""},
		{"POST", "/api/frontend", context, "frontend", ""},
		{"POST", "/ofrep/v1/evaluate/flags", context, "frontend", "/short"},
	} {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		config := httpapi.Config{Now: func() time.Time { return now }}
		handler := httpapi.New(nil, httpapi.Join(ClientGroup(&f.store, nil, config), FrontendGroup(&f.store, nil, config)), config)
		send := func(more string, want int, headers ...string) (string, http.Header) {
			t.Helper()
			got := call(handler, r.method, r.target+more, r.body, append(headers, "Authorization: "+r.token)...)
			if want != 0 && got.Code != want {
				t.Errorf("%s %s%s %v: %d %.300s, want %d", r.method, r.target, more, headers, got.Code, got.Body, want)
			}
			if got.Code == http.StatusTooManyRequests {
				return "", got.Header()
			}
			return got.Body.String(), got.Header()
		}
		body, header := send("", 200)
		etag, sent := header.Get("Etag"), len(body)
		beside := func() {
			t.Helper()
			send("", 304, "If-None-Match: "+etag)
			send("", 200, "Accept-Encoding: gzip")
			if r.short != "" {
				send(r.short, 200)
			}
		}
		for range 50 {
			beside()
		}
		for range 30 { // seconds, with 2 MB each
			for range 2 {
				body, _ := send("", 0)
				sent += len(body)
			}
			now = now.Add(time.Second)
		}
		if most := httpapi.PlainBurst + 30*httpapi.PlainRate; sent > most || sent < most-len(body)-httpapi.PlainRate {
			t.Errorf("%s %s: a flood got %d bytes, want at most %d and not much less", r.method, r.target, sent, most)
		}
		_, header = send("", 429)
		refused := call(handler, r.method, r.target, r.body, "Authorization: "+r.token).Body.String()
		if header.Get("Retry-After") == "" || !strings.Contains(refused, `"name":"TooManyRequestsError"`) || !strings.Contains(refused, "Accept-Encoding: gzip") {
			t.Errorf("%s %s: %v %.300s", r.method, r.target, header, refused)
		}
		beside()
		now = now.Add(time.Duration(len(body)/httpapi.PlainRate+1) * time.Second)
		send("", 200)
	}
}
