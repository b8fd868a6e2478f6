package requests_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// TestProposedByPrograms has a person propose with the token of a service account, and approve: that needs another approver.
func TestProposedByPrograms(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	account := r.ID(t, "/api/admin/service-account", `{"username":"ci","name":"Build","rootRole":3}`)
	made := apitest.Decode[struct{ Secret string }](t, r.Must(t, "POST", "/api/admin/service-account/"+account+"/token", `{"description":"ci","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	byToken := []string{"Authorization: " + made.Secret}
	_, alone := r.signedIn(t, "4", "APPROVE_CHANGE_REQUEST APPLY_CHANGE_REQUEST")

	q := r.to(t, byToken, r.as(t, byToken, "POST", submitted, switchOff("f"), 200), "In review", 200)
	if q.MinApprovals != 2 {
		t.Errorf("what a service account proposes needs %d approvals, want 2", q.MinApprovals)
	}
	const author = `"username":"ci","name":"Build","serviceAccount":true,"imageUrl":null}`
	if got := r.Must(t, "GET", pathOf(q), "").Body; strings.Count(got, author) != 2 { // of the request and of its change
		t.Errorf("its author is not %s: %s", author, got)
	}
	const actor = `"createdByName":"Build","createdByServiceAccount":true`
	if got := r.Must(t, "GET", "/api/admin/events?type=change-request-created", "").Body; !strings.Contains(got, actor) {
		t.Errorf("its event has no %s: %s", actor, got)
	}
	if q = r.to(t, alone, q, "Approved", 200); q.State != "In review" {
		t.Errorf("after one approval, it is %s", q.State)
	}
	r.to(t, alone, q, "Applied", 409, "1 of the 2 approvals", "service account")
	if !r.on(t, "f") {
		t.Fatal("one person has changed production")
	}
	r.to(t, alone, r.to(t, r.first, q, "Approved", 200), "Applied", 200)

	q = r.inReview(t, switchOff("g"))
	if q.MinApprovals != 1 {
		t.Errorf("what a person proposes needs %d approvals, want 1", q.MinApprovals)
	}
	q = r.as(t, nil, "PUT", fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[0].Changes[0].ID), change("g", "addStrategy", `{"name":"default"}`), 200)
	r.to(t, alone, r.to(t, alone, q, "Approved", 200), "Applied", 409, "1 of the 2 approvals")
}

// TestFullQueue fills the queue of a project: the draft of a user who was deleted makes room, and the owner can cancel requests.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	leaver, leaving := r.signedIn(t, "5", "")
	left := r.as(t, leaving, "POST", submitted, switchOff("f"), 200)
	q := r.inReview(t, switchOff("g"))
	r.copy(t, q, review.MaxOpen-2)
	r.as(t, r.editor, "POST", submitted, switchOff("f"), 409, "300 open change requests")
	r.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, leaver), "")
	r.as(t, r.editor, "POST", submitted, switchOff("f"), 200)
	r.as(t, r.editor, "GET", pathOf(left), "", 404)
	r.as(t, r.first, "POST", submitted, switchOff("f"), 409, "300 open change requests")
	r.to(t, r.first, q, "Cancelled", 403, "only")
	r.to(t, r.editor, q, "Cancelled", 200)
	r.as(t, r.first, "POST", submitted, switchOff("f"), 200)
}

// copy stores copies of a change request, as it is stored, with other IDs.
func (r *reviewing) copy(t *testing.T, q changeRequest, n int) {
	t.Helper()
	first := apitest.Load[*review.Request](t, r.Server, review.RequestKey(q.ID))
	for range n {
		more := first.Clone()
		r.copies++
		more.ID, more.Version = 1_000_000+r.copies, 0
		event := flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.RequestCreated, CreatedAt: time.Now()}
		if err := r.Store.Commit(t.Context(), flags.Change{Writes: []flags.Write{{After: more}}, Event: event}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCommentsOfOne checks that one person cannot use up the comments of a request, and that one who only reads has few.
func TestCommentsOfOne(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.inReview(t, switchOff("f"))
	for range review.MaxCommentsOfOne {
		r.as(t, r.editor, "POST", pathOf(q)+"/comments", `{"text":"Please."}`, 204)
	}
	r.as(t, r.editor, "POST", pathOf(q)+"/comments", `{"text":"Please."}`, 409, "25 comments", "limit")
	r.as(t, r.first, "POST", pathOf(q)+"/comments", `{"text":"No."}`, 204)
	_, viewer := r.Person(t, access.RoleViewer)
	for range review.MaxCommentsOfReader {
		r.as(t, []string{viewer}, "POST", pathOf(q)+"/comments", `{"text":"And?"}`, 204)
	}
	r.as(t, []string{viewer}, "POST", pathOf(q)+"/comments", `{"text":"And?"}`, 409, "5 comments", "limit")
}

// TestFormerMembers checks that someone who may not propose any more cannot edit an earlier request either.
func TestFormerMembers(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	r.Must(t, "PUT", apitest.Project, `{"name":"Default","mode":"protected"}`)
	q := r.inReview(t, switchOff("f"), switchOff("g"))
	first := fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[0].Changes[0].ID)
	r.Must(t, "DELETE", fmt.Sprintf("%s/users/%d/roles/4", apitest.Project, r.authorID), "")
	for _, c := range []apitest.Call{
		{"edit", "PUT", first, change("f", "addStrategy", `{"name":"default"}`), 403, ""},
		{"remove", "DELETE", first, "", 403, ""},
		{"re-base", "POST", pathOf(q) + "/rebase", "", 403, ""},
		{"rename", "PUT", pathOf(q) + "/title", `{"title":"Mine"}`, 403, ""},
		{"choose reviewers", "PUT", pathOf(q) + "/approvers", `{"reviewers":[]}`, 403, ""},
		{"cancel", "PUT", pathOf(q) + "/state", `{"state":"Cancelled"}`, 200, ""},
	} {
		t.Run(c.Name, func(t *testing.T) {
			says := "only members"
			if c.Status == 200 {
				says = "Cancelled"
			}
			r.as(t, r.author, c.Method, c.Path, c.Body, c.Status, says)
		})
	}
}

// TestEvidenceOutlivesProject checks that an owner who deletes a project does not take the evidence of its change requests away from
// administrators, who find it in the log.
func TestEvidenceOutlivesProject(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	at := apitest.Projects + "/shop"
	config, list := at+"/environments/production/change-requests/config", at+"/change-requests/"
	r.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	r.Must(t, "PUT", config, `{"changeRequestsEnabled":true}`)
	r.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/4", at, r.authorID), "")
	r.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%s", at, r.firstID, r.RoleOf(t, "custom", "APPROVE_CHANGE_REQUEST")), "")
	r.Must(t, "POST", at+"/features", `{"name":"cart"}`)
	propose := func() (path string) {
		q := r.as(t, r.author, "POST", at+"/environments/production/change-requests", change("cart", "addStrategy", `{"name":"default"}`), 200)
		path = fmt.Sprint(list, q.ID)
		r.as(t, r.author, "PUT", path+"/state", `{"state":"In review"}`, 200)
		r.clock.Advance(2 * time.Minute)
		r.as(t, r.first, "PUT", path+"/state", `{"state":"Approved"}`, 200)
		return path
	}
	path := propose()
	r.Must(t, "PUT", path+"/state", `{"state":"Applied"}`)
	open := propose()

	r.as(t, r.author, "PUT", config, `{"changeRequestsEnabled":false}`, 204) // alone, from here on
	r.as(t, r.author, "DELETE", at+"/features/cart", "", 202)
	r.as(t, r.author, "DELETE", at, "", 200)
	readable := func() {
		t.Helper()
		r.Run(t, []apitest.Call{
			{"the evidence", "GET", path + "/evidence", "", 200, fmt.Sprintf(`{"...":0,"changeRequest":{"...":0,"state":"Applied"},"approvals":[{"...":0,"createdBy":{"...":0,"id":%d}}]}`, r.firstID)},
			{"one that was open", "GET", open, "", 200, `{"...":0,"state":"In review"}`},
			{"the log has it", "GET", "/api/admin/search/events?project=IS:shop&type=IS:change-request-applied", "", 200,
				`{"...":0,"events":[{"...":0,"data":{"...":0,"changeRequestId":` + strings.TrimPrefix(path, list) + `}}]}`},
			{"in another project", "GET", strings.Replace(path, "shop", "default", 1), "", 404, apitest.NotFound("there is no change request")},
			{"nothing changes it", "PUT", open + "/state", `{"state":"Cancelled"}`, 404, apitest.Anything},
			{"nor is it commented", "POST", path + "/comments", `{"text":"x"}`, 404, apitest.Anything},
		})
		r.as(t, r.first, "GET", path+"/evidence", "", 404)
		r.as(t, r.author, "GET", path, "", 404)
	}
	readable()
	r.Must(t, "POST", apitest.Projects, `{"id":"shop"}`) // another project of that name
	readable()
}

// TestLargeEvidence exports a request that was edited more often than one response has room for: page by page, all of its events.
func TestLargeEvidence(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.inReview(t, switchOff("f"))
	values := make([]string, 250)
	for i := range values {
		values[i] = fmt.Sprintf("%d-%s", i, strings.Repeat("x", 90))
	}
	list, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	const edits = 80
	for i := range edits {
		change := change("f", "addStrategy", fmt.Sprintf(`{"name":"default","title":"%d","constraints":[{"contextName":"userId","operator":"IN","values":%[2]s},{"contextName":"userId","operator":"NOT_IN","values":%[2]s}]}`, i, list))
		q = r.as(t, r.author, "PUT", fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[0].Changes[0].ID), change, 200)
	}
	size, edited, pages, cursor := 0, 0, 0, ""
	for {
		body := r.Must(t, "GET", pathOf(q)+"/evidence?cursor="+url.QueryEscape(cursor), "").Body
		var page struct {
			Events []struct{ Type string }
			Next   string
		}
		apitest.DecodeInto(t, body, &page)
		for _, e := range page.Events {
			if e.Type == "change-edited" {
				edited++
			}
		}
		size, pages, cursor = size+len(body), pages+1, page.Next
		if cursor == "" {
			if first := page.Events[0].Type; first != "change-request-created" {
				t.Errorf("the oldest event is %s", first)
			}
			break
		}
		if pages > edits {
			t.Fatal("the pages do not end")
		}
	}
	if edited != edits || pages < 2 || size < 6<<20 {
		t.Errorf("%d edits on %d pages with %d bytes, want %d on several with more than 6 MiB", edited, pages, size, edits)
	}
	r.as(t, r.author, "GET", pathOf(q)+"/evidence?cursor=nosuch", "", 400, "cursor")
}

// TestPaddedChange checks that the log says where to find the changes that are too large for it, so that nobody hides one by padding it.
func TestPaddedChange(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	padded := func(value string) string {
		list := strings.TrimSuffix(strings.Repeat(`"`+value+strings.Repeat("x", 90)+`",`, 250), ",")
		constraint := `{"contextName":"userId","operator":"IN","values":[` + list + `]}`
		return change("f", "addStrategy", `{"name":"default","constraints":[`+constraint+strings.Repeat(","+constraint, 3)+`]}`)
	}
	q := r.inReview(t, padded("a"))
	q = r.as(t, r.author, "PUT", fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[0].Changes[0].ID), padded("b"), 200)
	r.to(t, r.releaser, r.to(t, r.first, q, "Approved", 200), "Applied", 200)
	for kind, want := range map[string][]string{
		"change-edited":        {`"changeRequestId":1,`, `"payload":{"omitted":"larger than 56 KiB: the evidence of the change request has it`},
		"feature-strategy-add": {`"omitted":"larger than 64 KiB: the evidence of change request 1 has its changes"`},
	} {
		r.as(t, r.first, "GET", "/api/admin/search/events?type=IS:"+kind+"&limit=1", "", 200, want...)
	}
	r.as(t, r.first, "GET", pathOf(q)+"/evidence", "", 200, `"bxxx`)
}

// TestGrownRequest checks that a request which default strategies make larger is refused while it can still be approved or rejected.
func TestGrownRequest(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	constraint := `{"contextName":"userId","operator":"IN","values":["x"` + strings.Repeat(`,"`+strings.Repeat("y", 90)+`"`, 240) + `]}`
	r.Must(t, "POST", apitest.InProduction+"/default-strategy", `{"name":"default","constraints":[`+constraint+","+constraint+`]}`)
	var changes []string
	for i := range 8 {
		name := fmt.Sprint("off-", i)
		r.Create(t, name)
		changes = append(changes, change(name, "updateEnabled", `{"enabled":true}`))
	}
	r.as(t, r.author, "POST", submitted, "["+strings.Join(changes, ",")+"]", 400, "at most 300 KiB")
	q := r.inReview(t, changes[:6]...)
	r.to(t, r.second, r.to(t, r.first, q, "Approved", 200), "Rejected", 200)
}

// TestRenamedSegment checks that a segment under another name ends approvals: people know segments by their names.
func TestRenamedSegment(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.ownSegment(t, "employees")
	q := r.approved(t, `{"action":"updateSegment","payload":`+strings.Replace(ownSegmentBody("employees", `"8"`), "{", `{"id":`+segment+`,`, 1)+`}`)
	r.Must(t, "PUT", apitest.Segments+"/"+segment, ownSegmentBody("everyone", `"7"`))
	r.to(t, r.releaser, q, "Applied", 409, "it was renamed")
}

// TestSwitchedOnElsewhere switches change requests on in another environment, which a request about a whole flag then concerns, too.
func TestSwitchedOnElsewhere(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	whole, one := r.approved(t, change("f", "archiveFeature", `null`)), r.approved(t, switchOff("g"))
	r.Must(t, "PUT", apitest.Project+"/environments/development/change-requests/config", `{"changeRequestsEnabled":true}`)
	r.to(t, r.releaser, whole, "Applied", 409, `switched on in environment \"development\"`, "re-base it")
	whole = r.as(t, r.author, "POST", pathOf(whole)+"/rebase", "", 200)
	r.to(t, r.releaser, r.to(t, r.first, whole, "Approved", 200), "Applied", 200)
	r.to(t, r.releaser, one, "Applied", 200)
}

// TestInvisibleTexts sends characters that change how a title or comment is shown, and emoji that consist of several, which need one of them.
func TestInvisibleTexts(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.inReview(t, switchOff("f"))
	for _, text := range []string{`a\u0000b`, `a\u001b[2Jb`, `a\u202eb`, `a\u200bb`, `a\u200db`, `a\u200d`, `\u200d👩`, `👩\u200d`, `👩\u200d\u200d👧`, `👩\u200da`, `1\u200d2`} {
		r.as(t, r.author, "PUT", pathOf(q)+"/title", `{"title":"`+text+`"}`, 400, "control characters")
		r.as(t, r.author, "POST", pathOf(q)+"/comments", `{"text":"`+text+`"}`, 400, "control characters")
		r.as(t, r.author, "PUT", pathOf(q)+"/state", `{"state":"Cancelled","comment":"`+text+`"}`, 400, "control characters")
	}
	r.as(t, r.author, "PUT", pathOf(q)+"/title", `{"title":"two\nlines"}`, 400, "control characters")
	r.as(t, r.author, "POST", pathOf(q)+"/comments", `{"text":"two\r\nlines\n"}`, 204)
	for _, emoji := range []string{"👩\u200d👩\u200d👧\u200d👦", "❤\ufe0f\u200d🔥", "👩🏽\u200d⚕\ufe0f", "🏃\u200d♀\ufe0f\u200d➡\ufe0f", "🙂\u200d↔\ufe0f", "🏳\ufe0f\u200d🌈"} {
		r.as(t, r.author, "POST", pathOf(q)+"/comments", `{"text":"Ready `+emoji+`!"}`, 204)
		r.as(t, r.author, "PUT", pathOf(q)+"/title", `{"title":"`+emoji+`"}`, 204)
	}
}

// TestSegmentUsedSinceThen checks that the approval of a change of a segment does not stand once a strategy has begun to use the segment: the
// change would concern more flags than the approver saw.
func TestSegmentUsedSinceThen(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.AddSegment(t, `{"name":"s","constraints":[{"contextName":"userId","operator":"IN","values":["nobody"]}]}`)
	wide := r.approved(t, `{"action":"updateSegment","payload":`+fmt.Sprintf(`{"id":%s,"name":"s","constraints":[]}`, segment)+`}`)
	if len(r.read(t, wide).Segments) != 1 {
		t.Fatal("no segment")
	}
	id := idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body)[0]
	narrow := r.approved(t, change("f", "updateStrategy", `{"id":"`+id+`","name":"default","segments":[`+segment+`]}`))
	r.to(t, r.releaser, narrow, "Applied", 200)
	r.to(t, nil, wide, "Applied", 409)
}

