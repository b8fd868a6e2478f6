package dynamo_test

import (
	"slices"
	"testing"
	"time"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// TestRequestsOfTheFirstVersions checks that a cancelled request whose row is among those of the applied ones is listed, and once after somebody
// has commented on it, which writes a row in the present place.
func TestRequestsOfTheFirstVersions(t *testing.T) {
	store := dynamotest.Open(t, nil)
	applied := &review.Request{ID: 1, ProjectUID: "u1", State: review.Applied, Entered: map[review.State]time.Time{review.InReview: at}}
	cancelled := &review.Request{ID: 2, ProjectUID: "u1", State: review.Cancelled, Entered: map[review.State]time.Time{review.InReview: at}}
	mustCommit(t, store, flags.Write{After: applied})
	mustCommit(t, store, flags.Write{After: cancelled})
	dynamo.FirstRequestRow(t, store, cancelled)
	listed := func() (comments map[int64]int, ids []int64) {
		t.Helper()
		list, err := store.Requests(t.Context(), "u1", false)
		if err != nil {
			t.Fatal(reason(err))
		}
		comments = map[int64]int{}
		for _, r := range list {
			comments[r.ID], ids = r.Comments, append(ids, r.ID)
		}
		return comments, ids
	}
	if _, ids := listed(); !slices.Equal(ids, []int64{2, 1}) {
		t.Errorf("listed are %v, want 2 and 1", ids)
	}
	before := findAt[*review.Request](t, store, cancelled.Key())
	after := before.Clone()
	after.Comments++
	mustCommit(t, store, flags.Write{Before: before, After: after})
	if comments, ids := listed(); !slices.Equal(ids, []int64{2, 1}) || comments[2] != 1 {
		t.Errorf("after a comment, listed are %v with %v comments, want 2 with one and 1", ids, comments)
	}
}
