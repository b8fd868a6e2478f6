package releases_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

const (
	templates = "/api/admin/release-plan-templates"
	everyone  = `{"strategyName":"default"}`
)

// milestone is a milestone with one strategy.
func milestone(name string, more ...string) string {
	return `{` + strings.Join(append([]string{fmt.Sprintf(`"name":%q`, name), `"strategies":[` + everyone + `]`}, more...), ",") + `}`
}

// template is the body of a template.
func template(name string, milestones ...string) string {
	return fmt.Sprintf(`{"name":%q,"milestones":[%s]}`, name, strings.Join(milestones, ","))
}

func repeat(n int, what string) string { return strings.TrimSuffix(strings.Repeat(what+",", n), ",") }

func TestTemplates(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id := apitest.IDIn(s.Must(t, "POST", templates, `{"name":"Canary","description":"A few first","milestones":[`+
		`{"name":"All","sortOrder":7,"transitionCondition":null,"strategies":[`+everyone+`]},`+
		`{"name":"Some","sortOrder":3,"transitionCondition":{"intervalMinutes":60},"strategies":[{"strategyName":"flexibleRollout","title":"t","sortOrder":2,"parameters":{"rollout":10},`+
		`"variants":[{"name":"v","weight":1,"weightType":"variable","stickiness":"default"}]},{"strategyName":"default","disabled":true,"sortOrder":1}]}]}`).Body)
	const some = `"name":"Some","sortOrder":3,"transitionCondition":{"intervalMinutes":60}`
	s.Run(t, []apitest.Call{
		{"in the order of milestones and strategies", "GET", templates + "/" + id, "", 200, `{"id":"` + id + `","discriminator":"template","name":"Canary","description":"A few first","createdByUserId":-42,"archivedAt":null,"...":0,"milestones":[
			{"...":0,"releasePlanDefinitionId":"` + id + `",` + some + `,"strategies":[
				{"...":0,"strategyName":"default","disabled":true,"sortOrder":1,"title":null},
				{"...":0,"strategyName":"flexibleRollout","disabled":false,"sortOrder":2,"title":"t","parameters":{"rollout":"10"},"variants":[{"...":0,"name":"v","weight":1000}]}]},
			{"...":0,"name":"All","sortOrder":7,"transitionCondition":null,"strategies":[{"...":0,"strategyName":"default"}]}]}`},
		{"without strategies in the list", "GET", templates, "", 200, `[{"...":0,"name":"Canary","milestones":[
			{"id":"` + apitest.Decode[struct{ Milestones []struct{ ID string } }](t, s.Must(t, "GET", templates+"/"+id, "").Body).Milestones[0].ID + `","releasePlanDefinitionId":"` + id + `",` + some + `},{"...":0,"name":"All"}]}]`},
		{"a taken name", "POST", templates, template("Canary", milestone("All")), 409, apitest.Failure("NameExistsError", `"Canary"`)},
		{"archived", "POST", templates + "/archive/" + id, "", 200, ""},
		{"an archived one keeps its name", "POST", templates, template("Canary", milestone("All")), 409, apitest.Failure("NameExistsError", "archived")},
		{"replaced whole", "PUT", templates + "/" + id, template("At once", milestone("All")), 200, ""},
		{"what was left out is empty", "GET", templates + "/" + id, "", 200, `{"...":0,"name":"At once","description":null,"milestones":[{"...":0,"name":"All","sortOrder":0,"transitionCondition":null}]}`},
		{"the same id", "PUT", templates + "/" + id, `{"id":"` + id + `",` + template("At once", milestone("All"))[1:], 200, ""},
		{"another id", "PUT", templates + "/" + id, `{"id":"x",` + template("At once", milestone("All"))[1:], 400, apitest.Invalid("/id")},
		{"deleted", "DELETE", templates + "/" + id, "", 200, ""},
		{"deleted again", "DELETE", templates + "/" + id, "", 404, apitest.NotFound(id)},
		{"an id that cannot be one", "GET", templates + "/a%20b", "", 404, apitest.NotFound("a b")},
		{"the name is free", "POST", templates, template("Canary", milestone("All")), 200, apitest.Anything},
	})
	s.WantHistoryOf(t, &flags.ReleaseTemplate{ID: id}, flags.ReleaseTemplateCreated, flags.ReleaseTemplateArchived, flags.ReleaseTemplateUpdated, flags.ReleaseTemplateDeleted)
}

