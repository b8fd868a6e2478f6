package metrics_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"guidon/pkg/aggregate"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/serving"
	"guidon/pkg/usage"
)

// A reporter sends what applications report to the same store that a server reads.
type reporter struct {
	*apitest.Server
	reports http.Handler
}

func newReporter(s *apitest.Server) reporter {
	config := httpapi.Config{Limits: flags.DefaultLimits()}
	reader := serving.NewReader(s.Store, serving.OptionsOf(config))
	return reporter{s, httpapi.New(s.Store, httpapi.Join(ingest.Groups(s.Store, reader, config)...), config)}
}

// report posts a body with a token.
func (r reporter) report(t *testing.T, path, token, body string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("Authorization", token)
	request.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if r.reports.ServeHTTP(w, request); w.Code >= 300 {
		t.Fatalf("POST %s: %d %s", path, w.Code, w.Body)
	}
}

// register and evaluate post a registration, and how often flags were on and off.
func (r reporter) register(t *testing.T, token, application, instance, sdk, strategies string) {
	t.Helper()
	r.report(t, "/api/client/register", token, fmt.Sprintf(
		`{"appName":%q,"instanceId":%q,"sdkVersion":%q,"strategies":%s,"started":%q,"interval":15}`, application, instance, sdk, strategies, aTime))
}

func (r reporter) evaluate(t *testing.T, token, application, instance, toggles string) {
	t.Helper()
	r.report(t, "/api/client/metrics", token, fmt.Sprintf(
		`{"appName":%q,"instanceId":%q,"bucket":{"start":%q,"stop":%q,"toggles":%s}}`, application, instance, aTime, aTime, toggles))
}

const aTime = "2026-11-22T14:50:00.000Z"

