package requests_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// interruptedBy is a project in which production is guarded, like that of serveReviews, with a transport to the store.
func interruptedBy(t *testing.T, by http.RoundTripper) *reviewing {
	t.Helper()
	now := apitest.NewClock()
	r := &reviewing{clock: now, Server: apitest.Serve(t, func(c *httpapi.Config, transport *http.RoundTripper) { c.Now, *transport = now.Time, by })}
	r.begin(t, 1)
	return r
}

// A roundTrip is a transport. It gets each call with its body, which the call still has.
type roundTrip func(call *http.Request, body string) (*http.Response, error)

func (f roundTrip) RoundTrip(call *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(call.Body)
	if err != nil {
		return nil, err
	}
	call.Body = io.NopCloser(bytes.NewReader(body))
	return f(call, string(body))
}

// ownSegment is a segment of the project for user 7, which the author can change.
func (r *reviewing) ownSegment(t *testing.T, name string) (id string) {
	t.Helper()
	got := r.Do(t, "POST", apitest.Segments, ownSegmentBody(name, `"7"`), r.author...)
	if got.Status != 201 {
		t.Fatalf("segment: %d %s", got.Status, got.Body)
	}
	made := apitest.Decode[struct{ ID json.Number }](t, got.Body)
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
			id := idsIn(t, r.Must(t, "GET", apitest.In("g", "production")+"/strategies", "").Body)[0]
			return r.inReview(t, change("g", "updateStrategy", `{"id":"`+id+`","name":"default","segments":[`+segment+`]}`))
		},
		"updateEnabled": func(t *testing.T, segment string) changeRequest {
			r.Create(t, "bare")
			r.as(t, r.author, "POST", apitest.InProduction+"/default-strategy", `{"name":"default","segments":[`+segment+`]}`, 200)
			return r.inReview(t, change("bare", "updateEnabled", `{"enabled":true}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			segment := r.ownSegment(t, name)
			q := r.to(t, r.first, prepare(t, segment), "Approved", 200)
			r.as(t, r.author, "PUT", apitest.Segments+"/"+segment, ownSegmentBody("renamed-"+name, `"7"`), 204)
			if got := r.read(t, q); got.State != "In review" {
				t.Errorf("after the segment was renamed, it is %+v", got)
			}
			r.as(t, r.author, "PUT", apitest.Segments+"/"+segment, ownSegmentBody(name, `"7"`), 204)
			if got := r.read(t, q); got.State != "Approved" {
				t.Errorf("after the segment has its name again, it is %+v", got)
			}
			r.as(t, r.author, "PUT", apitest.Segments+"/"+segment, ownSegmentBody(name, `"7","8"`), 204)
			const says = "a segment that it uses was changed"
			if got := r.read(t, q); got.State != "In review" || !strings.Contains(got.Features[0].Conflict, says) {
				t.Errorf("it is %s with the conflict %q, want In review and %q", got.State, got.Features[0].Conflict, says)
			}
			r.to(t, r.releaser, q, "Applied", 409, says)
			q = r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
			r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
		})
	}
}

// TestSegmentChangedMeanwhile changes a segment between the decision to apply a change that begins to use it and the transaction: the
// change is not applied with another content than the approved one.
func TestSegmentChangedMeanwhile(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	r := interruptedBy(t, i)
	segment := r.ownSegment(t, "one")
	q := r.to(t, r.first, r.inReview(t, change("f", "addStrategy", `{"name":"default","segments":[`+segment+`]}`)), "Approved", 200)
	i.Do = func() {
		r.as(t, r.author, "PUT", apitest.Segments+"/"+segment, ownSegmentBody("one", `"7","8"`), 204)
	}
	r.to(t, r.releaser, q, "Applied", 409, "a segment that it uses was changed")
	if i.Do != nil {
		t.Error("nothing was interrupted")
	}
	q = r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
	r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
	both := `{"action":"updateSegment","payload":{"id":%s,"name":"two","project":"default","constraints":[]}}`
	segment = r.ownSegment(t, "two")
	q = r.inReview(t, fmt.Sprintf(both, segment), change("g", "addStrategy", `{"name":"default","segments":[`+segment+`]}`))
	r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
}

// TestStandingChangedMeanwhile takes from a request what it needs to be applied, between the decision to apply it and the transaction.
func TestStandingChangedMeanwhile(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	r := interruptedBy(t, i)
	applied := 0
	for name, prepare := range map[string]func(t *testing.T, approver int64, role string) (done func()){
		"more approvals are needed": func(t *testing.T, _ int64, _ string) func() {
			return func() { r.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":2}`) }
		},
		"more approvals are needed everywhere": func(t *testing.T, _ int64, _ string) func() {
			return func() {
				r.Must(t, "PUT", "/api/admin/environments/update/production", `{"requiredApprovals":2}`)
			}
		},
		"the approver is deleted": func(t *testing.T, approver int64, _ string) func() {
			return func() { r.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, approver), "") }
		},
		"the approver, an administrator, is deleted": func(t *testing.T, approver int64, role string) func() {
			r.Must(t, "DELETE", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, approver, role), "")
			r.Must(t, "PUT", fmt.Sprintf("%s/%d", apitest.Users, approver), fmt.Sprintf(`{"rootRole":%d}`, access.RoleAdmin))
			return func() { r.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, approver), "") }
		},
		"the approver is no administrator any more": func(t *testing.T, approver int64, role string) func() {
			r.Must(t, "DELETE", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, approver, role), "")
			r.Must(t, "PUT", fmt.Sprintf("%s/%d", apitest.Users, approver), fmt.Sprintf(`{"rootRole":%d}`, access.RoleAdmin))
			return func() { r.Must(t, "PUT", fmt.Sprintf("%s/%d", apitest.Users, approver), `{"rootRole":3}`) }
		},
		"the approver loses the role": func(t *testing.T, approver int64, role string) func() {
			return func() { r.Must(t, "DELETE", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, approver, role), "") }
		},
		"the role loses the permission": func(t *testing.T, _ int64, role string) func() {
			return func() {
				r.Must(t, "PUT", "/api/admin/roles/"+role, `{"name":"empty `+role+`","type":"custom","permissions":[]}`)
			}
		},
		"": func(*testing.T, int64, string) func() { return func() {} },
	} {
		r.Must(t, "PUT", "/api/admin/environments/update/production", `{"requiredApprovals":null}`)
		r.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":1}`)
		approver, headers := r.signedIn(t, "5", "")
		role := r.RoleOf(t, "custom", "APPROVE_CHANGE_REQUEST")
		r.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, approver, role), "")
		interrupt := prepare(t, approver, role)
		q := r.to(t, headers, r.inReview(t, change("f", "addStrategy", `{"name":"default"}`)), "Approved", 200)
		if q.State != "Approved" {
			t.Fatalf("%s: it is %+v", name, q)
		}
		i.Do = interrupt
		if name == "" {
			r.to(t, r.releaser, q, "Applied", 200)
			applied++
			continue
		}
		if got := r.Do(t, "PUT", pathOf(q)+"/state", `{"state":"Applied"}`, r.releaser...); got.Status != 409 || !strings.Contains(got.Body, "approvals that it needs") {
			t.Errorf("%s: applying is %d %s, want 409", name, got.Status, got.Body)
		}
		if i.Do != nil {
			t.Errorf("%s: nothing was interrupted", name)
		}
		r.Do(t, "PUT", pathOf(q)+"/state", `{"state":"Cancelled"}`)
	}
	if n := len(idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body)); n != 1+applied {
		t.Errorf("%d strategies, want the first and %d that were applied", n, applied)
	}
}