func TestTemplateRules(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const first = "/milestones/0/strategies/0"
	calls := []apitest.Call{
		{"nothing", "POST", templates, `{}`, 400, apitest.Invalid("/name", "/milestones")},
		{"a blank name", "POST", templates, template(" ", milestone("All")), 400, apitest.Invalid("/name")},
		{"no milestones", "POST", templates, template("t"), 400, apitest.Invalid("/milestones")},
		{"too many milestones", "POST", templates, template("t", repeat(11, milestone("m"))), 400, apitest.Invalid("/milestones")},
		{"a milestone without a name", "POST", templates, template("t", milestone("")), 400, apitest.Invalid("/milestones/0/name")},
		{"a milestone without strategies", "POST", templates, template("t", `{"name":"m"}`), 400, apitest.Invalid("/milestones/0/strategies")},
		{"a milestone without an enabled one", "POST", templates, template("t", `{"name":"m","strategies":[{"strategyName":"default","disabled":true}]}`), 400, apitest.Invalid("/milestones/0/strategies")},
		{"too many strategies", "POST", templates, template("t", `{"name":"a","strategies":[`+repeat(20, everyone)+`]}`, `{"name":"b","strategies":[`+repeat(21, everyone)+`]}`), 400, apitest.Invalid("/milestones")},
		{"no type", "POST", templates, template("t", `{"name":"m","strategies":[{}]}`), 400, apitest.Invalid(first + "/strategyName")},
		{"an unknown type", "POST", templates, template("t", `{"name":"m","strategies":[{"strategyName":"nosuch"}]}`), 400, apitest.Invalid(first + "/strategyName")},
		{"a bad parameter", "POST", templates, template("t", `{"name":"m","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"101"}}]}`), 400, apitest.Invalid(first + "/parameters/rollout")},
		{"a bad constraint", "POST", templates, template("t", `{"name":"m","strategies":[{"strategyName":"default","constraints":[{"contextName":"c","operator":"nosuch"}]}]}`), 400, apitest.Invalid(first + "/constraints/0/operator")},
		{"an unknown segment", "POST", templates, template("t", `{"name":"m","strategies":[{"strategyName":"default","segments":[99]}]}`), 400, apitest.Invalid(first + "/segments/0")},
		{"an interval of nothing", "POST", templates, template("t", milestone("m", `"transitionCondition":{"intervalMinutes":0}`)), 400, apitest.Invalid("/milestones/0/transitionCondition/intervalMinutes")},
		{"an interval of more than a year", "POST", templates, template("t", milestone("m", `"transitionCondition":{"intervalMinutes":525601}`)), 400, apitest.Invalid("/milestones/0/transitionCondition/intervalMinutes")},
		{"safeguards", "POST", templates, `{"safeguards":[{"signal":{"name":"errors"}}],` + template("t", milestone("m"))[1:], 400, apitest.Invalid("/safeguards/0/action/type")},
		{"the most", "POST", templates, template("most", repeat(10, `{"name":"m","strategies":[`+repeat(4, everyone)+`]}`)), 200, apitest.Anything},
	}
	value := strings.Repeat("v", 100)
	large := `{"name":"m","strategies":[` + repeat(3, `{"strategyName":"default","constraints":[{"contextName":"c","operator":"IN","values":[`+repeat(250, `"`+value+`"`)+`]}]}`) + `]}`
	calls = append(calls, apitest.Call{"too large", "POST", templates, template("large", large), 400, apitest.Invalid("/milestones")})
	s.Run(t, calls)
}

