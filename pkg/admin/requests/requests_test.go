package requests_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
)

const (
	submitted = apitest.InProduction + "/change-requests"
)

// A changeRequest is what these tests read of a change request.
type changeRequest struct {
	ID           int64
	State        string
	Revision     string
	Conflict     string
	MinApprovals int
	Environments []string `json:"guardedEnvironments"`
	Approvals    []struct{ CreatedBy struct{ ID int64 } }
	Comments     []struct{ Text string }
	Features     []changeRequestFeature
	Segments     []struct{ Name, Conflict string }
}

type changeRequestFeature struct {
	Name, Conflict string
	Changes        []struct {
		ID      int64
		Action  string
		Payload json.RawMessage
	}
	DefaultChange *struct{ Payload struct{ Name string } }
}

// A reviewing is a project in which production is guarded, with people.
type reviewing struct {
	*apitest.Server
	clock                         *apitest.Clock
	author, editor, first, second []string // headers; author and editor own the project, first and second may approve
	releaser                      []string // may apply, and make all changes
	releaserID, firstID, secondID int64
	authorID                      int64
	copies                        int64
}

// reviewing begins with the flags "f" and "g", which are on in production, and one approval that is needed.
func serveReviews(t *testing.T, approvals int) *reviewing {
	t.Helper()
	now := apitest.NewClock()
	r := &reviewing{Server: apitest.ServeAt(t, now), clock: now}
	r.begin(t, approvals)
	return r
}

// begin sets up the project and the people.
func (r *reviewing) begin(t *testing.T, approvals int) {
	t.Helper()
	r.OnInProduction(t, "f", "g")
	r.Must(t, "PUT", apitest.ReviewConfig, fmt.Sprintf(`{"changeRequestsEnabled":true,"requiredApprovals":%d}`, approvals))
	r.authorID, r.author = r.signedIn(t, "4", "")
	_, r.editor = r.signedIn(t, "4", "")
	r.firstID, r.first = r.signedIn(t, "5", "APPROVE_CHANGE_REQUEST")
	r.secondID, r.second = r.signedIn(t, "5", "APPROVE_CHANGE_REQUEST")
	r.releaserID, r.releaser = r.signedIn(t, "4", "APPLY_CHANGE_REQUEST")
}

// signedIn is a viewer with a session, a role in the project, and permissions there.
func (r *reviewing) signedIn(t *testing.T, role, permissions string) (id int64, headers []string) {
	t.Helper()
	id, _ = r.Person(t, access.RoleViewer)
	at := fmt.Sprintf("%s/users/%d/roles/", apitest.Project, id)
	r.Must(t, "POST", at+role, "")
	if permissions != "" {
		r.Must(t, "POST", at+r.RoleOf(t, "custom", permissions), "")
	}
	return id, apitest.InSession(r.SignIn(t, id))
}

// as sends a request that has to have a status, and returns the change request in the response.
func (r *reviewing) as(t *testing.T, who []string, method, path, body string, status int, want ...string) (got changeRequest) {
	t.Helper()
	response := r.Do(t, method, path, body, who...)
	if response.Status != status {
		t.Fatalf("%s %s %.300s: %d %.600s, want %d", method, path, body, response.Status, response.Body, status)
	}
	for _, text := range want {
		if !strings.Contains(response.Body, text) {
			t.Errorf("%s %s %.300s: %.600s, want it to say %q", method, path, body, response.Body, text)
		}
	}
	if status < 300 && strings.HasPrefix(response.Body, `{"id"`) {
		apitest.DecodeInto(t, response.Body, &got)
	}
	return got
}

func pathOf(q changeRequest) string { return fmt.Sprintf("%s/%d", apitest.ChangeRequests, q.ID) }

// inReview adds changes to a draft of the author and sends it to review.
func (r *reviewing) inReview(t *testing.T, changes ...string) changeRequest {
	t.Helper()
	q := r.as(t, r.author, "POST", submitted, "["+strings.Join(changes, ",")+"]", 200)
	return r.to(t, r.author, q, "In review", 200)
}

// to brings a change request to a state.
func (r *reviewing) to(t *testing.T, who []string, q changeRequest, state string, status int, want ...string) changeRequest {
	t.Helper()
	return r.as(t, append(slices.Clone(who), `If-Match: "`+q.Revision+`"`), "PUT", pathOf(q)+"/state", fmt.Sprintf(`{"state":%q}`, state), status, want...)
}

func (r *reviewing) read(t *testing.T, q changeRequest) changeRequest {
	t.Helper()
	return r.as(t, r.author, "GET", pathOf(q), "", 200)
}

// on reports whether a flag is on in production.
func (r *reviewing) on(t *testing.T, flag string) bool {
	t.Helper()
	f := apitest.Decode[struct{ Enabled bool }](t, r.Must(t, "GET", apitest.In(flag, "production"), "").Body)
	return f.Enabled
}

func change(flag, action, payload string) string {
	return fmt.Sprintf(`{"feature":%q,"action":%q,"payload":%s}`, flag, action, payload)
}

func switchOff(flag string) string { return change(flag, "updateEnabled", `{"enabled":false}`) }

