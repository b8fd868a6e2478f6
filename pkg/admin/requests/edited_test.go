package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/review"
)

// TestEditsOfOneRequest has a viewer write a large request again and again with small requests. What all edits write is bounded, and the request
// can be closed all the same.
func TestEditsOfOneRequest(t *testing.T) {
	t.Parallel()
	r, units := countedReviews(t)
	_, header := r.Person(t, access.RoleViewer)
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
	written, edits := 0.0, 2
	for ; ; edits++ {
		if edits > 100 {
			t.Fatalf("%d edits have written %v units, and the next one is possible, too", edits, written)
		}
		title := fmt.Sprint(edits)
		got := 0
		written += units.During(func() { got = r.Do(t, "PUT", pathOf(q)+"/title", `{"title":"`+title+`"}`, viewer...).Status }).Write
		if got != 204 {
			break
		}
	}
	if most := float64(review.MaxEdited>>10) * 2 * 1.1; written > most {
		t.Errorf("the titles have written %v units, want at most %v", written, most)
	}
	if refused := rename("more", 409, "edited too often for its size", "16 MiB", "send it to review or discard it").Write; refused != 0 {
		t.Errorf("what is refused writes %v units, want none", refused)
	}
	r.to(t, viewer, r.as(t, viewer, "GET", pathOf(q), "", 200), "In review", 200)
	rename("more", 409, "have it applied or cancel it")
	q = r.as(t, viewer, "GET", pathOf(q), "", 200)
	one := fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[1].Changes[0].ID)
	r.as(t, viewer, "DELETE", one, "", 409, "edited too often")
	r.as(t, viewer, "PUT", one, switchOff("g"), 409, "edited too often")
	r.as(t, viewer, "PUT", pathOf(q)+"/approvers", fmt.Sprintf(`{"reviewers":[%d]}`, r.firstID), 409, "edited too often")
	q = r.to(t, r.first, q, "Approved", 200)
	r.as(t, r.releaser, "PUT", pathOf(q)+"/state", `{"state":"Scheduled","scheduledAt":"2026-01-05T18:00:00Z"}`, 409, "edited too often")
	r.to(t, viewer, q, "Cancelled", 200)
}