// aggregate adds all reports to the sums: a run adds those that were received before its millisecond.
func (r reporter) aggregate(t *testing.T) {
	t.Helper()
	time.Sleep(time.Millisecond)
	if _, err := aggregate.New(r.Store, aggregate.Settings{}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestUsage reports usage as SDKs do, adds it up, and reads it. The reports are those that Unleash 5.12.8 was fed with to record its
// answers; docs/from-unleash.md has the differences.
func TestUsage(t *testing.T) {
	t.Parallel()
	if left := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); left < 20*time.Second {
		time.Sleep(left) // the current hour is about to end
	}
	r := newReporter(apitest.Serve(t))
	r.Must(t, "POST", apitest.Projects, `{"id":"p2"}`)
	r.Create(t, "f-a", "f-b")
	r.Must(t, "PUT", apitest.Features+"/f-a/variants", `[{"name":"v1","weight":500},{"name":"v2","weight":500}]`)
	r.Must(t, "POST", apitest.Projects+"/p2/features", `{"name":"f-p2"}`)
	segment := r.AddSegment(t, `{"name":"office","constraints":[{"contextName":"remoteAddress","operator":"IN_CIDR","values":["10.0.0.0/8"]}]}`)
	r.AddStrategy(t, "f-a", fmt.Sprintf(`{"name":"default","segments":[%s],"constraints":[{"contextName":"email","operator":"REGEX","value":"a"},`+
		`{"contextName":"userId","operator":"IN","values":["1"]},{"contextName":"email","operator":"REGEX","value":"b"}]}`, segment))
	token := func(name, environment, projects string) string {
		return r.APIToken(t, fmt.Sprintf(`{"tokenName":%q,"type":"client","environment":%q,"projects":[%s]}`, name, environment, projects))
	}
	dev, prod, all := token("dev", "development", `"default"`), token("prod", "production", `"default"`), token("all", "development", `"*"`)
	p2 := token("p2", "development", `"p2"`)

	r.register(t, dev, "app-reg", "i1", "unleash-client-node:4.0.0", `["default","custom-x"]`)
	r.register(t, prod, "app-reg", "i2", "unleash-client-node:6.0.0", `["default"]`)
	r.register(t, p2, "app-reg", "i3", "unleash-client-node:6.1.0", `["default"]`)
	r.register(t, all, "app-all", "i1", "unleash-client-java:8.0.0", `[]`)
	r.evaluate(t, dev, "app-reg", "i1", `{"f-a":{"yes":5,"no":2,"variants":{"v1":3,"v2":2}},"f-b":{"yes":0,"no":0},"missing":{"yes":1,"no":0}}`)
	r.evaluate(t, prod, "app-reg", "i2", `{"f-a":{"yes":50,"no":0}}`)
	r.evaluate(t, p2, "app-reg", "i3", `{"f-p2":{"yes":1,"no":1},"f-a":{"yes":1000,"no":0}}`) // the token is not for the project of f-a
	r.evaluate(t, all, "app-all", "i1", `{"f-a":{"yes":7,"no":0,"variants":{"v1":7}},"f-p2":{"yes":1,"no":0}}`)
	r.aggregate(t)

	hour := time.Now().UTC().Truncate(time.Hour)
	row := func(environment, application string, at time.Time, rest string) string {
		return fmt.Sprintf(`{"featureName":"f-a","appName":%q,"environment":%q,"timestamp":%q,%s}`, application, environment, stamp(at), rest)
	}
	rowsAt := func(at time.Time, devAll, devReg, prodAll, prodReg string) string {
		return strings.Join([]string{
			row("development", "app-all", at, devAll), row("development", "app-reg", at, devReg),
			row("production", "app-all", at, prodAll), row("production", "app-reg", at, prodReg),
		}, ",")
	}
	const none = `"yes":0,"no":0`
	now := func(at time.Time) string {
		return rowsAt(at, `"yes":7,"no":0,"variants":{"v1":7}`, `"yes":5,"no":2,"variants":{"v1":3,"v2":2}`, none, `"yes":50,"no":0,"variants":{}`)
	}
	const clientMetrics = "/api/admin/client-metrics/features/"
	list := func(rows string) string { return `{"version":1,"maturity":"stable","data":[` + rows + `]}` }
	fa, fp2 := `{"name":"f-a","type":"release","description":"<any>","project":"default","createdAt":"<time>","lastSeenAt":"<time>","stale":false,"impressionData":false,"archived":false}`, `{"name":"f-p2","type":"release","description":"","project":"p2","createdAt":"<time>","lastSeenAt":"<time>","stale":false,"impressionData":false,"archived":false}`
	instance := func(environment, id, sdk string) string {
		return fmt.Sprintf(`{"appName":"app-reg","environment":%q,"instanceId":%q,"sdkVersion":%q,"clientIp":"192.0.2.1","lastSeen":"<time>","createdAt":"<time>"}`, environment, id, sdk)
	}
	about := `"createdAt":"<time>","updatedAt":"<time>","createdBy":null,"description":null,"url":null,"color":null,"icon":null`
	r.Run(t, []apitest.Call{
		{"the current hour", "GET", clientMetrics + "f-a", "", 200, fmt.Sprintf(`{"version":1,"maturity":"stable","featureName":"f-a","lastHourUsage":[`+
			`{"environment":"development","timestamp":%[1]q,"yes":12,"no":2},{"environment":"production","timestamp":%[1]q,"yes":50,"no":0}],`+
			`"seenApplications":["app-all","app-reg"]}`, stamp(hour))},
		{"an unknown flag", "GET", clientMetrics + "missing", "", 200, `{"version":1,"maturity":"stable","featureName":"missing","lastHourUsage":[],"seenApplications":[]}`},
		{"its rows", "GET", clientMetrics + "missing/raw", "", 200, list("")},
		{"a flag that was never evaluated", "GET", clientMetrics + "f-b/raw", "", 200, list("")},
		{"rows of one hour", "GET", clientMetrics + "f-a/raw?hoursBack=1", "", 200, list(now(hour))},
		{"rows of two hours", "GET", clientMetrics + "f-a/raw?hoursBack=2", "", 200, list(rowsAt(hour.Add(-time.Hour), none, none, none, none) + "," + now(hour))},
		{"rows of three days", "GET", clientMetrics + "f-a/raw?hoursBack=49", "", 200, list(
			rowsAt(hour.Truncate(24*time.Hour).AddDate(0, 0, -2), none, none, none, none) + "," +
				rowsAt(hour.Truncate(24*time.Hour).AddDate(0, 0, -1), none, none, none, none) + "," + now(hour.Truncate(24*time.Hour)))},

		{"applications", "GET", apitest.Applications, "", 200, `{"applications":[{"appName":"app-all",` + about + `,"strategies":[],"usage":[{"project":"*","environments":["development"]}]},` +
			`{"appName":"app-reg",` + about + `,"strategies":["custom-x","default"],"usage":[{"project":"default","environments":["development","production"]},{"project":"p2","environments":["development"]}]}],"total":2}`},
		{"applications by name", "GET", apitest.Applications + "?query=REG&limit=5", "", 200, `{"applications":[{"appName":"app-reg","...":0}],"total":1}`},
		{"wildcards are text", "GET", apitest.Applications + "?query=%25", "", 200, `{"applications":[],"total":0}`},
		{"the last page, backwards", "GET", apitest.Applications + "?sortOrder=desc&offset=1&limit=1", "", 200, `{"applications":[{"appName":"app-all","...":0}],"total":2}`},
		{"one application", "GET", apitest.Applications + "/app-reg", "", 200, `{"appName":"app-reg",` + about + `,"strategies":[{"name":"custom-x","notFound":true},{"name":"default","displayName":"<any>","description":"<any>"}],` +
			`"instances":"<any>","seenToggles":[` + fa + `,` + fp2 + `,{"name":"missing","notFound":true}],"links":{"self":"/api/admin/metrics/applications/app-reg"}}`},
		{"an unknown application", "GET", apitest.Applications + "/none", "", 404, apitest.Anything},
		{"its overview", "GET", apitest.Applications + "/none/overview", "", 404, apitest.Anything},
		{"an overview", "GET", apitest.Applications + "/app-reg/overview", "", 200, `{"projects":["default","p2"],"featureCount":3,"environments":[` +
			`{"name":"development","instanceCount":2,"sdks":["unleash-client-node:4.0.0","unleash-client-node:6.1.0"],"lastSeen":"<time>","issues":{"missingFeatures":["missing"],"outdatedSdks":["unleash-client-node:4.0.0"],"unknownOperators":[]}},` +
			`{"name":"production","instanceCount":1,"sdks":["unleash-client-node:6.0.0"],"lastSeen":"<time>","issues":{"missingFeatures":[],"outdatedSdks":[],"unknownOperators":[]}}],"issues":{"missingStrategies":["custom-x"]}}`},
		{"operators that an SDK does not know", "GET", apitest.Applications + "/app-all/overview", "", 200, `{"...":0,"environments":[{"...":0,"issues":{"...":0,` +
			`"unknownOperators":[{"featureName":"f-a","operator":"REGEX"},{"featureName":"f-a","operator":"IN_CIDR"}]}}]}`},
		{"instances", "GET", "/api/admin/metrics/instances/app-reg/environment/production", "", 200,
			`{"instances":[{"instanceId":"i2","sdkVersion":"unleash-client-node:6.0.0","clientIp":"192.0.2.1","lastSeen":"<time>"}]}`},
		{"instances of no environment", "GET", "/api/admin/metrics/instances/app-reg/environment/none", "", 200, `{"instances":[]}`},
		{"an environment that is not a name", "GET", "/api/admin/metrics/instances/app-reg/environment/a%20b", "", 404, apitest.NotFound("there is no environment")},
		{"outdated SDKs", "GET", "/api/admin/metrics/sdks/outdated", "", 200,
			`{"sdks":[{"sdkVersion":"unleash-client-java:8.0.0","applications":["app-all"]},{"sdkVersion":"unleash-client-node:4.0.0","applications":["app-reg"]}]}`},
		{"applications of a project", "GET", apitest.Project + "/applications", "", 200, `{"applications":[` +
			`{"name":"app-all","environments":["development"],"instances":["i1"],"sdks":[{"name":"unleash-client-java","versions":["8.0.0"]}]},` +
			`{"name":"app-reg","environments":["development","production"],"instances":["i1","i2","i3"],"sdks":[{"name":"unleash-client-node","versions":["4.0.0","6.0.0","6.1.0"]}]}],"total":2}`},
		{"of another project", "GET", apitest.Projects + "/p2/applications?query=NODE", "", 200, `{"applications":[` +
			`{"name":"app-reg","environments":["development"],"instances":["i1","i3"],"sdks":[{"name":"unleash-client-node","versions":["4.0.0","6.1.0"]}]}],"total":1}`},
		{"a page of them", "GET", apitest.Project + "/applications?limit=1&offset=1", "", 200, `{"applications":[{"name":"app-reg","...":0}],"total":2}`},

		{"insights", "GET", apitest.Project + "/insights", "", 200, `{"stats":{"createdCurrentWindow":2,"...":0},"health":{"rating":100,"activeCount":2,"potentiallyStaleCount":0,"staleCount":0},` +
			`"leadTime":{"projectAverage":0,"features":[{"name":"f-a","timeToProduction":0}]},"featureTypeCounts":[{"type":"release","count":2}],"members":{"currentMembers":0,"change":0}}`},
		{"the lifecycle", "GET", apitest.Features + "/f-a/lifecycle", "", 200, `[{"stage":"initial","enteredStageAt":"<time>"},{"stage":"pre-live","enteredStageAt":"<time>"},{"stage":"live","enteredStageAt":"<time>"}]`},
		{"the lifecycle before production", "GET", apitest.Projects + "/p2/features/f-p2/lifecycle", "", 200, `[{"stage":"initial","enteredStageAt":"<time>"},{"stage":"pre-live","enteredStageAt":"<time>"}]`},

		{"describe", "POST", apitest.Applications + "/app-reg", `{"description":"d","icon":"i"}`, 202, ""},
		{"a URL that runs a script", "POST", apitest.Applications + "/app-reg", `{"url":"JavaScript:alert(1)"}`, 400, apitest.Invalid("/url")},
		{"a URL with data", "POST", apitest.Applications + "/app-new", `{"url":"data:text/html,a"}`, 400, apitest.Invalid("/url")},
		{"a URL, and none", "POST", apitest.Applications + "/app-reg", `{"url":"https://example.com/a:b"}`, 202, ""},
		{"no URL", "POST", apitest.Applications + "/app-reg", `{"url":""}`, 202, ""},
		{"describe more", "POST", apitest.Applications + "/app-reg", `{"icon":null,"color":"red","appName":"ignored"}`, 202, ""},
		{"what was said", "GET", apitest.Applications + "?query=reg", "", 200, `{"applications":[{"appName":"app-reg","description":"d","color":"red","icon":null,"...":0}],"total":1}`},
		{"not an object", "POST", apitest.Applications + "/app-reg", `[]`, 400, apitest.Anything},
	})
	for _, in := range []string{instance("development", "i1", "unleash-client-node:4.0.0"), instance("production", "i2", "unleash-client-node:6.0.0")} {
		found := apitest.Decode[struct{ Instances []map[string]any }](t, r.Must(t, "GET", apitest.Applications+"/app-reg", "").Body)
		matches := 0
		for _, i := range found.Instances {
			if document, err := json.Marshal(i); err == nil && len(apitest.Match(in, string(document))) == 0 {
				matches++
			}
		}
		if matches != 1 || len(found.Instances) != 3 {
			t.Errorf("%d instances %v, want 3, with one like %s", len(found.Instances), found.Instances, in)
		}
	}
	r.checkLastSeen(t)

	r.evaluate(t, p2, "app-moved", "i1", `{"f-p2":{"yes":1,"no":0}}`)
	r.aggregate(t)
	r.Must(t, "POST", apitest.Projects+"/p2/features/f-p2/changeProject", `{"newProjectId":"default"}`)
	r.Check(t, apitest.Call{"a flag that moved, before the next report", "GET", apitest.Project + "/applications?query=app-moved", "", 200, `{"applications":[],"total":0}`})
	r.evaluate(t, all, "app-moved", "i1", `{"f-p2":{"yes":1,"no":0}}`)
	r.aggregate(t)
	r.Check(t, apitest.Call{"a flag that moved", "GET", apitest.Project + "/applications?query=app-moved", "", 200,
		`{"applications":[{"name":"app-moved","environments":["development"],"instances":["i1"],"sdks":[]}],"total":1}`})

	r.Must(t, "DELETE", apitest.Applications+"/app-reg", "")
	if left, err := r.Store.Load(t.Context(), []flags.Key{usage.ApplicationNamesKey("app-reg"), usage.InstancesKey("app-reg", "development"), usage.InstancesKey("app-reg", "production")}); len(left) > 0 || err != nil {
		t.Errorf("a deleted application leaves %v (%v)", left, err)
	}
	r.Run(t, []apitest.Call{
		{"a deleted application", "GET", apitest.Applications + "/app-reg", "", 404, apitest.Anything},
		{"its instances", "GET", "/api/admin/metrics/instances/app-reg/environment/production", "", 200, `{"instances":[]}`},
		{"its usage stays", "GET", clientMetrics + "f-a/raw?hoursBack=1", "", 200, list(now(hour))},
	})
	r.evaluate(t, prod, "app-reg", "i2", `{"f-a":{"yes":1,"no":0}}`)
	r.aggregate(t)
	r.Check(t, apitest.Call{"it reported again", "GET", apitest.Applications + "/app-reg/overview", "", 200, `{"projects":["default"],"featureCount":1,"environments":[{"name":"production","...":0}],"issues":{"missingStrategies":[]}}`})
}

// TestRecreatedApplication describes, deletes and creates an application again: its events do not get in each other's way.
func TestRecreatedApplication(t *testing.T) {
	t.Parallel()
	r := newReporter(apitest.Serve(t))
	for range 3 {
		r.Must(t, "POST", apitest.Applications+"/again", "")
		r.Must(t, "POST", apitest.Applications+"/again", `{"description":"d"}`)
		r.Must(t, "DELETE", apitest.Applications+"/again", "")
	}
	client := r.APIToken(t, `{"tokenName":"t","type":"client","environment":"development"}`)
	r.evaluate(t, client, "again", "i", `{"nosuch":{"yes":1,"no":0}}`)
	r.aggregate(t)
	r.Must(t, "POST", apitest.Applications+"/again", `{"description":"d"}`)
	r.Check(t, apitest.Call{"created by its report", "GET", apitest.Applications + "/again", "", 200, `{"appName":"again","description":"d","createdBy":null,"...":0}`})
}

// stamp is a time as answers have it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// checkLastSeen checks that f-a was seen in both environments, and f-b in none, in every answer that tells it.
func (r reporter) checkLastSeen(t *testing.T) {
	t.Helper()
	type environment struct {
		Name       string
		LastSeenAt *time.Time
	}
	type feature struct {
		Name         string
		LastSeenAt   *time.Time
		Environments []environment
	}
	type answer struct{ Features []feature }
	answers := map[string][]feature{
		"list":          apitest.Decode[answer](t, r.Must(t, "GET", apitest.Features, "").Body).Features,
		"search":        apitest.Decode[answer](t, r.Must(t, "GET", "/api/admin/search/features?project=IS:default", "").Body).Features,
		"project":       apitest.Decode[answer](t, r.Must(t, "GET", apitest.Project, "").Body).Features,
		"health report": apitest.Decode[answer](t, r.Must(t, "GET", apitest.Project+"/health-report", "").Body).Features,
		"read":          {apitest.Decode[feature](t, r.Must(t, "GET", apitest.Features+"/f-a", "").Body), apitest.Decode[feature](t, r.Must(t, "GET", apitest.Features+"/f-b", "").Body)},
	}
	for name, list := range answers {
		if len(list) != 2 {
			t.Errorf("%s: %d flags, want 2", name, len(list))
		}
		for _, f := range list {
			used := f.Name == "f-a"
			if used != (f.LastSeenAt != nil) {
				t.Errorf("%s: %s was last seen at %v", name, f.Name, f.LastSeenAt)
			}
			for _, e := range f.Environments {
				if want := used && (e.Name == "development" || e.Name == "production"); want != (e.LastSeenAt != nil) {
					t.Errorf("%s: %s was last seen in %s at %v", name, f.Name, e.Name, e.LastSeenAt)
				}
			}
		}
	}
}
