package admin_test

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
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const ()

// before is the request without which an operation's example would change nothing.
var before = map[string]string{
	inEnvironment("POST", "/off"):                          inEnvironment("POST", "/on"),
	inEnvironment("POST", resuming):                        inEnvironment("POST", aPlan+"/pause"),
	"POST /api/admin/archive/revive/{featureName}":         ofFlag("DELETE", ""),
	"POST /api/admin/strategies/{strategyType}/reactivate": "POST /api/admin/strategies/{strategyType}/deprecate",
}

// TestEveryChangeIsInTheLog runs every operation that changes something, and finds the change in the log once, with the
// caller, the place, and the state before and after. Each transaction has one event, and reads have none.
func TestEveryChangeIsInTheLog(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	secrets := []string{dynamotest.AdminToken, dynamotest.ClientToken, dynamotest.FrontendToken}
	made := 0
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			on := newSubject(t, s)
			if prepare := preparations[route]; prepare != nil {
				prepare(t, s, &on)
			}
			if first, ok := before[route]; ok {
				s.Check(t, on.call(first))
			}
			c := on.call(route)
			was := s.Newest(t)[0].ID
			var got apitest.Answer
			calls := count.During(func() { got = s.Do(t, c.Method, c.Path, c.Body) })
			if got.Status != c.Status {
				t.Fatalf("%s %s: %d %.300s, want %d", c.Method, c.Path, got.Status, got.Body, c.Status)
			}
			transactions := len(slices.DeleteFunc(calls, func(operation string) bool { return operation != "TransactWriteItems" }))
			news := slices.DeleteFunc(s.Newest(t), func(e apitest.LogEvent) bool { return e.ID <= was })
			further := len(slices.DeleteFunc(slices.Clone(news), func(e apitest.LogEvent) bool { // beside that of the operation
				return (e.Type != "change-added" || len(news) == 1)
			}))
			if len(news)-further != transactions || c.Method == http.MethodGet && len(news) > 0 {
				t.Errorf("%d transactions created the events %+v, want one each, and none for reading", transactions, news)
			}
			for _, e := range news {
				checkEvent(t, route, on, e)
			}
			made += len(news)
			for _, secret := range []string{on.secret, apitest.SecretIn(got.Body)} {
				if len(secret) > len("client") {
					secrets = append(secrets, secret)
				}
			}
		})
	}
	if made < 60 {
		t.Errorf("%d changes were made, want at least 60", made)
	}
	checkCompleteLog(t, s, secrets)
}

// elsewhere has the operations whose event is not about a name of the path: a clone, and a flag in its new project.
var elsewhere = map[string]string{
	ofFlag("POST", "/clone"):                             "{featureName}",
	ofFlag("POST", "/changeProject"):                     "{projectId}",
	"POST /api/admin/projects/{projectId}/changeProject": "{projectId}",
}

// checkEvent checks the caller, the place and the content of an event.
func checkEvent(t *testing.T, route string, on subject, e apitest.LogEvent) {
	t.Helper()
	text, _ := json.Marshal(e)
	author := int64(flags.TokenUserID)
	if route == "POST /auth/link" {
		author = 1 // who signed in
	}
	if e.Type == "" || e.CreatedBy != "admin" || e.CreatedByUserID == nil || *e.CreatedByUserID != author || time.Since(e.CreatedAt) > time.Minute {
		t.Errorf("the event %s lacks the type, the author admin or the time", text)
	}
	method, _, _ := strings.Cut(route, " ")
	missing := e.Data == nil && e.PreData == nil
	if (method == "PUT" || method == "PATCH") && !strings.Contains(route, "{changeRequestId}") { // those of a request tell what it is now
		missing = e.Data == nil || e.PreData == nil
	}
	if data, _ := json.Marshal(e.Data); missing || string(data) == fmt.Sprint(e.PreData) {
		t.Errorf("the event %s does not show what was changed", text)
	}
	for _, place := range []struct {
		parameter, want string
		got             *string
	}{
		{"{projectId}", on.project, e.Project}, {"{featureName}", on.flag, e.FeatureName}, {"{environment}", on.environment, e.Environment},
		{"{environmentName}", on.environment, e.Environment},
	} {
		if strings.Contains(route, place.parameter) && elsewhere[route] != place.parameter && (place.got == nil || *place.got != place.want) {
			t.Errorf("the event %s lacks %s, %q", text, place.parameter, place.want)
		}
	}
}

// checkCompleteLog checks that the log has every event of the table, and no secret, hash or sealed form of one.
func checkCompleteLog(t *testing.T, s *apitest.Server, secrets []string) {
	t.Helper()
	all := s.Log(t, apitest.EventLog+"?limit=1000")
	table := dynamotest.Scan(t, s.Store)
	if items := strings.Count(table, `"EVENT#`); len(all) != items || items == 0 {
		t.Errorf("the log has %d events, the table has %d", len(all), items)
	}
	for i, e := range all[1:] {
		if e.ID >= all[i].ID {
			t.Errorf("the event %d, %s, comes after %d, want newest first", e.ID, e.Type, all[i].ID)
		}
	}
	if len(secrets) < 10 {
		t.Fatalf("%d secrets were created, want at least 10", len(secrets))
	}
	text, _ := json.Marshal(all)
	for _, secret := range secrets {
		for _, form := range []string{secret, secret[strings.LastIndexAny(secret, ".:")+1:], access.HashSecret(secret)} {
			if strings.Contains(string(text), form) {
				t.Errorf("the log shows %q", form)
			}
		}
	}
	if strings.Contains(strings.ToLower(string(text)), "sealed") {
		t.Error("the log shows a sealed secret")
	}
}