// TestChangeRequest takes a change through a request: it is proposed, approved by someone else, and applied.
func TestChangeRequest(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 2)
	q := r.as(t, r.author, "POST", submitted, switchOff("f"), 200)
	if q.State != "Draft" || q.MinApprovals != 2 || len(q.Features) != 1 || q.Features[0].Changes[0].Action != "updateEnabled" {
		t.Fatalf("the draft is %+v", q)
	}
	again := r.as(t, r.author, "POST", submitted, change("g", "addStrategy", `{"name":"flexibleRollout","parameters":{"rollout":"20"}}`), 200)
	if again.ID != q.ID || len(again.Features) != 2 {
		t.Fatalf("a second change is in %+v, want the draft %d", again, q.ID)
	}
	r.as(t, r.first, "GET", pathOf(q), "", 404)
	r.to(t, r.first, q, "Approved", 404)
	q = r.to(t, r.author, again, "In review", 200)
	waits := func(caller []string, want bool) {
		t.Helper()
		r.as(t, caller, "GET", "/api/admin/search/change-requests?state=IS:open", "", 200, fmt.Sprintf(`"actionable":%t`, want))
	}
	waits(r.author, false)
	waits(r.first, true)
	r.to(t, r.author, q, "Approved", 403, "APPROVE_CHANGE_REQUEST")
	r.to(t, r.releaser, q, "Applied", 409, "0 of the 2 approvals")
	q = r.to(t, r.first, q, "Approved", 200)
	q = r.to(t, r.first, q, "Approved", 200)
	if q.State != "In review" || len(q.Approvals) != 1 {
		t.Fatalf("after one approval, twice: %+v", q)
	}
	waits(r.first, false)
	waits(r.second, true)
	waits(r.releaser, false)
	r.to(t, r.releaser, q, "Applied", 409, "1 of the 2 approvals")
	if q = r.to(t, r.second, q, "Approved", 200); q.State != "Approved" {
		t.Fatalf("after two approvals: %+v", q)
	}
	waits(r.second, false)
	waits(r.releaser, true)
	r.to(t, r.author, q, "Applied", 403, "APPLY_CHANGE_REQUEST")
	if !r.on(t, "f") {
		t.Fatal("f is off before the request is applied")
	}
	if q = r.to(t, r.releaser, q, "Applied", 200); q.State != "Applied" {
		t.Fatalf("applied: %+v", q)
	}
	r.to(t, r.releaser, q, "Applied", 200)
	if r.on(t, "f") {
		t.Fatal("f is on after the request was applied")
	}
	for _, state := range []string{"In review", "Approved", "Cancelled", "Rejected"} {
		r.to(t, r.first, q, state, map[string]int{"In review": 403, "Cancelled": 403}[state]+map[string]int{"Approved": 409, "Rejected": 409}[state])
	}
	var log struct {
		Events []struct {
			Type      string
			GroupType string
			GroupID   string
			Skipped   []string `json:"skippedChangeRequests"`
		}
	}
	apitest.DecodeInto(t, r.Must(t, "GET", "/api/admin/search/events?limit=3", "").Body, &log)
	var types []string
	for _, e := range log.Events {
		types = append(types, e.Type)
		if e.GroupType != "change-request" || e.GroupID != fmt.Sprint(q.ID) || len(e.Skipped) > 0 {
			t.Errorf("the event %+v is not in the group of the request", e)
		}
	}
	if want := []string{"change-request-applied", "feature-strategy-add", "feature-environment-disabled"}; !slices.Equal(types, want) {
		t.Errorf("the events of the application are %v, want %v", types, want)
	}
	var evidence struct {
		Approvals []struct{ Revision string }
		Bases     struct{ Features map[string]any }
		Events    []struct{ Type string }
	}
	apitest.DecodeInto(t, r.Must(t, "GET", pathOf(q)+"/evidence", "").Body, &evidence)
	history := []string{}
	for _, e := range evidence.Events {
		history = append(history, strings.TrimPrefix(e.Type, "change-request-"))
	}
	if want := []string{"created", "change-added", "change-added", "sent-to-review", "approval-added", "approval-added", "approved", "applied"}; !slices.Equal(history, want) {
		t.Errorf("the history is %v, want %v", history, want)
	}
	if len(evidence.Approvals) != 2 || evidence.Approvals[0].Revision != q.Revision || len(evidence.Bases.Features) != 2 {
		t.Errorf("the evidence is %+v", evidence)
	}
}