// idsIn are the ids of a list.
func idsIn(t *testing.T, list string) (ids []string) {
	t.Helper()
	all := apitest.Decode[[]struct{ ID string }](t, list)
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return ids
}

// TestUntriedChanges removes a change while another one has a conflict, so that the others are not tried: they can neither be approved nor
// applied until they are, because they may do something else then. Here, switching on adds a default strategy.
func TestUntriedChanges(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	r.Create(t, "bare")
	segment := r.ownSegment(t, "one")
	q := r.inReview(t, change("bare", "addStrategy", `{"name":"userWithId","parameters":{"userIds":"7"}}`), change("bare", "updateEnabled", `{"enabled":true}`),
		`{"action":"updateSegment","payload":`+strings.Replace(ownSegmentBody("one", `"8"`), "{", `{"id":`+segment+",", 1)+`}`)
	r.as(t, r.author, "PUT", apitest.Segments+"/"+segment, ownSegmentBody("one", `"9"`), 204)
	r.as(t, r.author, "DELETE", pathOf(q)+"/changes/1", "", 200)
	r.as(t, r.author, "PUT", apitest.Segments+"/"+segment, ownSegmentBody("one", `"7"`), 204)
	r.as(t, r.author, "PUT", pathOf(q)+"/title", `{"title":"Harmless"}`, 204)
	const says = "not tried"
	if q = r.read(t, q); !strings.Contains(q.Features[0].Conflict, says) || !strings.Contains(q.Segments[0].Conflict, says) {
		t.Errorf("it is %+v, want the conflict %q", q, says)
	}
	r.to(t, r.first, q, "Approved", 409, says)
	r.as(t, r.author, "PUT", pathOf(q)+"/changes/2", switchOff("f"), 409, says)
	r.as(t, r.author, "POST", apitest.InProduction+"/default-strategy", `{"name":"default"}`, 200)
	q = r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
	if q.Features[0].Conflict != "" || q.Features[0].DefaultChange == nil {
		t.Errorf("re-based, it is %+v, want a default strategy and no conflict", q)
	}
	r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
}

