package playground_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

const (
	trial    = "/api/admin/playground"
	advanced = trial + "/advanced"
)

// TestPlaygroundOfOneFlag evaluates one flag, with its parent, without reading the others.
func TestPlaygroundOfOneFlag(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "parent", "child", "other")
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent"}`)
	evaluate := func(flag string) string {
		return s.Do(t, "POST", trial, `{"environment":"development","projects":["default"],"feature":"`+flag+`","context":{"appName":"a"}}`).Body
	}
	if got := evaluate("child"); !strings.Contains(got, `"features":[{"name":"child","projectId":"default","isEnabled":true`) || strings.Count(got, `"projectId"`) != 1 {
		t.Errorf("the flag: %s", got)
	}
	s.Must(t, "POST", apitest.In("parent", "development")+"/off", "")
	if got := evaluate("child"); !strings.Contains(got, `"isEnabled":false`) || !strings.Contains(got, `"hasUnsatisfiedDependency":true`) {
		t.Errorf("with its parent off: %s", got)
	}
	for flag, want := range map[string]string{"gone": `"features":[]`, "a/b": "ValidationError"} {
		if got := evaluate(flag); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", flag, got, want)
		}
	}
}

// TestPlayground checks the whole answer for a flag with each kind of strategy, in the form that Unleash 5.12.8 answers.
func TestPlayground(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/strategies", `{"name":"custom","parameters":[]}`)
	s.Must(t, "POST", "/api/admin/segments", `{"name":"nordic","constraints":[{"contextName":"country","operator":"IN","values":["NO"]}]}`)
	s.Create(t, "parent", "child")
	id := s.AddStrategy(t, "child", `{"name":"flexibleRollout","title":"all","parameters":{"rollout":"100","groupId":"g"},
		"variants":[{"name":"red","weight":1,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"r"}}]}`)
	for _, strategy := range []string{
		`{"name":"default","disabled":true,"constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}`,
		`{"name":"custom","segments":[1]}`,
		`{"name":"applicationHostname","parameters":{"hostNames":"h"},"constraints":[{"contextName":"age","operator":"NUM_GT","value":"18","inverted":true}]}`,
	} {
		s.AddStrategy(t, "child", strategy)
	}
	s.Must(t, "POST", apitest.In("child", "development")+"/on", "")
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent","variants":["blue"]}`)
	red := `{"name":"red","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"r"}}`
	links := `{"edit":"<has /projects/default/features/child/strategies/edit?environmentId=development&strategyId=>"}`
	constraint := `{"contextName":%q,"operator":%q,"values":[%s],"inverted":%t,"caseInsensitive":false%s,"result":%t}`
	child := `"name":"child","projectId":"default","isEnabled":false,"isEnabledInCurrentEnvironment":true,"hasUnsatisfiedDependency":true,
		"unsatisfiedDependency":{"feature":"parent","enabled":true,"variants":["blue"]},
		"variant":{"name":"disabled","enabled":false,"feature_enabled":false,"featureEnabled":false},"variants":[` + red + `],
		"strategies":{"result":true,"data":[
			{"id":"` + id + `","name":"flexibleRollout","title":"all","disabled":false,"parameters":{"rollout":"100","stickiness":"default","groupId":"g"},
			 "result":{"enabled":true,"evaluationStatus":"complete","variant":{"name":"red","enabled":true,"payload":{"type":"string","value":"r"}},"variants":[` + red + `]},
			 "constraints":[],"segments":[],"links":` + links + `},
			{"id":"<uuid>","name":"default","disabled":true,"parameters":{},"result":{"enabled":"unknown","evaluationStatus":"unevaluated"},
			 "constraints":[` + fmt.Sprintf(constraint, "userId", "IN", `"7"`, false, "", true) + `],"segments":[],"links":` + links + `},
			{"id":"<uuid>","name":"custom","disabled":false,"parameters":{},"result":{"enabled":"unknown","evaluationStatus":"incomplete"},"constraints":[],
			 "segments":[{"id":1,"name":"nordic","result":true,"constraints":[` + fmt.Sprintf(constraint, "country", "IN", `"NO"`, false, "", true) + `]}],"links":` + links + `},
			{"id":"<uuid>","name":"applicationHostname","disabled":false,"parameters":{"hostNames":"h"},"result":{"enabled":false,"evaluationStatus":"incomplete"},
			 "constraints":[` + fmt.Sprintf(constraint, "age", "NUM_GT", "", true, `,"value":"18"`, false) + `],"segments":[],"links":` + links + `}]}`
	context := `{"appName":"shop","userId":7,"country":"NO","properties":{"age":"20"},"tags":["x"]}`
	off := `{"name":"parent","projectId":"default","isEnabled":false,"isEnabledInCurrentEnvironment":false,"hasUnsatisfiedDependency":false,
		"variant":{"name":"disabled","enabled":false,"feature_enabled":false,"featureEnabled":false},"variants":[],"strategies":{"result":false,"data":[]}}`
	s.Check(t, apitest.Call{"plain", "POST", trial, `{"environment":"development","context":` + context + `}`, 200,
		`{"features":[{` + child + `},` + off + `],"input":{"environment":"development","context":` + context + `},"warnings":{"invalidContextProperties":["tags"]}}`})
	s.Check(t, apitest.Call{"advanced", "POST", advanced, `{"environments":["development"],"projects":"*","context":` + context + `}`, 200,
		`{"features":[{"name":"child","projectId":"default","environments":{"development":[{` + child + `,"environment":"development",
			"context":{"appName":"shop","userId":"7","country":"NO","age":"20"}}]}},"<any>"],
		"input":{"environments":["development"],"projects":"*","context":` + context + `},"warnings":{"invalidContextProperties":["tags"]}}`})
}

