package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/review"
)

// TestRequestLimits sends one change more than a limit allows, which changes nothing, and applies the largest request while every addon
// hears of it.
func TestRequestLimits(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 5)
	var switches, adding, strategies, segments []string
	for i := range review.MaxFlags + 1 {
		name := fmt.Sprint("flag-", i)
		r.OnInProduction(t, name)
		switches, adding = append(switches, switchOff(name)), append(adding, change(name, "addStrategy", `{"name":"default"}`))
	}
	large := `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["` + strings.Repeat("x", 90) + `"` + strings.Repeat(`,"`+strings.Repeat("y", 90)+`"`, 240) + `]}]}`
	for range review.MaxSize/len(large) + 1 {
		strategies = append(strategies, change("f", "addStrategy", large))
	}
	for i := range review.MaxSegments + 1 {
		id := r.ownSegment(t, fmt.Sprint("segment-", i))
		segments = append(segments, `{"action":"updateSegment","payload":`+strings.Replace(ownSegmentBody(fmt.Sprint("segment-", i), `"8"`), "{", `{"id":`+id+`,`, 1)+`}`)
	}
	send := func(changes []string, status int, want ...string) changeRequest {
		return r.as(t, r.author, "POST", submitted, "["+strings.Join(changes, ",")+"]", status, want...)
	}
	send(switches, 400, "at most 20 flags, and this one would change 21")
	send(strings.Split(strings.Repeat(switches[0]+"|", review.MaxChanges)+switches[0], "|"), 400, "at most 100")
	send(strategies, 400, "at most 256 KiB")
	send(segments, 400, "segments at most 5 times, and this one would 6 times")
	send(append(switches[:review.MaxFlags:review.MaxFlags], adding[:review.MaxFlags]...), 400, "items in one transaction, more than the limit of 70")

	for i := range 20 {
		r.Must(t, "POST", "/api/admin/addons", fmt.Sprintf(`{"provider":"webhook","description":"%d","enabled":true,"events":["change-request-applied","feature-environment-disabled"],"parameters":{"url":"https://example.com"}}`, i))
	}
	q := r.to(t, r.author, send(switches[:review.MaxFlags], 200), "In review", 200)
	q = r.to(t, r.first, q, "Approved", 200)
	q = r.to(t, r.second, q, "Approved", 200)
	for range 3 {
		_, another := r.signedIn(t, "5", "APPROVE_CHANGE_REQUEST")
		q = r.to(t, another, q, "Approved", 200)
	}
	r.to(t, r.releaser, q, "Applied", 200)
	if r.on(t, "flag-0") || r.on(t, fmt.Sprint("flag-", review.MaxFlags-1)) || !r.on(t, fmt.Sprint("flag-", review.MaxFlags)) {
		t.Error("the request was not applied as a whole")
	}
	for range review.MaxOpenOfOne {
		r.to(t, r.author, send(switches[review.MaxFlags:], 200), "In review", 200)
	}
	send(switches[review.MaxFlags:], 409, "has 50 open change requests")
}

// TestDraftsOfOne begins drafts in many environments. Only their author sees them, but they count among the open requests of the project.
func TestDraftsOfOne(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	for i := range review.MaxDraftsOfOne {
		name := fmt.Sprint("stage-", i)
		r.Must(t, "POST", apitest.Environments, `{"name":"`+name+`","type":"test"}`)
		r.Must(t, "POST", apitest.Project+"/environments", `{"environment":"`+name+`"}`)
		r.Must(t, "PUT", apitest.Project+"/environments/"+name+"/change-requests/config", `{"changeRequestsEnabled":true}`)
		r.as(t, r.author, "POST", apitest.Project+"/environments/"+name+"/change-requests", change("f", "addStrategy", `{"name":"default"}`), 200)
	}
	r.as(t, r.author, "POST", submitted, switchOff("f"), 409, "has 10 drafts of change requests", "send or discard some first")
	r.as(t, r.editor, "POST", submitted, switchOff("f"), 200)
	first := r.as(t, r.author, "POST", apitest.Project+"/environments/stage-0/change-requests", change("g", "addStrategy", `{"name":"default"}`), 200)
	r.to(t, r.author, first, "In review", 200)
	r.as(t, r.author, "POST", submitted, switchOff("f"), 200)
}