// TestApprovedOrder changes a sort number, but not the order, after a change of the order was approved: it would lead to another order. Only
// those who skip change requests can.
func TestApprovedOrder(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	list := apitest.In("f", "production") + "/strategies"
	for _, at := range []string{"1", "2"} {
		r.Must(t, "POST", list, `{"name":"default","sortOrder":`+at+`,"variants":[{"name":"a`+at+`","weight":1000,"weightType":"variable","stickiness":"default"}]}`)
	}
	ids := idsIn(t, r.Must(t, "GET", list, "").Body)
	place := func(i int, at string) string { return `[{"id":"` + ids[i] + `","sortOrder":` + at + `}]` }
	r.Must(t, "POST", list+"/set-sort-order", place(0, "0"))
	q := r.to(t, r.first, r.inReview(t, change("f", "reorderStrategy", place(0, "1.5"))), "Approved", 200)
	r.as(t, r.author, "POST", list+"/set-sort-order", place(2, "1.2"), 403, "SKIP_CHANGE_REQUEST")
	if got := r.read(t, q); got.State != "Approved" {
		t.Errorf("the approval ended: %+v", got)
	}
	r.Must(t, "POST", list+"/set-sort-order", place(2, "1.2"))
	r.to(t, r.releaser, q, "Applied", 409, "its strategies were changed")
}