// TestPlaygroundCombinations checks which contexts an advanced request evaluates, with commas in values.
func TestPlaygroundCombinations(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateEnabled(t, "f")
	for context, want := range map[string]string{
		`{"appName":"a,b"}`: "development a / development b / production a / production b",
		`{"appName":"a","properties":{"plan":"x,,y"},"plan":"no"}`: "development a plan=x / development a plan= / development a plan=y / production a plan=x / production a plan= / production a plan=y",
		`{"appName":"a,b","plan":"x,y"}`: "development a plan=x / development a plan=y / development b plan=x / development b plan=y / " +
			"production a plan=x / production a plan=y / production b plan=x / production b plan=y",
	} {
		var answer struct {
			Features []struct {
				Environments map[string][]struct {
					Environment string
					Context     map[string]string
					IsEnabled   bool
				}
			}
		}
		body := s.Must(t, "POST", advanced, `{"environments":["development","production"],"context":`+context+`}`).Body
		apitest.DecodeInto(t, body, &answer)
		var got []string
		for _, environment := range []string{"development", "production"} {
			for _, r := range answer.Features[0].Environments[environment] {
				text := r.Environment + " " + r.Context["appName"]
				if plan, found := r.Context["plan"]; found {
					text += " plan=" + plan
				}
				got = append(got, text)
				if r.IsEnabled != (environment == "development") {
					t.Errorf("%s: enabled is %t", text, r.IsEnabled)
				}
			}
		}
		if strings.Join(got, " / ") != want {
			t.Errorf("%s:\n%s, want\n%s", context, strings.Join(got, " / "), want)
		}
	}
}