// TestChangeRequestRefusesNow checks that what is wrong with a change is said when it is added, and that nothing is stored then.
func TestChangeRequestRefusesNow(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.AddSegment(t, `{"name":"one","constraints":[]}`)
	tests := []struct{ name, body, says string }{
		{"no change", `[]`, "at least one"},
		{"an unknown action", `{"feature":"f","action":"explode"}`, "must be one of updateEnabled, addStrategy, "},
		{"a part of a release plan", `{"feature":"f","action":"changeMilestoneProgression","payload":{"planId":"1"}}`, "delete the plan, and add another one"},
		{"no release plan", `{"feature":"f","action":"deleteReleasePlan","payload":{}}`, "planId"},
		{"no milestone", `{"feature":"f","action":"startMilestone","payload":{"planId":"1"}}`, "milestoneId"},
		{"an unknown flag", switchOff("nosuch"), `there is no flag`},
		{"no flag", `{"action":"updateEnabled","payload":{"enabled":true}}`, `"path":"/feature"`},
		{"no flag in a list", `[{"action":"updateEnabled","payload":{"enabled":true}}]`, `"path":"/0/feature"`},
		{"no payload", `{"feature":"f","action":"updateEnabled"}`, "must have enabled"},
		{"a payload of another kind", change("f", "updateEnabled", `[]`), "must be an object"},
		{"an unknown strategy type", change("f", "addStrategy", `{"name":"nosuch"}`), "unknown strategy type"},
		{"a strategy without id", change("f", "updateStrategy", `{"name":"default"}`), "id of the strategy"},
		{"an unknown strategy", change("f", "deleteStrategy", `{"id":"nosuch"}`), "nosuch"},
		{"an unknown segment", `{"action":"updateSegment","payload":{"id":77,"name":"x","constraints":[]}}`, "there is no segment 77"},
		{"no segment", `{"action":"deleteSegment","payload":{}}`, "id of a segment"},
		{"a segment in use", fmt.Sprintf(`[%s,{"action":"deleteSegment","payload":{"id":%s}}]`, change("f", "addStrategy", `{"name":"default","segments":[`+segment+`]}`), segment), "change 2 (deleteSegment of segment " + segment + ")"},
		{"a dependency on itself", change("f", "addDependency", `{"feature":"f"}`), "itself"},
		{"the second of two", "[" + change("f", "archiveFeature", `null`) + "," + switchOff("f") + "]", "change 2 (updateEnabled of flag \\\"f\\\")"},
		{"too many changes", "[" + strings.Repeat(switchOff("f")+",", 100) + switchOff("f") + "]", "at most 100 changes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { r.as(t, r.author, "POST", submitted, tt.body, 400, tt.says) })
	}
	r.as(t, r.author, "POST", apitest.Project+"/environments/development/change-requests", switchOff("f"), 400, "change it directly")
	r.as(t, r.author, "GET", apitest.ChangeRequests, "", 200, "[]")
}

// TestChangeRequestActions applies changes of every action in one request.
func TestChangeRequestActions(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	r.Create(t, "child", "lonely", "old", "bare")
	r.Must(t, "POST", apitest.Features+"/lonely/dependencies", `{"feature":"g"}`)
	used, unused := r.AddSegment(t, `{"name":"used","constraints":[]}`), r.AddSegment(t, `{"name":"unused","constraints":[]}`)
	production := apitest.InProduction + "/change-requests/config"
	r.Must(t, "PUT", production, `{"changeRequestsEnabled":false}`)
	list := apitest.In("f", "production") + "/strategies"
	second := apitest.IDIn(r.Must(t, "POST", list, `{"name":"default","segments":[`+used+`]}`).Body)
	third := apitest.IDIn(r.Must(t, "POST", list, `{"name":"default","title":"third"}`).Body)
	r.Must(t, "POST", apitest.InProduction+"/default-strategy", `{"name":"flexibleRollout","parameters":{"rollout":"30"}}`)
	r.Must(t, "PUT", production, `{"changeRequestsEnabled":true}`)
	q := r.inReview(t,
		change("f", "updateStrategy", `{"id":"`+second+`","name":"default","title":"changed","segments":[`+used+`]}`),
		change("f", "deleteStrategy", `{"id":"`+third+`"}`),
		change("f", "reorderStrategy", `[{"id":"`+second+`","sortOrder":-7}]`),
		change("f", "patchVariant", `{"variants":[{"name":"blue","weight":1000}]}`),
		change("child", "addDependency", `{"feature":"f"}`),
		change("lonely", "deleteDependency", `null`),
		`{"feature":"old","action":"archiveFeature"}`,
		change("bare", "updateEnabled", `{"enabled":true}`),
		`{"action":"updateSegment","payload":{"id":`+used+`,"name":"used","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}}`,
		`{"action":"deleteSegment","payload":{"id":`+unused+`}}`,
	)
	i := slices.IndexFunc(q.Features, func(f changeRequestFeature) bool { return f.Name == "bare" })
	if d := q.Features[i].DefaultChange; d == nil || d.Payload.Name != "flexibleRollout" {
		t.Errorf("the default strategy of the flag without strategies is %+v", q.Features[i])
	}
	r.Must(t, "POST", apitest.InProduction+"/default-strategy", `{"name":"default"}`)
	q = r.to(t, r.first, q, "Approved", 200)
	releaser := r.PersonWith(t, r.RoleOf(t, "root-custom", "UPDATE_SEGMENT DELETE_SEGMENT"), "APPLY_CHANGE_REQUEST")
	r.to(t, r.releaser, q, "Applied", 403, "UPDATE_SEGMENT")
	r.to(t, []string{releaser}, q, "Applied", 200)
	r.Run(t, []apitest.Call{
		{"the strategies", "GET", list, "", 200, `[{"...":0,"id":"` + second + `","title":"changed"},{"...":0}]`},
		{"the variants", "GET", apitest.In("f", "production") + "/variants", "", 200, `{"...":0,"variants":[{"...":0,"name":"blue"}]}`},
		{"the dependency", "GET", apitest.Features + "/child", "", 200, `{"...":0,"dependencies":[{"...":0,"feature":"f"}]}`},
		{"no dependency", "GET", apitest.Features + "/lonely", "", 200, `{"...":0,"dependencies":[]}`},
		{"the archived flag", "GET", apitest.Features + "/old", "", 404, apitest.Anything},
		{"the approved default strategy", "GET", apitest.In("bare", "production") + "/strategies", "", 200, `[{"...":0,"name":"flexibleRollout","parameters":{"...":0,"rollout":"30"}}]`},
		{"the segment", "GET", apitest.Segments + "/" + used, "", 200, `{"...":0,"constraints":[{"...":0,"values":["7"]}]}`},
		{"the deleted segment", "GET", apitest.Segments + "/" + unused, "", 404, apitest.Anything},
	})
	if !r.on(t, "bare") {
		t.Error("the flag without strategies is off")
	}
}

// TestApprovals checks who can approve, and which approvals count.
func TestApprovals(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	const everything = "APPROVE_CHANGE_REQUEST APPLY_CHANGE_REQUEST"
	_, both := r.signedIn(t, "4", everything)
	q := r.as(t, both, "POST", submitted, switchOff("f"), 200)
	q = r.to(t, both, q, "In review", 200)
	r.to(t, both, q, "Approved", 403, "someone else must")
	r.to(t, both, q, "Applied", 409, "0 of the 1 approvals")
	r.to(t, nil, q, "Approved", 403, "only people who are signed in")

	tokenID, token := r.Person(t, access.RoleViewer)
	at := fmt.Sprintf("%s/users/%d/roles/", apitest.Project, tokenID)
	r.Must(t, "POST", at+"4", "")
	r.Must(t, "POST", at+r.RoleOf(t, "custom", everything), "")
	r.to(t, []string{token}, q, "Approved", 403, "only people who are signed in")
	admin := administrator(t, r.Server)
	r.to(t, r.author, q, "Approved", 403, "APPROVE_CHANGE_REQUEST")

	t.Run("an approval is for what was seen", func(t *testing.T) {
		r.as(t, r.first, "PUT", pathOf(q)+"/state", `{"state":"Approved"}`, 409, "less than a minute ago")
		r.as(t, append(slices.Clone(r.first), `If-Match: *, "other"`), "PUT", pathOf(q)+"/state", `{"state":"Approved"}`, 412, "revision")
		edited := r.as(t, both, "PUT", fmt.Sprintf("%s/changes/%d", pathOf(q), q.Features[0].Changes[0].ID), switchOff("g"), 200)
		if edited.Revision == q.Revision {
			t.Error("an edit has kept the revision")
		}
		r.to(t, r.first, q, "Approved", 412, "revision")
		q = r.to(t, r.first, edited, "Approved", 200)
		if q.State != "Approved" {
			t.Fatalf("%+v is not approved", q)
		}
	})
	t.Run("an edit ends it", func(t *testing.T) {
		id := q.Features[0].Changes[0].ID
		q = r.as(t, admin, "PUT", fmt.Sprintf("%s/changes/%d", pathOf(q), id), switchOff("f"), 200)
		if kept := q.Features[0].Changes[0].ID; kept != id {
			t.Errorf("the edited change has the ID %d, want %d, which it had", kept, id)
		}
		if q.State != "In review" || len(q.Approvals) > 0 {
			t.Errorf("after an edit: %+v", q)
		}
		r.to(t, r.releaser, q, "Applied", 409, "0 of the 1 approvals")
		r.to(t, admin, q, "Approved", 403, "someone else must")
	})
	t.Run("without the permission, it does not count any more", func(t *testing.T) {
		leaver, leaving := r.signedIn(t, "5", "")
		role := r.RoleOf(t, "custom", "APPROVE_CHANGE_REQUEST")
		held := fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, leaver, role)
		r.Must(t, "POST", held, "")
		q = r.to(t, leaving, q, "Approved", 200)
		r.Must(t, "DELETE", held, "")
		if q = r.read(t, q); q.State != "In review" || len(q.Approvals) > 0 {
			t.Errorf("without the permission: %+v", q)
		}
		r.to(t, r.releaser, q, "Applied", 409, "0 of the 1 approvals")
		r.Must(t, "POST", held, "")
		if q = r.read(t, q); q.State != "Approved" {
			t.Errorf("with the permission again: %+v", q)
		}
		r.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, leaver), "")
		r.to(t, r.releaser, q, "Applied", 409, "0 of the 1 approvals")
	})
	t.Run("more approvals are needed later", func(t *testing.T) {
		q = r.to(t, r.first, q, "Approved", 200)
		r.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":2}`)
		r.to(t, r.releaser, q, "Applied", 409, "1 of the 2 approvals")
		r.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":true,"requiredApprovals":1}`)
		if q = r.read(t, q); q.State != "Approved" {
			t.Errorf("with one again: %+v", q)
		}
	})
	t.Run("it lasts for 30 days", func(t *testing.T) {
		r.clock.Advance(30*24*time.Hour - 2*time.Minute)
		first, second := apitest.InSession(r.SignIn(t, r.firstID)), apitest.InSession(r.SignIn(t, r.secondID))
		if q = r.as(t, first, "GET", pathOf(q), "", 200); q.State != "Approved" {
			t.Errorf("after nearly 30 days: %+v", q)
		}
		r.clock.Advance(4 * time.Minute)
		releaser := apitest.InSession(r.SignIn(t, r.releaserID))
		r.to(t, releaser, q, "Applied", 409, "0 of the 1 approvals")
		q = r.as(t, second, "PUT", pathOf(q)+"/state", `{"state":"Approved","comment":"still good"}`, 200)
		r.to(t, releaser, q, "Applied", 200)
	})
	if r.on(t, "f") || !r.on(t, "g") {
		t.Error("what was applied is not what was approved")
	}
}

