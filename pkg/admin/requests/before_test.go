package requests_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/apitest"
	"guidon/pkg/review"
)

// TestAppliedRequestKeepsWhatItReplaced checks that a request that was applied shows what each of its changes replaced, also after that was
// changed again, and after the response of the store was lost.
func TestAppliedRequestKeepsWhatItReplaced(t *testing.T) {
	t.Parallel()
	lose := false
	r := interruptedBy(t, roundTrip(func(call *http.Request, body string) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(call)
		if lose && strings.Contains(body, "change-request-applied") && err == nil {
			lose = false
			_ = response.Body.Close()
			return nil, io.ErrUnexpectedEOF
		}
		return response, err
	}))
	id := idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body)[0]
	segment := r.ownSegment(t, "s")
	rollout := func(percent string) string {
		return change("f", "updateStrategy", `{"id":"`+id+`","name":"flexibleRollout","parameters":{"rollout":"`+percent+`"}}`)
	}
	r.to(t, r.releaser, r.approved(t, rollout("25")), "Applied", 200)
	q := r.approved(t, rollout("50"), rollout("60"), change("f", "addStrategy", `{"name":"default"}`), switchOff("f"), change("g", "patchVariant", `{"variants":[{"name":"a","weight":1000}]}`),
		`{"action":"updateSegment","payload":`+strings.Replace(ownSegmentBody("t", `"8"`), "{", `{"id":`+segment+",", 1)+`}`)
	lose = true
	r.to(t, r.releaser, q, "Applied", 200, `"before"`)
	if lose {
		t.Fatal("no response was lost")
	}
	r.as(t, r.author, "POST", pathOf(q)+"/comments", `{"text":"Done."}`, 204)
	r.to(t, r.releaser, r.approved(t, rollout("75")), "Applied", 200)
	const view = `{"...":0,"state":"Applied","features":[
		{"name":"f","changes":[
			{"...":0,"action":"updateStrategy","before":{"...":0,"id":"<id>","parameters":{"...":0,"rollout":"25"}},"payload":{"...":0,"parameters":{"...":0,"rollout":"50"}}},
			{"action":"updateStrategy","payload":{"...":0,"parameters":{"...":0,"rollout":"60"}},"createdBy":{"...":0},"id":2,"createdAt":"<time>"},
			{"action":"addStrategy","payload":{"...":0},"createdBy":{"...":0},"id":3,"createdAt":"<time>"},
			{"...":0,"action":"updateEnabled","before":{"enabled":true}}]},
		{"name":"g","changes":[{"...":0,"action":"patchVariant","before":{"variants":[]}}]}],
		"segments":[{"...":0,"before":{"...":0,"name":"s","constraints":[{"...":0,"values":["7"]}]}}]}`
	want := strings.ReplaceAll(view, "<id>", id)
	r.Run(t, []apitest.Call{
		{"the request", "GET", pathOf(q), "", 200, want},
		{"the evidence", "GET", pathOf(q) + "/evidence", "", 200, `{"...":0,"changeRequest":` + want + `}`},
	})
	if got := r.Do(t, "GET", apitest.ChangeRequests, "").Body; strings.Contains(got, `"before"`) {
		t.Errorf("the list shows what was replaced: %s", got)
	}
}

// TestClosedRequestKeepsWhatItWouldReplace checks that a request that was cancelled or rejected shows what it would have changed, also after that
// was changed.
func TestClosedRequestKeepsWhatItWouldReplace(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	cancelled, rejected := r.approved(t, switchOff("f")), r.approved(t, switchOff("f"))
	r.to(t, r.author, cancelled, "Cancelled", 200)
	r.to(t, r.first, rejected, "Rejected", 200)
	r.to(t, r.releaser, r.approved(t, switchOff("f")), "Applied", 200)
	for _, q := range []changeRequest{cancelled, rejected} {
		r.Check(t, apitest.Call{"closed", "GET", pathOf(q), "", 200, `{"...":0,"features":[{"name":"f","changes":[{"...":0,"before":{"enabled":true}}]}]}`})
	}
}

// TestScheduledRequestKeepsWhatItReplaced checks that a scheduled request keeps what was there when it was applied.
func TestScheduledRequestKeepsWhatItReplaced(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.approved(t, switchOff("f"))
	r.schedule(t, r.releaser, q, time.Hour, 200)
	r.clock.Advance(time.Hour)
	r.runs(t)
	r.Check(t, apitest.Call{"applied", "GET", pathOf(q), "", 200, `{"...":0,"state":"Applied","features":[{"name":"f","changes":[{"...":0,"before":{"enabled":true}}]}]}`})
}

// TestReplacedValuesAreBounded checks that values without room are null, that the others are kept, and that a large request keeps fewer.
func TestReplacedValuesAreBounded(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	large := `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["x"` + strings.Repeat(`,"`+strings.Repeat("y", 90)+`"`, 240) + `]}]}` // 22 KiB
	for range 4 {
		r.Must(t, "POST", apitest.In("f", "production")+"/strategies", large)
	}
	var changes []string
	for _, id := range idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body)[1:] {
		changes = append(changes, change("f", "deleteStrategy", `{"id":"`+id+`"}`))
	}
	q := r.approved(t, append(changes, switchOff("f"))...)
	r.to(t, r.releaser, q, "Applied", 200)
	const kept = `{"...":0,"before":{"...":0,"name":"default"}}`
	r.Check(t, apitest.Call{"it", "GET", pathOf(q), "", 200, `{"...":0,"features":[{"name":"f","changes":[` + kept + "," + kept + `,{"...":0,"before":null},{"...":0,"before":null},{"...":0,"before":{"enabled":true}}]}]}`})

	applied := review.Request{Changes: []review.Change{{Before: jsontext.Value(`{"enabled":true}`)}}}
	if row := applied.Listed(); row.Changes[0].Before != nil {
		t.Errorf("lists are stored with %s", row.Changes[0].Before)
	}
	for size, want := range map[int]int{200 << 10: review.MaxBefore, review.MaxStored - 10<<10: 10 << 10} {
		request := review.Request{Changes: []review.Change{{Payload: jsontext.Value(`"` + strings.Repeat("x", size) + `"`)}}}
		if got := request.RoomForBefore(); got > want || got < want-1<<10 {
			t.Errorf("a request of %d bytes has room for %d, want %d less what the rest of it takes", size, got, want)
		}
	}
}
