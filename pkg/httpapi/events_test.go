package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	log       = "/api/admin/events"
	searchLog = "/api/admin/search/events"
)

// A logEvent is an event as the log answers it.
type logEvent struct {
	ID                                int64
	Type, CreatedBy                   string
	CreatedByUserID                   *int64
	CreatedAt                         time.Time
	Data, PreData                     map[string]any
	FeatureName, Project, Environment *string
}

// events reads every page at a path, newest first.
func (s *server) log(t *testing.T, path string, headers ...string) []logEvent {
	t.Helper()
	var all []logEvent
	for at := path; ; {
		var page struct {
			Events []logEvent
			Next   *string
		}
		got := s.do(t, "GET", at, "", headers...)
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 {
			t.Fatalf("GET %s: %d %.300s (%v), want a page", at, got.status, got.body, err)
		}
		if all = append(all, page.Events...); page.Next == nil {
			return all
		}
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		at = path + mark + "cursor=" + url.QueryEscape(*page.Next)
	}
}

// kinds are the types of events, newest first.
func kinds(events []logEvent) string {
	var list []string
	for _, e := range events {
		list = append(list, e.Type)
	}
	return strings.Join(list, " ")
}

// before does what an operation's example undoes: without it, there would be nothing to change.
var before = map[string]string{
	inEnvironment("POST", "/off"):                          inEnvironment("POST", "/on"),
	ofFlag("DELETE", "/favorites"):                         ofFlag("POST", "/favorites"),
	"POST /api/admin/archive/revive/{featureName}":         ofFlag("DELETE", ""),
	"POST /api/admin/strategies/{strategyType}/reactivate": "POST /api/admin/strategies/{strategyType}/deprecate",
}

// TestEveryChangeIsInTheLog makes every change that there is, and finds it in the log: once, with who made it, where, and
// both sides of it. Every transaction is a change, and nothing but transactions changes anything.
func TestEveryChangeIsInTheLog(t *testing.T) {
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	secrets := []string{dynamotest.AdminToken, dynamotest.ClientToken, dynamotest.FrontendToken}
	made := 0
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			on := s.another(t)
			if prepare := apart[route]; prepare != nil {
				prepare(s, t, &on)
			}
			if first, ok := before[route]; ok {
				s.check(t, on.call(first))
			}
			c := on.call(route)
			was := s.log(t, log+"?limit=1")[0].ID
			var got answer
			calls := count.during(func() { got = s.do(t, c.method, c.path, c.body) })
			if got.status != c.status {
				t.Fatalf("%s %s: %d %.300s, want %d", c.method, c.path, got.status, got.body, c.status)
			}
			transactions := len(slices.DeleteFunc(calls, func(operation string) bool { return operation != "TransactWriteItems" }))
			var page struct{ Events []logEvent }
			if err := json.Unmarshal([]byte(s.must(t, "GET", log, "").body), &page); err != nil {
				t.Fatal(err)
			}
			news := slices.DeleteFunc(page.Events, func(e logEvent) bool { return e.ID <= was })
			if len(news) != transactions || c.method == "GET" && len(news) > 0 {
				t.Errorf("%d transactions have left the events %q, want one each, and none for reading", transactions, kinds(news))
			}
			for _, e := range news {
				checkEvent(t, route, on, e)
			}
			made += len(news)
			for _, secret := range []string{on.secret, secretIn(got.body)} {
				if len(secret) > len("client") {
					secrets = append(secrets, secret)
				}
			}
		})
	}
	if made < 60 {
		t.Errorf("%d changes were made, want one for most operations", made)
	}
	checkLogWhole(t, s, secrets)
}

// checkEvent sees that an event says who, where, and what.
func checkEvent(t *testing.T, route string, on subject, e logEvent) {
	t.Helper()
	text, _ := json.Marshal(e)
	if e.Type == "" || e.CreatedBy != "admin" || e.CreatedByUserID != nil || time.Since(e.CreatedAt) > time.Minute {
		t.Errorf("the event %s does not say what was done, by the token admin, and when", text)
	}
	method, _, _ := strings.Cut(route, " ")
	missing := e.Data == nil && e.PreData == nil
	if method == "PUT" || method == "PATCH" {
		missing = e.Data == nil || e.PreData == nil
	}
	if data, _ := json.Marshal(e.Data); missing || string(data) == fmt.Sprint(e.PreData) {
		t.Errorf("the event %s does not tell what was changed", text)
	}
	for _, place := range []struct {
		parameter, want string
		got             *string
	}{
		{"{projectId}", on.project, e.Project}, {"{featureName}", on.flag, e.FeatureName}, {"{environment}", on.environment, e.Environment},
		{"{environmentName}", on.environment, e.Environment},
	} {
		if strings.Contains(route, place.parameter) && (place.got == nil || *place.got != place.want) {
			t.Errorf("the event %s does not name %s, %q", text, place.parameter, place.want)
		}
	}
}

// checkLogWhole sees that the log has every event of the table, and no secret, nor what a secret is found or kept by.
func checkLogWhole(t *testing.T, s *server, secrets []string) {
	t.Helper()
	all := s.log(t, log+"?limit=1000")
	table := dynamotest.Scan(t, s.store)
	if items := strings.Count(table, `"EVENT#`); len(all) != items || items == 0 {
		t.Errorf("the log has %d events, and the table %d", len(all), items)
	}
	for i, e := range all[1:] {
		if e.ID >= all[i].ID {
			t.Errorf("the event %d, %s, comes after %d, want newest first", e.ID, e.Type, all[i].ID)
		}
	}
	if len(secrets) < 10 {
		t.Fatalf("%d secrets were made, want more to look for", len(secrets))
	}
	text, _ := json.Marshal(all)
	for _, secret := range secrets {
		for _, form := range []string{secret, secret[strings.LastIndexAny(secret, ".:")+1:], flags.HashSecret(secret)} {
			if strings.Contains(string(text), form) {
				t.Errorf("the log shows %q", form)
			}
		}
	}
	if strings.Contains(strings.ToLower(string(text)), "sealed") {
		t.Error("the log shows what is sealed")
	}
}