// administrator is an administrator who is signed in.
func administrator(t *testing.T, s *apitest.Server) (headers []string) {
	t.Helper()
	id, _ := s.Person(t, access.RoleAdmin)
	return apitest.InSession(s.SignIn(t, id))
}

// TestChangesUnderneath changes what the changes of a request were made on. Approvals do not count then, until it is re-based.
func TestChangesUnderneath(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.AddSegment(t, `{"name":"one","constraints":[]}`)
	list := apitest.In("f", "production") + "/strategies"
	strategy := apitest.IDIn(r.Must(t, "POST", list, `{"name":"default","segments":[`+segment+`]}`).Body)
	tests := []struct {
		name               string
		method, path, body string
		says               string // "" if it does not matter
	}{
		{"switched off", "POST", apitest.In("f", "production") + "/off", "", "it was switched off"},
		{"a strategy", "POST", list, `{"name":"default"}`, "its strategies were changed"},
		{"variants", "PUT", apitest.In("f", "production") + "/variants", `[{"name":"a","weight":1000}]`, "its variants were changed"},
		{"a dependency", "POST", apitest.Features + "/f/dependencies", `{"feature":"g"}`, "its dependencies were changed"},
		{"the content of a segment", "PUT", apitest.Segments + "/" + segment, `{"name":"one","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, "a segment that it uses was changed"},
		{"a description", "PUT", apitest.Features + "/f", `{"description":"words"}`, ""},
		{"a title", "PATCH", list + "/" + strategy, `[{"op":"replace","path":"/title","value":"Some"}]`, ""},
		{"another environment", "POST", apitest.In("f", "development") + "/strategies", `{"name":"default"}`, ""},
		{"a favorite", "POST", apitest.Features + "/f/favorites", "", ""},
		{"the name of the segment", "PUT", apitest.Segments + "/" + segment, `{"name":"renamed","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`, "a segment that it uses was changed or renamed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := r.inReview(t, change("f", "addStrategy", `{"name":"userWithId","parameters":{"userIds":"7"}}`))
			q = r.to(t, r.first, q, "Approved", 200)
			if q.State != "Approved" {
				t.Fatalf("%+v is not approved", q)
			}
			r.Must(t, tt.method, tt.path, tt.body)
			got := r.read(t, q)
			if tt.says == "" {
				if got.State != "Approved" {
					t.Errorf("it is %+v, want Approved", got)
				}
				r.to(t, r.author, got, "Cancelled", 200)
				return
			}
			if got.State != "In review" || !strings.Contains(got.Features[0].Conflict, tt.says) {
				t.Errorf("it is %s, with the conflict %q, want %q", got.State, got.Features[0].Conflict, tt.says)
			}
			r.to(t, r.releaser, got, "Applied", 409, tt.says)
			r.to(t, r.second, got, "Approved", 409, tt.says)
			r.as(t, r.editor, "POST", pathOf(q)+"/rebase", "", 403, "only")
			rebased := r.as(t, r.author, "POST", pathOf(q)+"/rebase", "", 200)
			if rebased.Features[0].Conflict != "" || len(rebased.Approvals) > 0 || rebased.Revision == q.Revision {
				t.Errorf("re-based: %+v", rebased)
			}
			rebased = r.to(t, r.first, rebased, "Approved", 200)
			r.to(t, r.releaser, rebased, "Applied", 200)
		})
	}
	for _, c := range []apitest.Call{
		{"a flag that was archived", "DELETE", apitest.Features + "/g", "", 202, ""},
		{"a flag that was moved", "POST", apitest.Features + "/g/changeProject", `{"newProjectId":"elsewhere"}`, 200, ""},
		{"an environment that was detached", "DELETE", apitest.InProduction, "", 200, ""},
	} {
		t.Run(c.Name, func(t *testing.T) {
			r := serveReviews(t, 1)
			r.Must(t, "POST", apitest.Projects, `{"id":"elsewhere"}`)
			q := r.to(t, r.first, r.inReview(t, switchOff("g")), "Approved", 200)
			r.Must(t, c.Method, c.Path, c.Body)
			if c.Method == http.MethodDelete && c.Path == apitest.InProduction {
				r.Must(t, "POST", apitest.Project+"/environments", `{"environment":"production"}`)
			}
			got := r.read(t, q)
			if got.State != "In review" || got.Conflict+got.Features[0].Conflict == "" {
				t.Errorf("it is %+v, want a conflict", got)
			}
			r.to(t, r.releaser, got, "Applied", 409)
			if status := r.Do(t, "POST", pathOf(q)+"/rebase", "", r.author...).Status; status != 409 && status != 400 {
				t.Errorf("it was re-based: %d", status)
			}
			r.to(t, r.author, got, "Cancelled", 200)
			dynamotest.Check(t, r.Store)
		})
	}
}

