package httpapi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/httpapi"
)

// A touchStore counts calls of Touch.
type touchStore struct {
	httpapi.Store
	calls int
	err   error
}

func (s *touchStore) Touch(context.Context, *access.TokenUse) error {
	s.calls++
	return s.err
}

// TestTokenUses stores a use once an hour, even if requests still read the use before, and not again for a minute after a
// failure.
func TestTokenUses(t *testing.T) {
	store, at := &touchStore{}, time.Now()
	uses := httpapi.NewTokenUses(store, nil)
	touch := func(hash string, after time.Duration, want int) {
		t.Helper()
		uses.Touch(t.Context(), &access.TokenUse{Hash: hash, At: at}, &access.TokenUse{Hash: hash, At: at.Add(after)})
		if store.calls != want {
			t.Errorf("%s after %v: %d calls, want %d", hash, after, store.calls, want)
		}
	}
	touch("a", 59*time.Minute, 0)
	touch("a", time.Hour, 1)
	touch("a", time.Hour+time.Minute, 1)
	touch("b", time.Hour+time.Minute, 2)
	store.err = errors.New("throttled")
	touch("a", 2*time.Hour, 3)
	touch("c", 2*time.Hour+time.Second, 3)
	touch("a", 2*time.Hour+time.Minute, 4)
}