// TestStrategiesInDisguise sends strategies that would come elsewhere than those who approve see, or that name another strategy or flag.
func TestStrategiesInDisguise(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	list := apitest.In("f", "production") + "/strategies"
	r.Must(t, "POST", list, `{"name":"default","sortOrder":5}`)
	second := apitest.IDIn(r.Must(t, "POST", list, `{"name":"default","sortOrder":7}`).Body)
	for _, tt := range []struct{ action, members, says string }{
		{"addStrategy", `"sortOrder":6`, "reorderStrategy"},
		{"updateStrategy", `"id":"` + second + `","sortOrder":8`, "reorderStrategy"},
		{"updateStrategy", `"id":"` + second + `","sortOrder":-1`, "reorderStrategy"},
		{"updateStrategy", `"id":"` + second + `","featureName":"g"`, "featureName is not"},
		{"addStrategy", `"featureName":"g"`, "featureName is not"},
		{"addStrategy", `"id":"` + second + `"`, "updateStrategy"},
		{"addStrategy", `"id":"\u00` + fmt.Sprintf("%x", second[0]) + second[1:] + `"`, "updateStrategy"},
	} {
		r.as(t, r.author, "POST", submitted, change("f", tt.action, `{"name":"default",`+tt.members+`}`), 400, tt.says)
	}
	r.as(t, r.author, "POST", submitted, "["+change("f", "updateStrategy", `{"name":"default","id":"`+second+`","featureName":"f","sortOrder":7}`)+","+
		change("f", "addStrategy", `{"name":"default","featureName":"f","sortOrder":7}`)+"]", 200)
}

// TestDraftClosedMeanwhile adds a change while the draft is discarded: the change is in another draft.
func TestDraftClosedMeanwhile(t *testing.T) {
	t.Parallel()
	var discard func()
	r := interruptedBy(t, roundTrip(func(call *http.Request, body string) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(call)
		if do := discard; do != nil && strings.Contains(body, "REQUEST#OPEN") {
			discard = nil
			do()
		}
		return response, err
	}))
	q := r.as(t, r.author, "POST", submitted, switchOff("f"), 200)
	discard = func() { r.as(t, r.author, "DELETE", pathOf(q), "", 200) }
	got := r.as(t, r.author, "POST", submitted, switchOff("g"), 200)
	if discard != nil || got.ID == q.ID || got.State != "Draft" {
		t.Errorf("the change was added to %+v", got)
	}
}

// TestRevisionOfStates sends the revision of an older state with each change of the state.
func TestRevisionOfStates(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	old := r.as(t, r.author, "POST", submitted, switchOff("f"), 200)
	q := r.as(t, r.author, "POST", submitted, switchOff("g"), 200)
	r.to(t, r.author, old, "In review", 412, "its new revision")
	r.as(t, append(slices.Clone(r.author), "If-Match: "+q.Revision), "PUT", pathOf(q)+"/state", `{"state":"In review"}`, 400, "in double quotes")
	r.to(t, r.author, q, "In review", 200)
	r.to(t, r.first, old, "Approved", 412)
	r.to(t, r.first, q, "Approved", 200)
	r.to(t, r.releaser, old, "Applied", 412)
	r.to(t, r.first, old, "Rejected", 412)
	r.to(t, r.author, old, "Cancelled", 412)
	r.to(t, r.releaser, q, "Applied", 200)
	r.to(t, r.releaser, q, "Applied", 200)
}

// TestRenamedAfterApproval changes the title of a request that was seen: what was approved never reads differently from what is applied.
func TestRenamedAfterApproval(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	rename := func(who []string, q changeRequest, title string, status int) changeRequest {
		t.Helper()
		r.as(t, who, "PUT", pathOf(q)+"/title", fmt.Sprintf(`{"title":%q}`, title), status)
		return r.read(t, q)
	}
	seen := rename(r.author, r.inReview(t, switchOff("f")), "Fix a typo", 204)
	approved := r.to(t, r.first, seen, "Approved", 200)
	if got := rename(r.author, approved, "Fix a typo", 204); got.State != "Approved" || got.Revision != approved.Revision {
		t.Errorf("after it got the title that it has, it is %+v", got)
	}
	renamed := rename(r.author, approved, "Switch the shop off", 204)
	if renamed.State != "In review" || len(renamed.Approvals) != 0 {
		t.Errorf("after it got another title, it is %+v", renamed)
	}
	r.to(t, r.releaser, renamed, "Applied", 409, "0 of the 1 approvals")
	r.to(t, r.second, seen, "Approved", 412, "its new revision")
	r.as(t, r.second, "PUT", pathOf(seen)+"/state", `{"state":"Approved"}`, 409, "less than a minute ago")

	admin := administrator(t, r.Server)
	renamed = rename(admin, renamed, "By an administrator", 204)
	r.to(t, admin, renamed, "Approved", 403, "someone else must")
	r.schedule(t, r.releaser, r.to(t, r.first, renamed, "Approved", 200), time.Hour, 200)
	rename(r.author, renamed, "Later", 409)
}

