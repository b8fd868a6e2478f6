package dynamo_test

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// allPosts are the posts of the period of the tests.
func allPosts(t *testing.T, s *dynamo.Store, q usage.PostQuery) ([]*usage.Post, time.Time) {
	t.Helper()
	q.From = at.Truncate(usage.Period)
	q.To = q.From.Add(usage.Period)
	posts, until, err := s.Posts(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return posts, until
}

func TestPosts(t *testing.T) {
	store := dynamotest.Open(t, nil)
	post := dynamo.FullPost()
	for range 2 { // the second time changes nothing
		if err := store.PutPost(t.Context(), post); err != nil {
			t.Fatal(err)
		}
	}
	outside := *post
	for _, moment := range []time.Time{at.Truncate(usage.Period).Add(-time.Millisecond), at.Truncate(usage.Period).Add(usage.Period)} {
		outside.At, outside.ID = moment, uuid.NewString()
		if err := store.PutPost(t.Context(), &outside); err != nil {
			t.Fatal(err)
		}
	}
	posts, until := allPosts(t, store, usage.PostQuery{})
	if diff := cmp.Diff([]*usage.Post{post}, posts); diff != "" || !until.Equal(at.Truncate(usage.Period).Add(usage.Period)) {
		t.Errorf("until %s, the posts (-want +got):\n%s", until, diff)
	}
	ids, err := store.PostIDs(t.Context(), at.Truncate(usage.Period))
	if err != nil || !slices.Equal(ids, []string{post.ID}) {
		t.Errorf("the IDs are %q (%v), want that of the post", ids, err)
	}
	dynamo.DamagePost(t, store, post)
	if posts, _ := allPosts(t, store, usage.PostQuery{}); len(posts) != 1 || posts[0].ID != post.ID || posts[0].Counts != nil {
		t.Errorf("a damaged post is %+v, want it without counts", posts)
	}
}

func TestPostsAreBounded(t *testing.T) {
	store := dynamotest.Open(t, nil)
	post := dynamo.FullPost()
	noise := make([]byte, 400<<10)
	_, _ = rand.Read(noise)
	post.Counts[0].Feature = hex.EncodeToString(noise)
	wantOutcome(t, store.PutPost(t.Context(), post), flags.TooLarge)
	post.ID, post.Counts = "not a UUID", nil
	if err := store.PutPost(t.Context(), post); err == nil || flags.KindOf(err) != flags.Internal {
		t.Errorf("an ID that is not a UUID: %v, want an internal error", err)
	}
}

// TestPostLimits reads posts with a limit again and again. Each must be read once.
func TestPostLimits(t *testing.T) {
	store := dynamotest.Open(t, nil)
	begin := at.Truncate(usage.Period)
	for i := range 100 {
		post := dynamo.FullPost()
		post.ID, post.At = uuid.NewString(), begin.Add(time.Duration(i)*time.Second)
		if err := store.PutPost(t.Context(), post); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []usage.PostQuery{{MaxPosts: 16}, {MaxBytes: 4000}} {
		seen, calls := map[string]bool{}, 0
		q.From, q.To = begin, begin.Add(usage.Period)
		for q.From.Before(q.To) {
			posts, until, err := store.Posts(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range posts {
				if seen[p.ID] || !p.At.Before(until) {
					t.Errorf("the post of %s is returned twice, or although it is not before %s", p.At, until)
				}
				seen[p.ID] = true
			}
			if calls++; !until.After(q.From) {
				t.Fatalf("no progress after %s", until)
			}
			q.From = until
		}
		if len(seen) != 100 || calls < 5 {
			t.Errorf("%d posts in %d calls, want 100 in at least 5", len(seen), calls)
		}
	}
}

func TestSums(t *testing.T) {
	store := dynamotest.Open(t, nil)
	hour := dynamo.FullSum()
	day := hour
	day.Unit, day.Start = usage.Day, hour.Start.Truncate(24*time.Hour)
	for _, sum := range []usage.Sum{hour, day} {
		if err := store.PutSum(t.Context(), &sum); err != nil {
			t.Fatal(err)
		}
		same := sum
		same.Counts = nil
		if err := store.PutSum(t.Context(), &same); err != nil { // has this batch already
			t.Fatal(err)
		}
		for from, want := range map[time.Time][]usage.Sum{sum.Start.Add(time.Minute): {sum}, sum.Start.Add(25 * time.Hour): {}} {
			got, err := store.Usage(t.Context(), sum.Feature, sum.Unit, from)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("the sums of each %s from %s (%v) (-want +got):\n%s", sum.Unit, from, err, diff)
			}
		}
	}
	next := hour
	next.Batch++
	next.Counts = next.Counts[:1]
	if err := store.PutSum(t.Context(), &next); err != nil {
		t.Fatal(err)
	}
	got, err := store.Sums(t.Context(), []usage.Sum{hour, {Feature: "none", Unit: usage.Day, Start: day.Start}})
	if diff := cmp.Diff([]usage.Sum{next}, got); err != nil || diff != "" {
		t.Errorf("the sum (%v) (-want +got):\n%s", err, diff)
	}
}

// TestReports stores applications without events, on condition that they are still what was read.
func TestReports(t *testing.T) {
	store := dynamotest.Open(t, nil)
	expires := time.Now().Add(time.Hour)
	for _, a := range []flags.Aggregate{dynamo.FullApplication(), dynamo.FullApplicationNames(), dynamo.FullInstances(), dynamo.FullTokenApplications()} {
		if err := store.PutReport(t.Context(), nil, a, expires); err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, store.PutReport(t.Context(), nil, a, expires), flags.VersionConflict)
		view, err := store.Load(t.Context(), []flags.Key{a.Key()})
		if err != nil || view[a.Key()] == nil || flags.VersionOf(view[a.Key()]) != 1 {
			t.Fatalf("stored %+v, loaded %+v (%v)", a, view[a.Key()], err)
		}
		if err := store.PutReport(t.Context(), view[a.Key()], a, expires); err != nil { // nothing has changed
			t.Fatal(err)
		}
	}
	key := dynamo.FullApplication().Key()
	view, err := store.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	before := flags.Find[*usage.Application](view, key)
	after := before.Clone()
	after.Strategies = nil
	if err := store.PutReport(t.Context(), before, after, expires); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, store.PutReport(t.Context(), before, after, expires), flags.VersionConflict)
	if n, err := store.CountApplications(t.Context()); n != 1 || err != nil {
		t.Errorf("there are %d applications (%v), want 1", n, err)
	}
	dynamotest.Check(t, store)
}
