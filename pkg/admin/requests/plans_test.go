package requests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/apitest"
)

const plansOfF = apitest.Features + "/f/environments/production/release-plans"

// A plan is what these tests read of a release plan.
type plan struct {
	ID, Name   string
	Run        int64
	State      string
	Active     string `json:"activeMilestoneId"`
	Template   string `json:"releasePlanTemplateId"`
	Milestones []struct{ ID string }
}

func (r *reviewing) planOfF(t *testing.T) plan {
	t.Helper()
	list := apitest.Decode[[]plan](t, r.Must(t, "GET", plansOfF, "").Body)
	if len(list) != 1 {
		t.Fatalf("the flag has the plans %+v", list)
	}
	return list[0]
}

// stages is milestones with these percentages. Each lasts for an hour.
func stages(percentages ...int) string {
	var list []string
	for _, p := range percentages {
		list = append(list, fmt.Sprintf(`{"name":"%d","transitionCondition":{"intervalMinutes":60},"strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"%[1]d"}}]}`, p))
	}
	return strings.Join(list, ",")
}

func (r *reviewing) wantShares(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, s := range apitest.Decode[[]struct{ Parameters map[string]string }](t, r.Must(t, "GET", apitest.In("f", "production")+"/strategies", "").Body) {
		got = append(got, s.Parameters["rollout"])
	}
	if !slices.Equal(got, want) {
		t.Errorf("percentages %q, want %q", got, want)
	}
}

// TestApprovedPlan adds, starts, resumes and removes a release plan by requests. The template changes between the approval and the application.
func TestApprovedPlan(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	const templates = "/api/admin/release-plan-templates"
	template := apitest.IDIn(r.Must(t, "POST", templates, `{"name":"Canary","milestones":[`+stages(10, 50, 100)+`]}`).Body)
	q := r.approved(t, change("f", "addReleasePlan", `{"templateId":"`+template+`","existing":"replace"}`))
	if got := string(q.Features[0].Changes[0].Payload); strings.Count(got, "intervalMinutes") != 3 || !strings.Contains(got, `"rollout":"50"`) {
		t.Errorf("the payload is %s, want one with all milestones", got)
	}
	r.Must(t, "PUT", templates+"/"+template, `{"name":"Canary","milestones":[`+stages(100)+`]}`)
	r.to(t, r.releaser, q, "Applied", 200)
	p := r.planOfF(t)
	if p.State != "running" || len(p.Milestones) != 3 || p.Template != template {
		t.Errorf("the plan is %+v, want what was approved, of the template", p)
	}
	r.wantShares(t, "10")

	starting := fmt.Sprintf(`{"planId":%q,"milestoneId":%q}`, p.ID, p.Milestones[2].ID)
	start := r.approved(t, change("f", "startMilestone", starting))
	other := r.approved(t, change("f", "patchVariant", `{"variants":[{"name":"a","weight":1000}]}`))
	r.clock.Advance(time.Hour)
	r.runs(t)
	r.wantShares(t, "50")
	r.to(t, r.releaser, start, "Applied", 409, "its release plan went on")
	r.to(t, r.releaser, r.read(t, other), "Applied", 200)
	r.to(t, r.author, start, "Cancelled", 200)
	r.to(t, r.releaser, r.approved(t, change("f", "startMilestone", starting)), "Applied", 200)
	r.wantShares(t, "100")

	r.Must(t, "POST", plansOfF+"/"+p.ID+"/pause", "")
	r.to(t, r.releaser, r.approved(t, change("f", "resumeMilestoneProgression", `{"planId":"`+p.ID+`"}`)), "Applied", 200)
	if p := r.planOfF(t); p.State != "last" {
		t.Errorf("the plan is %+v after a request resumed it", p)
	}

	remove := r.approved(t, change("f", "deleteReleasePlan", `{"planId":"`+p.ID+`"}`))
	stale := r.approved(t, change("f", "updateEnabled", `{"enabled":false}`))
	r.to(t, r.releaser, remove, "Applied", 200, `"before":{"id"`)
	r.wantShares(t)
	r.to(t, r.releaser, stale, "Applied", 409, "its release plan was changed")
}

// TestSegmentOfALaterMilestone changes a segment that only a later milestone of an approved plan uses: what was approved is not what would run.
func TestSegmentOfALaterMilestone(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	segment := r.AddSegment(t, `{"name":"staff","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`)
	q := r.approved(t, change("f", "addReleasePlan", `{"name":"p","existing":"replace","milestones":[`+
		`{"name":"a","transitionCondition":{"intervalMinutes":60},"strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"0"}}]},`+
		`{"name":"b","strategies":[{"strategyName":"default","segments":[`+segment+`]}]}]}`))
	r.Must(t, "PUT", "/api/admin/segments/"+segment, `{"name":"staff","constraints":[]}`)
	r.to(t, r.releaser, r.read(t, q), "Applied", 409)
}
