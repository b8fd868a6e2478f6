package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// interrupted is a project in which production is guarded, like that of serveReviews, with a transport that can do something between the
// decision about a change and its transaction.
func interrupted(t *testing.T) (*reviewing, *interruption) {
	t.Helper()
	i, now := &interruption{}, newClock()
	r := &reviewing{clock: now, server: serve(t, func(c *httpapi.Config, transport *http.RoundTripper) { c.Now, *transport = now.time, i })}
	r.begin(t, 1)
	return r, i
}

// ownSegment is a segment of the project for user 7, which the author can change.
func (r *reviewing) ownSegment(t *testing.T, name string) (id string) {
	t.Helper()
	got := r.do(t, "POST", allSegments, ownSegmentBody(name, `"7"`), r.author...)
	if got.status != 201 {
		t.Fatalf("segment: %d %s", got.status, got.body)
	}
	var made struct{ ID json.Number }
	decodeInto(t, got.body, &made)
	return made.ID.String()
}

func ownSegmentBody(name, users string) string {
	return `{"name":"` + name + `","project":"default","constraints":[{"contextName":"userId","operator":"IN","values":[` + users + `]}]}`
}

// TestApprovedSegments changes the content of a segment that only an approved change uses: the approval does not count any more.
func TestApprovedSegments(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	for name, prepare := range map[string]func(t *testing.T, segment string) changeRequest{
		"addStrategy": func(t *testing.T, segment string) changeRequest {
			return r.inReview(t, change("f", "addStrategy", `{"name":"default","segments":[`+segment+`]}`))
		},
		"updateStrategy": func(t *testing.T, segment string) changeRequest {
			id := idsIn(t, r.must(t, "GET", in("g", "production")+"/strategies", "").body)[0]
			return r.inReview(t, change("g", "updateStrategy", `{"id":"`+id+`","name":"default","segments":[`+segment+`]}`))
		},
		"updateEnabled": func(t *testing.T, segment string) changeRequest {
			r.create(t, "bare")
			r.as(t, r.author, "POST", inProduction+"/default-strategy", `{"name":"default","segments":[`+segment+`]}`, 200)
			return r.inReview(t, change("bare", "updateEnabled", `{"enabled":true}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			segment := r.ownSegment(t, name)
			q := r.to(t, r.first, prepare(t, segment), "Approved", 200)
			r.as(t, r.author, "PUT", allSegments+"/"+segment, ownSegmentBody("renamed-"+name, `"7"`), 204)
			if got := r.read(t, q); got.State != "Approved" {
				t.Errorf("after the segment was renamed, it is %+v", got)
			}
			r.as(t, r.author, "PUT", allSegments+"/"+segment, ownSegmentBody(name, `"7","8"`), 204)
			const says = "a segment that it uses was changed"
			if got := r.read(t, q); got.State != "In review" || !strings.Contains(got.Features[0].Conflict, says) {
				t.Errorf("it is %s with the conflict %q, want In review and %q", got.State, got.Features[0].Conflict, says)
			}
			r.to(t, r.releaser, q, "Applied", 409, says)
			q = r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
			r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
		})
	}
	dynamotest.Check(t, r.store)
}

// TestSegmentChangedMeanwhile changes a segment between the decision to apply a change that begins to use it and the transaction: the
// change is not applied with another content than the approved one.
func TestSegmentChangedMeanwhile(t *testing.T) {
	t.Parallel()
	r, i := interrupted(t)
	segment := r.ownSegment(t, "one")
	q := r.to(t, r.first, r.inReview(t, change("f", "addStrategy", `{"name":"default","segments":[`+segment+`]}`)), "Approved", 200)
	i.do = func() {
		r.as(t, r.author, "PUT", allSegments+"/"+segment, ownSegmentBody("one", `"7","8"`), 204)
	}
	r.to(t, r.releaser, q, "Applied", 409, "a segment that it uses was changed")
	if i.do != nil {
		t.Error("nothing was interrupted")
	}
	q = r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
	r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
	both := `{"action":"updateSegment","payload":{"id":%s,"name":"two","project":"default","constraints":[]}}`
	segment = r.ownSegment(t, "two")
	q = r.inReview(t, fmt.Sprintf(both, segment), change("g", "addStrategy", `{"name":"default","segments":[`+segment+`]}`))
	r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
	dynamotest.Check(t, r.store)
}

// idsIn are the ids of a list.
func idsIn(t *testing.T, list string) (ids []string) {
	t.Helper()
	var all []struct{ ID string }
	decodeInto(t, list, &all)
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return ids
}