// TestTemplatesAreBounded creates as many templates as there can be, and reads the list.
func TestTemplatesAreBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range flags.MaxReleaseTemplates {
		s.Must(t, "POST", templates, template(fmt.Sprint("t", i), milestone("All")))
	}
	s.Run(t, []apitest.Call{{"one too many", "POST", templates, template("more", milestone("All")), 400, apitest.Failure("ValidationError", "100")}})
	if list := apitest.Decode[[]any](t, s.Must(t, "GET", templates, "").Body); len(list) != flags.MaxReleaseTemplates {
		t.Errorf("%d templates in the list", len(list))
	}
}

// TestTemplateKeepsItsSegments deletes segments of templates. The check of the table at the end of the test finds a template with a segment that is gone.
func TestTemplateKeepsItsSegments(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	first, second := s.ID(t, apitest.Segments, `{"name":"a","constraints":[]}`), s.ID(t, apitest.Segments, `{"name":"b","constraints":[]}`)
	with := func(id string) string {
		return template("t", `{"name":"m","strategies":[{"strategyName":"default","segments":[`+id+`]}]}`)
	}
	const inUse = `{"...":0,"name":"ConflictError","details":[{"...":0,"message":"used by release template \"t\""}]}`
	id := apitest.IDIn(s.Must(t, "POST", templates, with(first)).Body)
	s.Run(t, []apitest.Call{
		{"a segment of a template", "DELETE", apitest.Segments + "/" + first, "", 409, inUse},
		{"with another one", "PUT", templates + "/" + id, with(second), 200, ""},
		{"no longer its segment", "DELETE", apitest.Segments + "/" + first, "", 204, ""},
		{"its segment now", "DELETE", apitest.Segments + "/" + second, "", 409, inUse},
		{"of an archived template", "POST", templates + "/archive/" + id, "", 200, ""},
		{"still its segment", "DELETE", apitest.Segments + "/" + second, "", 409, inUse},
		{"the template is gone", "DELETE", templates + "/" + id, "", 200, ""},
		{"and so is the use", "DELETE", apitest.Segments + "/" + second, "", 204, ""},
	})
}

// TestSegmentOfTemplateIsDeletedAtTheSameTime creates templates with segments that others delete. One of the two is refused.
func TestSegmentOfTemplateIsDeletedAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for i := range 10 {
		segment := s.ID(t, apitest.Segments, fmt.Sprintf(`{"name":"s%d","constraints":[]}`, i))
		statuses := make(chan int, 2)
		go func() { statuses <- s.Do(t, "DELETE", apitest.Segments+"/"+segment, "").Status }()
		go func() {
			statuses <- s.Do(t, "POST", templates, template(fmt.Sprint("t", i), `{"name":"m","strategies":[{"strategyName":"default","segments":[`+segment+`]}]}`)).Status
		}()
		got := []int{<-statuses, <-statuses}
		slices.Sort(got)
		if !slices.Equal(got, []int{204, 400}) && !slices.Equal(got, []int{200, 409}) {
			t.Errorf("statuses %v, want a deletion and 400, or a template and 409", got)
		}
	}
}

func TestTemplateIfMatch(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	one := templates + "/" + apitest.IDIn(s.Must(t, "POST", templates, template("t", milestone("a"))).Body)
	old := "If-Match: " + s.Must(t, "GET", one, "").Header.Get("ETag")
	s.Must(t, "PUT", one, template("t", milestone("b")))
	for _, c := range []struct{ method, body string }{{"PUT", template("t", milestone("c"))}, {"DELETE", ""}} {
		if got := s.Do(t, c.method, one, c.body, old); got.Status != 412 {
			t.Errorf("%s with an old ETag: status %d, want 412", c.method, got.Status)
		}
	}
}
