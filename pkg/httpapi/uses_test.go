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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// A fullStore keeps posts.
type fullStore struct {
	posts []*usage.Post
	err   error
}

func (s *fullStore) PutPost(_ context.Context, p *usage.Post) error {
	s.posts = append(s.posts, p)
	return s.err
}

// TestPostedEvaluations posts each flag that was evaluated once an hour, with the tokens, and each token that asked for all flags in a post of
// its own, also when others fail.
func TestPostedEvaluations(t *testing.T) {
	store, noon := &fullStore{}, time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	uses := httpapi.NewPostedUses(store, nil)
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	want := func(name string, want ...*usage.Post) {
		t.Helper()
		for _, p := range store.posts {
			p.ID = ""
		}
		if diff := cmp.Diff(want, store.posts, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		store.posts = nil
	}
	count := func(environment, feature string) usage.Count {
		return usage.Count{Feature: feature, Application: usage.OFREP, Environment: environment}
	}
	uses.Note(t.Context(), "a", at(0))
	uses.NoteEvaluation(t.Context(), "dev", "f", at(0))
	uses.NoteEvaluation(t.Context(), "dev", "f", at(0))
	want("the token", &usage.Post{At: at(0), Uses: map[string]time.Time{"a": at(0)}})
	uses.NoteEvaluation(t.Context(), "dev", "g", at(1))
	want("the flags", &usage.Post{At: at(1), Counts: []usage.Count{count("dev", "f"), count("dev", "g")}})
	store.err = errors.New("throttled")
	uses.NoteEvaluation(t.Context(), "prod", "f", at(2))
	uses.NoteAll(t.Context(), "a", "dev", at(2))
	store.posts, store.err = nil, nil
	uses.NoteEvaluation(t.Context(), "prod", "f", at(3))
	want("after a failure", &usage.Post{At: at(3), Counts: []usage.Count{count("prod", "f")}})
	bulk := func(hash string, minute int) *usage.Post {
		return &usage.Post{At: at(minute), TokenHash: hash, Instances: []usage.PostInstance{{Application: usage.OFREP, Environment: "dev"}}}
	}
	for _, hash := range []string{"a", "a", "b", ""} {
		uses.NoteAll(t.Context(), hash, "dev", at(3))
	}
	want("all flags", bulk("a", 3), bulk("b", 3), bulk("", 3))
	uses.NoteAll(t.Context(), "a", "dev", at(59))
	want("in the same hour")
	uses.NoteAll(t.Context(), "a", "dev", at(60))
	want("in the next hour", bulk("a", 60))
}