// TestAppliedInParallel applies a request several times at once: each time it is applied, and its changes are made once.
func TestAppliedInParallel(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	for range 5 {
		before := len(idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body))
		q := r.to(t, r.first, r.inReview(t, change("f", "addStrategy", `{"name":"default"}`)), "Approved", 200)
		var running sync.WaitGroup
		for range 8 {
			running.Go(func() {
				if got, err := r.Try("PUT", pathOf(q)+"/state", `{"state":"Applied"}`, r.releaser...); err != nil || got.Status != 200 {
					t.Errorf("%v, %d %s", err, got.Status, got.Body)
				}
			})
		}
		running.Wait()
		if n := len(idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body)); n != before+1 {
			t.Errorf("%d strategies, want %d", n, before+1)
		}
	}
}

// TestUnknownMembers refuses payloads with members that nothing reads, because those who approve would see them. What a read returns can be
// sent back.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.ownSegment(t, "one")
	const id = `"id":"x"`
	for _, tt := range []struct{ change, at string }{
		{change("f", "updateEnabled", `{"enabled":false,"Enabled":true}`), "/payload/Enabled"},
		{change("f", "addStrategy", `{"name":"default","Constraints":[]}`), "/payload/Constraints"},
		{change("f", "addStrategy", `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","value_":"7","values":["7"]}]}`), "/payload/constraints/0/value_"},
		{change("f", "addStrategy", `{"name":"default","variants":[{"name":"a","percent":1}]}`), "/payload/variants/0/percent"},
		{change("f", "updateStrategy", `{`+id+`,"name":"default","only":"employees"}`), "/payload/only"},
		{change("f", "addStrategy", `{"featureName":5,"name":"default","only":"employees"}`), "/payload/only"},
		{change("f", "deleteStrategy", `{`+id+`,"name":"the old one"}`), "/payload/name"},
		{change("f", "patchVariant", `{"variants":[{"name":"a","weight":1000,"share":1}]}`), "/payload/variants/0/share"},
		{change("f", "reorderStrategy", `[{`+id+`,"sortOrder":1,"title":"first"}]`), "/payload/0/title"},
		{change("f", "archiveFeature", `{"in":"development"}`), "/payload/in"},
		{change("f", "addDependency", `{"feature":"g","disabled":true}`), "/payload/disabled"},
		{change("f", "deleteDependency", `{"Feature":"g"}`), "/payload/Feature"},
		{`{"action":"updateSegment","payload":` + strings.Replace(ownSegmentBody("one", `"7"`), "{", `{"id":`+segment+`,"note":"",`, 1) + `}`, "/payload/note"},
		{`{"action":"deleteSegment","payload":{"id":` + segment + `,"name":"another"}}`, "/payload/name"},
	} {
		r.as(t, r.author, "POST", submitted, tt.change, 400, `"path":"`+tt.at+`"`)
	}
	list := apitest.In("f", "production") + "/strategies"
	strategy := r.Must(t, "POST", list, `{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}],"variants":[{"name":"a","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"b"}}]}`).Body
	another := strings.Replace(strategy, apitest.IDIn(strategy), "another", 1)
	r.as(t, r.author, "POST", submitted, "["+change("f", "updateStrategy", strategy)+","+change("f", "addStrategy", another)+","+change("f", "archiveFeature", "{}")+"]", 200)
}

