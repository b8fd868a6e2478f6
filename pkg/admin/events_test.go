package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const (
	log       = "/api/admin/events"
	searchLog = "/api/admin/search/events"
)

// A logEvent is an event in an answer.
type logEvent struct {
	ID                                int64
	Type, CreatedBy                   string
	CreatedByUserID                   *int64
	CreatedAt                         time.Time
	Data, PreData                     map[string]any
	FeatureName, Project, Environment *string
}

// newest returns the first page of the log.
func (s *server) newest(t *testing.T) []logEvent {
	t.Helper()
	var page struct{ Events []logEvent }
	if err := json.Unmarshal([]byte(s.must(t, "GET", log, "").body), &page); err != nil {
		t.Fatal(err)
	}
	return page.Events
}

// log reads all pages of a path, newest events first.
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

// before is the request without which an operation's example would change nothing.
var before = map[string]string{
	inEnvironment("POST", "/off"):                          inEnvironment("POST", "/on"),
	"POST /api/admin/archive/revive/{featureName}":         ofFlag("DELETE", ""),
	"POST /api/admin/strategies/{strategyType}/reactivate": "POST /api/admin/strategies/{strategyType}/deprecate",
}

// TestEveryChangeIsInTheLog runs every operation that changes something, and finds the change in the log once, with the
// caller, the place, and the state before and after. Each transaction has one event, and reads have none.
func TestEveryChangeIsInTheLog(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	secrets := []string{dynamotest.AdminToken, dynamotest.ClientToken, dynamotest.FrontendToken}
	made := 0
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			on := s.newSubject(t)
			if prepare := preparations[route]; prepare != nil {
				prepare(s, t, &on)
			}
			if first, ok := before[route]; ok {
				s.check(t, on.call(first))
			}
			c := on.call(route)
			was := s.newest(t)[0].ID
			var got answer
			calls := count.during(func() { got = s.do(t, c.method, c.path, c.body) })
			if got.status != c.status {
				t.Fatalf("%s %s: %d %.300s, want %d", c.method, c.path, got.status, got.body, c.status)
			}
			transactions := len(slices.DeleteFunc(calls, func(operation string) bool { return operation != "TransactWriteItems" }))
			news := slices.DeleteFunc(s.newest(t), func(e logEvent) bool { return e.ID <= was })
			further := len(slices.DeleteFunc(slices.Clone(news), func(e logEvent) bool { // beside that of the operation
				return (e.Type != "change-added" || len(news) == 1)
			}))
			if len(news)-further != transactions || c.method == "GET" && len(news) > 0 {
				t.Errorf("%d transactions created the events %q, want one each, and none for reading", transactions, kinds(news))
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
func checkEvent(t *testing.T, route string, on subject, e logEvent) {
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
func checkCompleteLog(t *testing.T, s *server, secrets []string) {
	t.Helper()
	all := s.log(t, log+"?limit=1000")
	table := dynamotest.Scan(t, s.store)
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

// TestReadLog reads the log with the query forms of Unleash.
func TestReadLog(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.must(t, "POST", "/api/admin/projects/shop/features", `{"name":"basket"}`)
	s.enabled(t, "checkout")
	s.apiToken(t, `{"tokenName":"a","type":"client"}`)
	user, header := s.person(t, access.RoleEditor)
	s.must(t, "PUT", fmt.Sprint(people, "/", user), `{"name":"Bo Berg","email":"bo@example.com"}`)
	s.check(t, call{"an editor", "DELETE", features + "/checkout", "", 202, ""}, header)
	const ofFlag = "feature-archived feature-environment-enabled feature-strategy-add feature-created"
	today := time.Now().UTC().Format(time.DateOnly)
	for _, tt := range []struct{ name, path, want string }{
		{"a flag", log + "/checkout", ofFlag},
		{"a flag that never existed", log + "/nosuch", ""},
		{"a flag, by type", log + "/checkout?type=feature-created", "feature-created"},
		{"search by a flag", searchLog + "?feature=IS:checkout", ofFlag},
		{"a bare value", searchLog + "?feature=checkout", ofFlag},
		{"two flags", searchLog + "?feature=IS_ANY_OF:checkout,basket&type=IS:feature-created", "feature-created feature-created"},
		{"a project", log + "?project=shop", "feature-created project-created"},
		{"a project by search", searchLog + "?project=IS:shop", "feature-created project-created"},
		{"types", searchLog + "?type=IS_ANY_OF:feature-archived,%20api-token-created&from=" + today, "feature-archived api-token-created api-token-created api-token-created api-token-created"},
		{"an environment", searchLog + "?environment=IS:development&query=checkout", "feature-environment-enabled feature-strategy-add"},
		{"a user's id", searchLog + fmt.Sprintf("?createdBy=IS:%d", user), "feature-archived"},
		{"a user's name", searchLog + fmt.Sprintf("?createdBy=person-%d", user), "feature-archived"},
		{"the name that people know a user by", searchLog + "?createdBy=IS:bo%20berg", "feature-archived"},
		{"an e-mail address, and a token", searchLog + "?createdBy=IS_ANY_OF:bo@example.com,nosuch", "feature-archived"},
		{"a part of a name", searchLog + "?createdBy=IS:Bo", ""},
		{"from today until today", searchLog + "?feature=checkout&createdAtFrom=IS:" + today + "&createdAtTo=IS:" + today, ofFlag},
		{"until yesterday", log + "?to=" + time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), ""},
		{"from tomorrow", log + "?from=" + time.Now().UTC().Add(24*time.Hour).Format(time.RFC3339), ""},
		{"an offset of 0", searchLog + "?offset=0&limit=1&query=basket", "feature-created"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := kinds(s.log(t, tt.path)); got != tt.want {
				t.Errorf("GET %s has %q, want %q", tt.path, got, tt.want)
			}
		})
	}
	archived := fmt.Sprintf(`{"id":"<any>","type":"feature-archived","createdBy":"person-%[1]d","createdByUserId":%[1]d,"createdByName":"Bo Berg","createdAt":"<time>",`+
		`"data":{"archived":true},"preData":{"archived":false},"featureName":"checkout","project":"default","environment":null,"tags":[]}`, user)
	s.run(t, []call{
		{"a page of the log", "GET", log + "?limit=1", "", 200, `{"version":1,"events":[` + archived + `],"next":"<any>"}`},
		{"the log of a flag", "GET", log + "/checkout?type=feature-archived", "", 200, `{"version":1,"toggleName":"checkout","events":[` + archived + `],"next":null,"totalEvents":1}`},
		{"a page of a search", "GET", searchLog + "?type=feature-archived", "", 200, `{"events":[` + archived + `],"next":null,"totalEvents":1}`},
	})
	whole := s.do(t, "GET", log, "").body
	for _, limit := range []string{"0", "1001", "1e3", "-1", ""} {
		s.check(t, call{"a limit out of range is the default", "GET", log + "?limit=" + limit, "", 200, whole})
	}
	for name, query := range map[string]string{
		"an offset": "offset=100", "a cursor": "cursor=abc",
		"an invalid day": "from=yesterday", "no value": "type=IS:", "an empty value": "project=IS_ANY_OF:a,,b", "too many values": "",
		"a long value": "project=" + strings.Repeat("a", 300), "a long text": "query=" + strings.Repeat("a", 300),
		"invalid UTF-8": "query=%ff", "half a surrogate pair": "query=%ed%a0%80",
	} {
		if name == "too many values" { // different values
			var list []string
			for i := range 101 {
				list = append(list, fmt.Sprint("t-", i))
			}
			query = "type=IS_ANY_OF:" + strings.Join(list, ",")
		}
		for _, path := range []string{log, searchLog, log + "/checkout"} {
			checkFailure(t, s.do(t, "GET", path+"?"+query, ""), 400, "ValidationError")
		}
	}
	checkFailure(t, s.do(t, "GET", log+"/checkout?feature=basket", ""), 400, "ValidationError")
	checkFailure(t, s.do(t, "GET", log+"/no%20name", ""), 404, "NotFoundError")
	if got := s.do(t, "GET", log+"?offset=100", ""); !strings.Contains(got.body, "cursor") {
		t.Errorf("%s does not mention the cursor", got.body)
	}
}

// TestLogPermissions checks that only administrators see events of tokens, users, roles and access, and that all callers who can
// read see the others.
func TestLogPermissions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", "/api/admin/projects", aShop)
	s.create(t, "checkout")
	_, viewer := s.person(t, access.RoleViewer)
	owner := as(s.account(t, "3", map[string]string{"shop": "4"}))
	s.must(t, "POST", "/api/admin/roles", `{"name":"r","permissions":[]}`)
	s.apiToken(t, `{"tokenName":"a","type":"client","project":"shop"}`)
	words := []string{"token", "pat-", "user", "role", "account", "access"}
	reserved := func(events []logEvent) (n int) {
		for _, e := range events {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(e.Type, word) }) {
				n++
			}
		}
		return n
	}
	all := s.log(t, log)
	for _, header := range []string{viewer, owner} {
		for _, path := range []string{log, log + "?limit=2", searchLog, searchLog + "?project=shop", searchLog + "?type=api-token-created", searchLog + "?query=secret"} {
			if got := s.log(t, path, header); reserved(got) > 0 {
				t.Errorf("GET %s shows %q to a caller who is not an administrator", path, kinds(got))
			}
		}
		if got := s.log(t, log, header); len(got) != len(all)-reserved(all) || len(got) == 0 || len(got) == len(all) {
			t.Errorf("%d events, want %d of the %d", len(got), len(all)-reserved(all), len(all))
		}
	}
	for _, path := range []string{log, searchLog, log + "/checkout"} {
		checkFailure(t, s.do(t, "GET", path, "", as(dynamotest.ClientToken)), 403, "NoAccessError")
		checkFailure(t, s.do(t, "GET", path, "", "Authorization:"), 401, "AuthenticationRequired")
	}
}
