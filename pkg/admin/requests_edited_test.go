package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// TestEditsOfOneRequest has a viewer write a large request again and again with small requests. What all edits write is bounded, and the request
// can be closed all the same.
func TestEditsOfOneRequest(t *testing.T) {
	t.Parallel()
	r, units := countedReviews(t)
	_, header := r.person(t, access.RoleViewer)
	viewer := []string{header}
	values := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 90)+`",`, 250), ",")
	large := change("f", "addStrategy", `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":[`+values+`]}]}`)
	list := "[" + strings.Repeat(large+",", 9) + switchOff("g") + "]"
	q := r.as(t, viewer, "POST", submitted, list, 200)
	rename := func(title string, status int, want ...string) capacity.Cost {
		t.Helper()
		return units.During(func() {
			r.as(t, viewer, "PUT", pathOf(q)+"/title", fmt.Sprintf(`{"title":%q}`, title), status, want...)
		})
	}
	once := rename("0", 204).Write
	if once < 400 {
		t.Fatalf("a title of a large request writes %v units, want at least 400: else this test shows nothing", once)
	}
	if again := rename("0", 204).Write; again != 0 {
		t.Errorf("the same title writes %v units, want none", again)
	}
	r.to(t, viewer, r.as(t, viewer, "GET", pathOf(q), "", 200), "In review", 200)
	written, edits := 0.0, 2
	for ; ; edits++ {
		if edits > 100 {
			t.Fatalf("%d edits have written %v units, and the next one is possible, too", edits, written)
		}
		title := fmt.Sprint(edits)
		got := 0
		written += units.During(func() { got = r.do(t, "PUT", pathOf(q)+"/title", `{"title":"`+title+`"}`, viewer...).status }).Write
		if got != 204 {
			break
		}
	}
	if most := float64(review.MaxEdited>>10) * 2 * 1.1; written > most {
		t.Errorf("the titles have written %v units, want at most %v", written, most)
	}
	if refused := rename("more", 409, "edited too often for its size", "16 MiB", "have it applied or cancel it").Write; refused != 0 {
		t.Errorf("what is refused writes %v units, want none", refused)
	}
	q = r.as(t, viewer, "GET", pathOf(q), "", 200)
	one := fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[1].Changes[0].ID)
	r.as(t, viewer, "DELETE", one, "", 409, "edited too often")
	r.as(t, viewer, "PUT", one, switchOff("g"), 409, "edited too often")
	r.as(t, viewer, "PUT", pathOf(q)+"/approvers", fmt.Sprintf(`{"reviewers":[%d]}`, r.firstID), 409, "edited too often")
	q = r.to(t, r.first, q, "Approved", 200)
	r.as(t, r.releaser, "PUT", pathOf(q)+"/state", `{"state":"Scheduled","scheduledAt":"2026-01-05T18:00:00Z"}`, 409, "edited too often")
	r.to(t, viewer, q, "Cancelled", 200)
}

// TestDroppedRequests discards and cancels requests that were edited, one after the other: on a day, what their edits wrote is limited for each
// person. The counts of two requests are set to the limits, because it takes 60,000 write units to reach them.
func TestDroppedRequests(t *testing.T) {
	t.Parallel()
	r, units := countedReviews(t)
	_, header := r.person(t, access.RoleViewer)
	viewer := []string{header}
	edited := func(n int) changeRequest {
		t.Helper()
		q := r.as(t, viewer, "POST", submitted, switchOff("f"), 200)
		view, err := r.store.Load(t.Context(), []flags.Key{review.RequestKey(q.ID)})
		if err != nil {
			t.Fatal(err)
		}
		before := flags.Find[*review.Request](view, review.RequestKey(q.ID))
		after := before.Clone()
		after.Edited = n
		event := flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.RequestTitled, CreatedAt: time.Now()}
		if err := r.store.Commit(t.Context(), flags.Change{Writes: []flags.Write{{Before: before, After: after}}, Event: event}); err != nil {
			t.Fatal(err)
		}
		return q
	}
	q := edited(review.MaxEdited)
	r.as(t, viewer, "PUT", pathOf(q)+"/title", `{"title":"more"}`, 409, "send it to review or discard it")
	r.as(t, viewer, "DELETE", pathOf(q), "", 200)
	for range review.MaxDropped<<10/review.MaxEdited - 1 {
		q = r.to(t, viewer, edited(review.MaxEdited), "In review", 200)
		r.to(t, viewer, q, "Cancelled", 200)
	}
	refused := units.During(func() {
		r.as(t, viewer, "POST", submitted, switchOff("f"), 409, "today have written 64 MiB", "tomorrow")
	}).Write
	if refused != 0 {
		t.Errorf("what is refused writes %v units, want none", refused)
	}
	r.as(t, r.author, "POST", submitted, switchOff("f"), 200)
	dynamotest.Check(t, r.store)
	r.clock.advance(24 * time.Hour)
	r.as(t, viewer, "POST", submitted, switchOff("f"), 200)
}