// TestCompletedPayloads leaves fields out, or sends what the operation corrects: those who approve see what becomes of it.
func TestCompletedPayloads(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	list := apitest.In("f", "production") + "/strategies"
	only := `"name":"flexibleRollout","parameters":{"rollout":"10"},"constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]`
	r.Must(t, "POST", list, "{"+only+"}")
	ids := idsIn(t, r.Must(t, "GET", list, "").Body)
	id := ids[len(ids)-1]
	for _, tt := range []struct{ action, payload, want string }{
		{"updateStrategy", `{"id":"` + id + `"}`, `"constraints":[],"id":"` + id + `","name":"flexibleRollout","parameters":{"groupId":"f","rollout":"100","stickiness":"default"},"segments":[],"variants":[]}`},
		{"updateStrategy", `{"id":"` + id + `","title":"t","parameters":{"rollout":5.0}}`, `"parameters":{"groupId":"f","rollout":"5","stickiness":"default"},"segments":[],"title":"t","variants":[]}`},
		{"addStrategy", `{` + only + `}`, `"values":["7"]}],"name":"flexibleRollout","parameters":{"groupId":"f","rollout":"10","stickiness":"default"},"segments":[],"variants":[]}`},
	} {
		r.as(t, r.author, "POST", submitted, change("f", tt.action, tt.payload), 200, tt.want)
	}
	variant := func(name, weight string) string {
		return `{"name":"` + name + `","weight":` + weight + `,"weightType":"variable"}`
	}
	r.as(t, r.author, "POST", submitted, change("g", "patchVariant", `{"variants":[`+variant("a", "999")+","+variant("b", "1")+`]}`), 200,
		`{"name":"a","weight":500,`, `{"name":"b","weight":500,`)
	segment := r.ownSegment(t, "one")
	r.as(t, r.author, "POST", submitted, `{"action":"updateSegment","payload":{"id":`+segment+`,"name":"one","constraints":[]}}`, 200,
		`{"constraints":[],"description":null,"id":`+segment+`,"name":"one","project":null}`)
	r.as(t, r.author, "POST", submitted, change("f", "reorderStrategy", `[{"id":"`+id+`","sortOrder":1},{"id":"`+id+`","sortOrder":2}]`), 400,
		`"path":"/payload/1/id"`, "is the strategy "+id+" again")
}

// TestProjectWhilePolicyChanges checks that change requests are on in a project that is created, gets an environment or switches them off while
// the environment begins to require approvals. That of "attached" is ensured twice: by the condition of withRegistry, and by that of the guard.
func TestProjectWhilePolicyChanges(t *testing.T) {
	t.Parallel()
	i := &apitest.Interruption{}
	r := interruptedBy(t, i)
	r.Must(t, "POST", apitest.Projects, `{"id":"attached"}`)
	r.Must(t, "DELETE", apitest.Projects+"/attached/environments/production", "")
	r.Must(t, "POST", apitest.Projects, `{"id":"off","changeRequestEnvironments":[{"name":"production"}]}`)
	for _, c := range []struct {
		project, method, path, body string
		status                      int
	}{
		{"created", "POST", "", `{"id":"created"}`, 201},
		{"attached", "POST", "/attached/environments", `{"environment":"production"}`, 200},
		{"off", "PUT", "/off/environments/production/change-requests/config", `{"changeRequestsEnabled":false}`, 409},
	} {
		r.Must(t, "PUT", apitest.Environments+"/update/production", `{"requiredApprovals":null}`)
		i.Do = func() { r.Must(t, "PUT", apitest.Environments+"/update/production", `{"requiredApprovals":2}`) }
		if got := r.Do(t, c.method, apitest.Projects+c.path, c.body); got.Status != c.status {
			t.Errorf("%s: %d %s, want %d", c.project, got.Status, got.Body, c.status)
		}
		if i.Do != nil {
			t.Errorf("%s: nothing was interrupted", c.project)
		}
		got := r.Must(t, "GET", apitest.Projects+"/"+c.project+"/change-requests/config", "").Body
		if !strings.Contains(got, `"environment":"production","type":"production","changeRequestEnabled":true`) {
			t.Errorf("%s: %s", c.project, got)
		}
	}
}