// TestChangeRequestsOff switches change requests off: open ones are applied with ordinary permissions.
func TestChangeRequestsOff(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.inReview(t, switchOff("f"))

	r.to(t, r.editor, q, "Applied", 403, "APPLY_CHANGE_REQUEST")
	r.Must(t, "PUT", apitest.ReviewConfig, `{"changeRequestsEnabled":false}`)
	if q = r.read(t, q); q.State != "Approved" || q.MinApprovals != 0 {
		t.Errorf("while they are off: %+v", q)
	}
	stranger, _ := r.Person(t, access.RoleViewer)
	r.to(t, apitest.InSession(r.SignIn(t, stranger)), q, "Applied", 403, "UPDATE_FEATURE_ENVIRONMENT")
	r.to(t, r.editor, q, "Applied", 200)
}

// TestWholeFlags checks that what concerns a flag in several guarded environments needs the permissions in all of them.
func TestWholeFlags(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	r.Must(t, "PUT", apitest.Project+"/environments/development/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":2}`)
	only := func(permission, environment string) []string {
		t.Helper()
		id, headers := r.signedIn(t, "4", "")
		role := r.ID(t, "/api/admin/roles", fmt.Sprintf(`{"name":"only %d","type":"custom","permissions":[{"name":%q,"environment":%q}]}`, id, permission, environment))
		r.Must(t, "POST", fmt.Sprintf("%s/users/%d/roles/%s", apitest.Project, id, role), "")
		return headers
	}
	q := r.inReview(t, `{"feature":"f","action":"archiveFeature"}`)
	if want := []string{"production", "development"}; !slices.Equal(q.Environments, want) || q.MinApprovals != 2 {
		t.Errorf("archiving concerns %v with %d approvals, want %v with 2", q.Environments, q.MinApprovals, want)
	}
	r.to(t, only("APPROVE_CHANGE_REQUEST", "production"), q, "Approved", 403, "development")
	q = r.to(t, r.second, r.to(t, r.first, q, "Approved", 200), "Approved", 200)
	r.to(t, only("APPLY_CHANGE_REQUEST", "production"), q, "Applied", 403, "development")
	r.to(t, r.releaser, q, "Applied", 200)
	one := r.inReview(t, switchOff("g"))
	if want := []string{"production"}; !slices.Equal(one.Environments, want) {
		t.Errorf("switching off concerns %v, want %v", one.Environments, want)
	}
	t.Run("of another project", func(t *testing.T) {
		segment := r.AddSegment(t, `{"name":"shared","constraints":[]}`)
		r.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
		r.Must(t, "POST", apitest.Projects+"/other/features", `{"name":"theirs"}`)
		r.Must(t, "POST", apitest.Projects+"/other/features/theirs/environments/production/strategies", `{"name":"default","segments":[`+segment+`]}`)
		r.Must(t, "PUT", apitest.Projects+"/other/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
		r.as(t, r.author, "POST", submitted, `{"action":"updateSegment","payload":{"id":`+segment+`,"name":"shared","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}}`, 400, `\"other\"`)
	})
}

