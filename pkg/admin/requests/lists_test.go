package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/review"
)

// TestListsOfLargeRequests fills the lists of a project with the largest requests of a viewer, open and cancelled: others can read the lists
// all the same, and they have all flags of each.
func TestListsOfLargeRequests(t *testing.T) {
	t.Parallel()
	r, units := countedReviews(t)
	_, header := r.Person(t, access.RoleViewer)
	viewer := []string{header}
	var changes []string
	for i := range review.MaxFlags {
		name := fmt.Sprintf("checkout-new-payment-form-%02d", i)
		r.Create(t, name)
		changes = append(changes, switchOff(name))
	}
	body := "[" + strings.TrimSuffix(strings.Repeat(strings.Join(changes, ",")+",", review.MaxChanges/review.MaxFlags), ",") + "]"
	q := r.as(t, viewer, "POST", submitted, body, 200)
	r.as(t, viewer, "PUT", pathOf(q)+"/title", `{"title":"`+strings.Repeat("😀", review.MaxTitle)+`"}`, 204)
	r.as(t, viewer, "GET", apitest.ChangeRequests+"/pending", "", 200, fmt.Sprintf(`{"id":%d,"action"`, review.MaxChanges))
	q = r.as(t, viewer, "PUT", pathOf(q)+"/state", `{"state":"In review"}`, 200)

	r.copy(t, q, review.MaxListed-1)
	r.copy(t, r.to(t, viewer, q, "Cancelled", 200), review.MaxListed-1)
	plain := append([]string{"Accept-Encoding: identity"}, r.first...)
	for path, most := range map[string]float64{apitest.ChangeRequests: 800, apitest.ChangeRequests + "/count": 800, "/api/admin/search/change-requests?state=IS:open": 550} {
		cost := units.During(func() { r.as(t, plain, "GET", path, "", 200) })
		if cost.Read > most {
			t.Errorf("GET %s reads %v units in %d calls, want at most %v", path, cost.Read, cost.Calls, most)
		}
	}
	last := fmt.Sprintf("checkout-new-payment-form-%02d", review.MaxFlags-1)
	r.as(t, r.first, "GET", apitest.ChangeRequests+"/pending/"+last, "", 200, `{"name":"`+last+`","changes":[{`)
}
