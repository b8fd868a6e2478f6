// Package retryafter reads the header with which a busy server asks its clients to wait.
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Of returns the wait that the header Retry-After asks for, at most longest: a number of seconds, or the time until an HTTP date. It
// returns 0 if there is no header or it is neither.
func Of(header http.Header, now time.Time, longest time.Duration) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	seconds, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && float64(seconds) > longest.Seconds():
		return longest
	case err == nil:
		return time.Duration(seconds) * time.Second //nolint:gosec // G115: at most longest
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}
