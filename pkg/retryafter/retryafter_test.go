package retryafter_test

import (
	"net/http"
	"testing"
	"time"

	"guidon/pkg/retryafter"
)

func TestOf(t *testing.T) {
	now := time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, " 60 ": time.Minute, "3600": time.Hour, "3601": time.Hour,
		"9223372036854775807": time.Hour, "99999999999999999999999999": time.Hour,
		"-1": 0, "+1": 0, "1.5": 0, "1s": 0, "soon": 0, "60, 120": 0, "2026-10-21T07:29:00Z": 0,
		"Wed, 21 Oct 2026 07:29:00 GMT":     time.Minute,
		"Wednesday, 21-Oct-26 07:29:00 GMT": time.Minute,
		"Wed Oct 21 07:29:00 2026":          time.Minute,
		"Wed, 21 Oct 2026 07:27:00 GMT":     0,
		"Wed, 21 Oct 2099 07:28:00 GMT":     time.Hour,
	} {
		if got := retryafter.Of(http.Header{"Retry-After": {text}}, now, time.Hour); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