// TestWholeFlagsElsewhere checks that a request about a whole flag stands on what the flag is in all environments that it concerns.
func TestWholeFlagsElsewhere(t *testing.T) {
	t.Parallel()
	for name, moves := range map[string]func(t *testing.T, r *reviewing, segment string){
		"switched on": func(t *testing.T, r *reviewing, _ string) {
			r.Must(t, "POST", apitest.In("f", "development")+"/on", "")
		},
		"a strategy": func(t *testing.T, r *reviewing, _ string) { r.AddStrategy(t, "f", `{"name":"default"}`) },
		"a segment": func(t *testing.T, r *reviewing, segment string) {
			r.Must(t, "PUT", apitest.Segments+"/"+segment, `{"name":"s","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serveReviews(t, 1)
			segment := r.AddSegment(t, `{"name":"s","constraints":[]}`)
			r.AddStrategy(t, "f", `{"name":"default","segments":[`+segment+`]}`)
			r.Must(t, "PUT", apitest.Project+"/environments/development/change-requests/config", `{"changeRequestsEnabled":true}`)
			whole := r.approved(t, change("f", "archiveFeature", `null`))
			one := r.approved(t, switchOff("f"))
			moves(t, r, segment)
			r.to(t, r.releaser, whole, "Applied", 409, "re-base it")
			r.to(t, r.releaser, one, "Applied", 200)
			whole = r.as(t, r.author, "POST", pathOf(whole)+"/rebase", "", 200)
			r.to(t, r.releaser, r.to(t, r.first, whole, "Approved", 200), "Applied", 200)
		})
	}
}

// TestChangeRequestShowsThePresent checks that an open request shows what each of its changes replaces, and the freeze in which it waits.
func TestChangeRequestShowsThePresent(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	id := idsIn(t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body)[0]
	segment := r.AddSegment(t, `{"name":"s","constraints":[]}`)
	q := r.approved(t, switchOff("f"),
		change("f", "updateStrategy", `{"id":"`+id+`","name":"flexibleRollout","parameters":{"rollout":"50"}}`),
		change("f", "updateStrategy", `{"id":"`+id+`","name":"flexibleRollout","parameters":{"rollout":"60"}}`),
		change("f", "addStrategy", `{"name":"default"}`), change("f", "reorderStrategy", `[{"id":"`+id+`","sortOrder":7}]`),
		change("f", "patchVariant", `{"variants":[{"name":"a","weight":1000}]}`), change("f", "addDependency", `{"feature":"g"}`),
		`{"action":"updateSegment","payload":{"id":`+segment+`,"name":"t","constraints":[]}}`)
	r.Must(t, "POST", apitest.In("f", "production")+"/strategies", `{"name":"default","title":"x"}`) // the present moves
	frozen := func(offAllowed bool) string {
		return apitest.IDIn(r.Must(t, "POST", apitest.Project+"/environments/production/freezes", fmt.Sprintf(`{"reason":"the holidays","offAllowed":%t,"to":"2026-01-05T15:00:00Z"}`, offAllowed)).Body)
	}
	freeze := frozen(true)
	r.Check(t, apitest.Call{"an open one", "GET", pathOf(q), "", 200, `{"...":0,"freeze":{"id":"` + freeze + `","environment":"production","reason":"the holidays","until":"2026-01-05T15:00:00.000Z"},
		"features":[{"...":0,"changes":[
			{"...":0,"action":"updateEnabled","before":{"enabled":true}},
			{"...":0,"action":"updateStrategy","before":{"...":0,"id":"` + id + `","name":"default"}},
			{"...":0,"action":"updateStrategy","payload":{"...":0,"parameters":{"...":0,"rollout":"60"}},"createdBy":{"...":0},"id":3,"createdAt":"<time>"},
			{"...":0,"action":"addStrategy"},
			{"...":0,"action":"reorderStrategy","before":[{"...":0,"id":"` + id + `"},{"...":0}]},
			{"...":0,"action":"patchVariant","before":{"variants":[]}},
			{"...":0,"action":"addDependency","before":{"dependencies":[]}}]}],
		"segments":[{"...":0,"before":{"...":0,"name":"s"}}]}`})
	off := r.inReview(t, switchOff("g"))
	if got := r.Do(t, "GET", pathOf(off), "").Body; strings.Contains(got, `"freeze"`) {
		t.Errorf("a freeze that allows the change is shown: %s", got)
	}
	frozen(false)
	r.as(t, r.author, "GET", pathOf(off), "", 200, `"freeze":{`)
	closed := r.to(t, r.author, off, "Cancelled", 200)
	for _, path := range []string{pathOf(closed), apitest.ChangeRequests} {
		got := r.Do(t, "GET", path, "").Body
		if strings.Contains(got, `"freeze"`) || path == apitest.ChangeRequests && strings.Contains(got, `"before"`) {
			t.Errorf("%s shows the present: %s", path, got)
		}
	}
}

// TestEvidenceOfApplication checks that the evidence names the events that the application caused, and the freeze that it skipped.
func TestEvidenceOfApplication(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.approved(t, change("f", "addStrategy", `{"name":"default"}`), switchOff("g"))
	r.Must(t, "POST", apitest.Project+"/environments/production/freezes", `{"reason":"the holidays","to":"2026-01-05T15:00:00Z"}`)
	r.Must(t, "PUT", pathOf(q)+"/state", `{"state":"Applied"}`)
	r.Must(t, "POST", pathOf(q)+"/comments", `{"text":"Done."}`)
	var evidence struct {
		Events []struct {
			Type string
			Data struct{ Applied json.RawMessage }
		}
	}
	apitest.DecodeInto(t, r.Must(t, "GET", pathOf(q)+"/evidence", "").Body, &evidence)
	applied := evidence.Events[len(evidence.Events)-2]
	const want = `[{"type":"feature-strategy-add","featureName":"f","environment":"production"},` +
		`{"type":"change-freeze-skipped","featureName":"f","environment":"production"},` +
		`{"type":"feature-environment-disabled","featureName":"g","environment":"production"}]`
	if got := string(applied.Data.Applied); applied.Type != "change-request-applied" || got != want {
		t.Errorf("%s with %s, want %s", applied.Type, got, want)
	}
}

// TestChangeRequestParts checks comments, titles, reviewers, discarding, removing changes, and the lists.
func TestChangeRequestParts(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	q := r.as(t, r.author, "POST", submitted, "["+switchOff("f")+","+switchOff("g")+"]", 200)
	path := pathOf(q)
	for _, c := range []apitest.Call{
		{"a title by another", "PUT", path + "/title", `{"title":"Mine"}`, 404, ""},
		{"a comment by another", "POST", path + "/comments", `{"text":"Hello"}`, 404, ""},
		{"discarded by another", "DELETE", path, "", 404, ""},
		{"a change removed by another", "DELETE", path + "/changes/1", "", 404, ""},
	} {
		r.as(t, r.editor, c.Method, c.Path, c.Body, c.Status)
	}
	r.as(t, r.editor, "GET", apitest.ChangeRequests+"/pending/f", "", 200, "[]")
	r.as(t, r.editor, "GET", "/api/admin/search/change-requests", "", 200, `"total":0`)
	r.as(t, r.author, "GET", apitest.ChangeRequests+"/pending", "", 200, `"state":"Draft"`)
	r.as(t, r.author, "PUT", path+"/title", `{"title":"Off with them"}`, 204)
	r.as(t, r.author, "PUT", path+"/approvers", fmt.Sprintf(`{"reviewers":[%d]}`, r.authorID), 400, "may not approve")
	r.as(t, r.author, "PUT", path+"/approvers", fmt.Sprintf(`{"reviewers":[%d]}`, r.firstID), 204)
	r.as(t, r.author, "GET", path+"/approvers", "", 200, fmt.Sprintf(`"id":%d`, r.firstID))
	r.as(t, r.author, "GET", apitest.ChangeRequests+"/available-reviewers/production", "", 200, fmt.Sprintf(`"id":%d`, r.secondID))
	r.as(t, r.author, "DELETE", path+"/changes/2", "", 200)
	r.as(t, r.author, "DELETE", path+"/changes/2", "", 404, "another id")
	r.as(t, r.author, "PUT", path+"/state", `{"state":"In review","comment":"Please."}`, 200, "Please.")
	r.as(t, r.first, "POST", path+"/comments", `{"text":"Why?"}`, 204)
	r.as(t, r.first, "POST", path+"/comments", `{"text":" "}`, 400)
	if q = r.read(t, q); len(q.Comments) != 2 || q.Comments[1].Text != "Why?" || len(q.Features) != 1 {
		t.Errorf("the request is %+v", q)
	}
	r.as(t, r.author, "GET", apitest.ChangeRequests, "", 200, `"title":"Off with them"`)
	r.as(t, r.editor, "GET", apitest.ChangeRequests+"/pending", "", 200, "[]")
	r.as(t, r.editor, "GET", apitest.ChangeRequests+"/pending/f", "", 200, `"state":"In review"`)
	r.as(t, r.editor, "GET", apitest.ChangeRequests+"/count", "", 200, `{"total":1,"applied":0,"rejected":0,"reviewRequired":1,"approved":0,"scheduled":0}`)
	r.as(t, r.first, "GET", apitest.ChangeRequests+"/actionable", "", 200, `{"total":1}`)
	r.as(t, r.author, "GET", apitest.ChangeRequests+"/actionable", "", 200, `{"total":0}`)
	r.as(t, r.first, "GET", "/api/admin/search/change-requests?state=IS:actionable", "", 200, `"total":1`)
	r.as(t, r.author, "GET", "/api/admin/search/change-requests?state=IS:actionable", "", 200, `"total":0`)
	search := "/api/admin/search/change-requests?state=IS:open"
	r.as(t, r.first, "GET", search+fmt.Sprintf("&requestedApproverId=IS:%d&createdBy=IS:%d", r.firstID, r.authorID), "", 200, `"total":1`, `"features":["f"]`)
	r.as(t, r.first, "GET", search+fmt.Sprintf("&requestedApproverId=IS:%d", r.secondID), "", 200, `"total":0`)
	r.as(t, r.first, "GET", search+"&createdBy=IS:me", "", 400)
	r.as(t, r.author, "DELETE", path, "", 409, "is not a draft")
	r.to(t, r.first, q, "Cancelled", 403, "only")
	r.to(t, r.author, q, "Rejected", 403, "APPROVE_CHANGE_REQUEST")
	r.to(t, r.first, q, "Rejected", 200)
	r.as(t, r.first, "GET", "/api/admin/search/change-requests?state=IS:closed", "", 200, `"state":"Rejected"`)
	next := r.as(t, r.author, "POST", submitted, switchOff("g"), 200)
	r.as(t, r.author, "DELETE", pathOf(next), "", 200)
	r.as(t, r.author, "DELETE", pathOf(next), "", 200)
	r.as(t, r.editor, "GET", pathOf(next), "", 404)
	if got := r.read(t, next); got.State != "Cancelled" || len(got.Features) > 0 {
		t.Errorf("a discarded draft is %s, with the flags %v: nothing of it is kept", got.State, got.Features)
	}
	other := r.as(t, r.author, "POST", submitted, switchOff("g"), 200)
	if other.ID == next.ID {
		t.Error("a discarded draft is used again")
	}
}
