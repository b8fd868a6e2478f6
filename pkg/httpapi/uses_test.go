package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
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

// A postStore keeps the uses of each post: "a12:00", by token.
type postStore struct {
	posts []string
	err   error
}

func (s *postStore) PutPost(_ context.Context, p *usage.Post) error {
	var uses []string
	for _, hash := range slices.Sorted(maps.Keys(p.Uses)) {
		uses = append(uses, hash+p.Uses[hash].Format("15:04"))
	}
	s.posts = append(s.posts, strings.Join(uses, " "))
	return s.err
}

// TestPostedUses posts the first use at once and the others a minute later, each token once in an hour, and again what could not
// be posted.
func TestPostedUses(t *testing.T) {
	store, noon := &postStore{}, time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	uses := httpapi.NewPostedUses(store, nil)
	note := func(hash string, minute int, want string) {
		t.Helper()
		store.posts = nil
		uses.Note(t.Context(), hash, noon.Add(time.Duration(minute)*time.Minute))
		if got := strings.Join(store.posts, ", "); got != want {
			t.Errorf("%s at minute %d: posted %q, want %q", hash, minute, got, want)
		}
	}
	note("a", 10, "a12:10")
	note("a", 10, "")
	note("b", 10, "")
	note("c", 10, "")
	note("a", 11, "b12:10 c12:10")
	note("a", 30, "")
	note("d", 59, "d12:59")
	note("a", 60, "a13:00")
	store.err = errors.New("throttled")
	note("b", 62, "b13:02")
	note("c", 62, "")
	store.err = nil
	note("b", 63, "b13:02 c13:02")
	note("b", 64, "")

	many := httpapi.NewPostedUses(store, nil)
	store.posts = nil
	for i := range 20_000 {
		many.Note(t.Context(), fmt.Sprint(i), noon)
	}
	many.Note(t.Context(), "0", noon.Add(time.Minute))
	many.Note(t.Context(), "19999", noon.Add(2*time.Minute)) // did not fit in the second post
	if len(store.posts) != 3 || strings.Count(store.posts[1], " ") != 3_999 || store.posts[2] != "1999912:02" {
		t.Errorf("%d posts of 20,000 tokens; the last one has %q", len(store.posts), store.posts[len(store.posts)-1])
	}
}