// TestPlaygroundSelection checks whose flags are evaluated.
func TestPlaygroundSelection(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, id := range []string{"shop", "empty"} {
		s.Must(t, "POST", apitest.Projects, `{"id":"`+id+`"}`)
	}
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"of-shop"}`)
	s.Create(t, "active", "archived")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	for selected, want := range map[string]string{
		``: "active of-shop", `,"projects":"*"`: "active of-shop", `,"projects":["shop"]`: "of-shop", `,"projects":["shop","default"]`: "active of-shop",
		`,"projects":["empty"]`: "", `,"projects":[]`: "",
	} {
		var answer struct{ Features []struct{ Name string } }
		body := s.Must(t, "POST", trial, `{"environment":"development","context":{"appName":"a"}`+selected+`}`).Body
		apitest.DecodeInto(t, body, &answer)
		var got []string
		for _, f := range answer.Features {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: flags %v, want %s", selected, got, want)
		}
	}
}

// TestPlaygroundBodies checks what is refused.
func TestPlaygroundBodies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "a", "b")
	many := func(n int) string { return strings.Repeat("x,", n-1) + "x" }
	properties := strings.TrimSuffix(strings.Repeat(`"p%d":"v",`, 101), ",")
	numbers := make([]any, 101)
	for i := range numbers {
		numbers[i] = i
	}
	for _, tt := range []struct{ path, body, message string }{
		{trial, `{}`, "/environment: is required"},
		{trial, `{"environment":"development"}`, "/context: is required"},
		{trial, `{"environment":"development","context":{}}`, "/context/appName: is required"},
		{trial, `{"environment":"development","context":{"appName":null}}`, "/context/appName: is required"},
		{trial, `{"environment":"development","context":[]}`, "/context: must be an object"},
		{trial, `{"environment":"development","context":null}`, "/context: must be an object"},
		{trial, `{"environment":"development","context":{"appName":"a","userId":[1]}}`, "/context/userId: must be a string"},
		{trial, `{"environment":"development","context":{"appName":"a","properties":null}}`, "/context/properties: must be an object"},
		{trial, `{"environment":"development","context":{"appName":"a","properties":{"a/b":{}}}}`, "/context/properties/a~1b: must be a string"},
		{trial, `{"environment":"development","context":{"appName":"a","currentTime":"today"}}`, "/context/currentTime: must be a time"},
		{trial, `{"environment":"development","context":{"appName":"a","currentTime":"2026-02-01T00:00:00,5Z"}}`, "/context/currentTime: must be a time"},
		{trial, `{"environment":"development","context":{"appName":"` + strings.Repeat("a", 10_001) + `"}}`, "/context/appName: must have at most 10000 bytes"},
		{trial, `{"environment":"development","context":{"appName":"a",` + fmt.Sprintf(properties, numbers...) + `}}`, "at most 100 fields"},
		{trial, `{"environment":"development","context":{"appName":"a"},"projects":"default"}`, `/projects: must be "*" for all projects, or a list of ids`},
		{trial, `{"environment":"development","context":{"appName":"a"},"projects":[1]}`, `/projects: must be "*" for all projects, or a list of ids`},
		{trial, `{"environment":"development","context":{"appName":"a"},"projects":["default","default"]}`, "/projects/1: is listed twice"},
		{trial, `{"environment":"development","context":{"appName":"a"},"projects":["default","nosuch"]}`, `/projects/1: there is no project "nosuch"`},
		{trial, `{"environment":"nosuch","context":{"appName":"a"}}`, `/environment: there is no environment "nosuch"`},
		{advanced, `{"environments":[],"context":{"appName":"a"}}`, "/environments: must have at least one"},
		{advanced, `{"environments":["nosuch"],"context":{"appName":"a"}}`, `/environments/0: there is no environment "nosuch"`},
		{advanced, `{"environments":["development","development"],"context":{"appName":"a"}}`, "/environments/1: is listed twice"},
		{advanced, `{"environments":["development"],"context":{"appName":"a","x":"` + many(4000) + `","y":"` + many(4000) + `","z":"` + many(4000) + `"}}`, "too many combinations"},
		{advanced, `{"environments":["development","production"],"context":{"appName":"` + many(4000) + `"}}`, "this would be 16000 results, of 2 flags in 2 environments for 4000 contexts"},
	} {
		want, _ := json.Marshal(map[string]string{"name": "ValidationError", "message": "<has " + tt.message + ">", "...": ""})
		s.Check(t, apitest.Call{tt.path, "POST", tt.path, tt.body, 400, string(want)})
	}
}

// TestLargePlaygrounds checks that an answer that is too large is refused early: by its number of results, and by its size.
func TestLargePlaygrounds(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	r := httptest.NewRequest(http.MethodPost, trial, strings.NewReader(`{"environment":"development","projects":["default"],"context":{"appName":"a"}}`))
	r.Header.Set("Authorization", dynamotest.AdminToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	httpapi.New(apitest.LongStore{Store: s.Store, Flags: 15_001}, admin.Group("playground"), httpapi.Config{}).ServeHTTP(w, r)
	if diff := apitest.Match(apitest.Malformed("15001 results"), w.Body.String()); w.Code != 400 || len(diff) > 0 {
		t.Errorf("15,001 flags: %d %v", w.Code, diff)
	}

	s.Create(t, "large")
	values := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("v", 90)+`",`, 200), ",")
	s.AddStrategy(t, "large", `{"name":"default","constraints":[{"contextName":"x","operator":"IN","values":[`+values+`]}]}`)
	for _, tt := range []struct {
		contexts int
		encoding string
		status   int
	}{{100, "identity", 200}, {1_000, "identity", 413}, {1_000, "gzip", 200}, {4_900, "gzip", 413}} {
		body := `{"environments":["development"],"context":{"appName":"a","userId":"` + strings.Repeat("1,", tt.contexts-1) + `1"}}`
		got := s.Do(t, "POST", advanced, body, "Accept-Encoding: "+tt.encoding)
		if got.Status != tt.status {
			t.Errorf("%d contexts, Accept-Encoding %q: %d %.300s, want %d", tt.contexts, tt.encoding, got.Status, got.Body, tt.status)
		}
		if got.Status == 413 && len(apitest.Match(apitest.Failure("PayloadTooLargeError", "name fewer projects"), got.Body)) > 0 {
			t.Errorf("%d contexts: %s", tt.contexts, got.Body)
		}
	}
	// Much context for each result: it is counted too.
	body := `{"environments":["development"],"context":{"appName":"` + strings.Repeat("1,", 4_999) + `1","x":"` + strings.Repeat("x", 9_000) + `"}}`
	if got := s.Do(t, "POST", advanced, body, "Accept-Encoding: gzip"); got.Status != 413 {
		t.Errorf("a long context: %d %.300s, want 413", got.Status, got.Body)
	}
}