// TestSegmentUsedElsewhereSinceThen has flags begin and cease to use a segment where no change request is needed: the approval of a change
// of the segment stands.
func TestSegmentUsedElsewhereSinceThen(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.AddSegment(t, `{"name":"s","constraints":[{"contextName":"userId","operator":"IN","values":["nobody"]}]}`)
	uses := `{"name":"default","segments":[` + segment + `]}`
	wide := r.inReview(t, change("f", "addStrategy", uses), `{"action":"updateSegment","payload":`+fmt.Sprintf(`{"id":%s,"name":"s","constraints":[]}`, segment)+`}`)
	r.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	r.Must(t, "POST", "/api/admin/projects/other/features", `{"name":"theirs"}`)
	r.Must(t, "POST", "/api/admin/projects/other/features/theirs/environments/production/strategies", uses)
	r.Must(t, "POST", apitest.In("f", "development")+"/strategies", uses)
	wide = r.to(t, r.first, wide, "Approved", 200)
	strategy := apitest.IDIn(r.Must(t, "POST", apitest.In("g", "development")+"/strategies", uses).Body)
	r.Must(t, "DELETE", apitest.In("g", "development")+"/strategies/"+strategy, "")
	r.Must(t, "POST", apitest.In("g", "development")+"/strategies", uses)
	r.Must(t, "PUT", "/api/admin/projects/other/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
	r.to(t, r.releaser, wide, "Applied", 409, "used by other strategies")
	r.Must(t, "PUT", "/api/admin/projects/other/environments/production/change-requests/config", `{"changeRequestsEnabled":false}`)
	if q := r.read(t, wide); q.State != "Approved" || q.Segments[0].Conflict != "" {
		t.Errorf("the request is %+v", q)
	}
	r.to(t, nil, wide, "Applied", 200)
}

// TestChildSinceThen checks that the approval to switch a flag off does not stand once another flag depends on it, which it could switch on.
func TestChildSinceThen(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	off := r.approved(t, switchOff("f"))
	child := r.approved(t, change("g", "addDependency", `{"feature":"f","enabled":false}`))
	r.to(t, r.releaser, child, "Applied", 200)
	r.to(t, nil, off, "Applied", 409)
}

// TestChildSinceSchedule is TestChildSinceThen with a schedule.
func TestChildSinceSchedule(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.approved(t, switchOff("f"))
	r.schedule(t, r.releaser, q, time.Hour, 200)
	r.to(t, r.releaser, r.approved(t, change("g", "addDependency", `{"feature":"f","enabled":false}`)), "Applied", 200)
	r.clock.Advance(2 * time.Hour)
	r.runs(t)
	if got := r.read(t, q); got.State == "Applied" {
		t.Error("applied")
	}
}

// TestClosedRequestsHideNothing checks that drafts that a viewer begins and discards, and requests that a viewer sends and cancels, do not push
// applied requests out of the lists.
func TestClosedRequestsHideNothing(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.approved(t, switchOff("f"))
	r.to(t, r.releaser, q, "Applied", 200)
	viewerID, _ := r.Person(t, access.RoleViewer)
	viewer := apitest.InSession(r.SignIn(t, viewerID))
	draft := r.as(t, viewer, "POST", submitted, switchOff("g"), 200)
	r.as(t, viewer, "DELETE", pathOf(draft), "", 200)
	sent := r.as(t, viewer, "POST", submitted, switchOff("g"), 200)
	r.to(t, viewer, r.to(t, viewer, sent, "In review", 200), "Cancelled", 200)
	for _, closed := range []changeRequest{draft, sent} {
		r.copy(t, closed, review.MaxListed)
	}
	for _, path := range []string{apitest.ChangeRequests, fmt.Sprintf("/api/admin/search/change-requests?state=IS:closed&createdBy=IS:%d", r.authorID)} {
		if got := r.Must(t, "GET", path, "").Body; !strings.Contains(got, `"state":"Applied"`) {
			t.Errorf("GET %s has no applied request any more: %.300s", path, got)
		}
	}
	r.Run(t, []apitest.Call{{"they are counted", "GET", apitest.ChangeRequests + "/count", "", 200, `{"...":0,"total":301,"applied":1}`}})
}

// TestNewChildOfGuardedFlag checks that nobody alone makes a flag a parent, which could then not be switched off in an emergency.
func TestNewChildOfGuardedFlag(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.OnInProduction(t, "payment")
	s.Must(t, "PUT", apitest.Environments+"/update/production", `{"requiredApprovals":1,"offAllowed":true}`)
	s.Review(t)
	id, member := s.Person(t, access.RoleViewer)
	s.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/5", apitest.Project, id), "")
	for _, env := range []string{"development", "production"} {
		s.Do(t, "POST", "/api/admin/features-batch/import", fmt.Sprintf(`{"project":"default","environment":%q,"data":{"features":[{"name":"junk-%[1]s","type":"release"}],`+
			`"featureStrategies":[],"featureEnvironments":[],"contextFields":[],"featureTags":[],"segments":[],"tagTypes":[],"dependencies":[{"feature":"junk-%[1]s","dependencies":[{"feature":"payment"}]}]}}`, env), member)
	}
	if got := s.Do(t, "POST", apitest.In("payment", "production")+"/off", "", s.Owner(t, "")); got.Status != 200 {
		t.Errorf("switching off, which needs no request: %d %.300s", got.Status, got.Body)
	}
}
