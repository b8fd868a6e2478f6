package eventlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
)

const searchLog = "/api/admin/search/events"

// kinds are the types of events, newest first.
func kinds(events []apitest.LogEvent) string {
	var list []string
	for _, e := range events {
		list = append(list, e.Type)
	}
	return strings.Join(list, " ")
}

// TestReadLog reads the log with the query forms of Unleash.
func TestReadLog(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.Must(t, "POST", "/api/admin/projects/shop/features", `{"name":"basket"}`)
	s.CreateEnabled(t, "checkout")
	s.APIToken(t, `{"tokenName":"a","type":"client"}`)
	user, header := s.Person(t, access.RoleEditor)
	s.Must(t, "PUT", fmt.Sprint(apitest.Users, "/", user), `{"name":"Bo Berg","email":"bo@example.com"}`)
	s.Check(t, apitest.Call{"an editor", "DELETE", apitest.Features + "/checkout", "", 202, ""}, header)
	const ofFlag = "feature-archived feature-environment-enabled feature-strategy-add feature-created"
	today := time.Now().UTC().Format(time.DateOnly)
	for _, tt := range []struct{ name, path, want string }{
		{"a flag", apitest.EventLog + "/checkout", ofFlag},
		{"a flag that never existed", apitest.EventLog + "/nosuch", ""},
		{"a flag, by type", apitest.EventLog + "/checkout?type=feature-created", "feature-created"},
		{"search by a flag", searchLog + "?feature=IS:checkout", ofFlag},
		{"a bare value", searchLog + "?feature=checkout", ofFlag},
		{"two flags", searchLog + "?feature=IS_ANY_OF:checkout,basket&type=IS:feature-created", "feature-created feature-created"},
		{"a project", apitest.EventLog + "?project=shop", "feature-created project-created"},
		{"a project by search", searchLog + "?project=IS:shop", "feature-created project-created"},
		{"types", searchLog + "?type=IS_ANY_OF:feature-archived,%20api-token-created&from=" + today, "feature-archived api-token-created api-token-created api-token-created api-token-created"},
		{"an environment", searchLog + "?environment=IS:development&query=checkout", "feature-environment-enabled feature-strategy-add"},
		{"a user's id", searchLog + fmt.Sprintf("?createdBy=IS:%d", user), "feature-archived"},
		{"a user's name", searchLog + fmt.Sprintf("?createdBy=person-%d", user), "feature-archived"},
		{"the name that people know a user by", searchLog + "?createdBy=IS:bo%20berg", "feature-archived"},
		{"an e-mail address, and a token", searchLog + "?createdBy=IS_ANY_OF:bo@example.com,nosuch", "feature-archived"},
		{"a part of a name", searchLog + "?createdBy=IS:Bo", ""},
		{"from today until today", searchLog + "?feature=checkout&createdAtFrom=IS:" + today + "&createdAtTo=IS:" + today, ofFlag},
		{"until yesterday", apitest.EventLog + "?to=" + time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), ""},
		{"from tomorrow", apitest.EventLog + "?from=" + time.Now().UTC().Add(24*time.Hour).Format(time.RFC3339), ""},
		{"an offset of 0", searchLog + "?offset=0&limit=1&query=basket", "feature-created"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := kinds(s.Log(t, tt.path)); got != tt.want {
				t.Errorf("GET %s has %q, want %q", tt.path, got, tt.want)
			}
		})
	}
	archived := fmt.Sprintf(`{"id":"<any>","type":"feature-archived","createdBy":"person-%[1]d","createdByUserId":%[1]d,"createdByName":"Bo Berg","createdAt":"<time>",`+
		`"data":{"archived":true},"preData":{"archived":false},"featureName":"checkout","project":"default","environment":null,"tags":[]}`, user)
	s.Run(t, []apitest.Call{
		{"a page of the log", "GET", apitest.EventLog + "?limit=1", "", 200, `{"version":1,"events":[` + archived + `],"next":"<any>"}`},
		{"the log of a flag", "GET", apitest.EventLog + "/checkout?type=feature-archived", "", 200, `{"version":1,"toggleName":"checkout","events":[` + archived + `],"next":null,"totalEvents":1}`},
		{"a page of a search", "GET", searchLog + "?type=feature-archived", "", 200, `{"events":[` + archived + `],"next":null,"totalEvents":1}`},
	})
	whole := s.Do(t, "GET", apitest.EventLog, "").Body
	for _, limit := range []string{"0", "1001", "1e3", "-1", ""} {
		s.Check(t, apitest.Call{"a limit out of range is the default", "GET", apitest.EventLog + "?limit=" + limit, "", 200, whole})
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
		for _, path := range []string{apitest.EventLog, searchLog, apitest.EventLog + "/checkout"} {
			s.Check(t, apitest.Call{"", "GET", path + "?" + query, "", 400, apitest.Failure("ValidationError", "")})
		}
	}
	s.Check(t, apitest.Call{"", "GET", apitest.EventLog + "/checkout?feature=basket", "", 400, apitest.Failure("ValidationError", "")})
	s.Check(t, apitest.Call{"", "GET", apitest.EventLog + "/no%20name", "", 404, apitest.Failure("NotFoundError", "")})
	if got := s.Do(t, "GET", apitest.EventLog+"?offset=100", ""); !strings.Contains(got.Body, "cursor") {
		t.Errorf("%s does not mention the cursor", got.Body)
	}
}

// TestLogPermissions checks that only administrators see events of tokens, users, roles and access, and that all callers who can
// read see the others.
func TestLogPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.Create(t, "checkout")
	_, viewer := s.Person(t, access.RoleViewer)
	owner := apitest.As(s.Account(t, "3", map[string]string{"shop": "4"}))
	s.Must(t, "POST", "/api/admin/roles", `{"name":"r","permissions":[]}`)
	s.APIToken(t, `{"tokenName":"a","type":"client","project":"shop"}`)
	words := []string{"token", "pat-", "user", "role", "account", "access"}
	reserved := func(events []apitest.LogEvent) (n int) {
		for _, e := range events {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(e.Type, word) }) {
				n++
			}
		}
		return n
	}
	all := s.Log(t, apitest.EventLog)
	for _, header := range []string{viewer, owner} {
		for _, path := range []string{apitest.EventLog, apitest.EventLog + "?limit=2", searchLog, searchLog + "?project=shop", searchLog + "?type=api-token-created", searchLog + "?query=secret"} {
			if got := s.Log(t, path, header); reserved(got) > 0 {
				t.Errorf("GET %s shows %q to a caller who is not an administrator", path, kinds(got))
			}
		}
		if got := s.Log(t, apitest.EventLog, header); len(got) != len(all)-reserved(all) || len(got) == 0 || len(got) == len(all) {
			t.Errorf("%d events, want %d of the %d", len(got), len(all)-reserved(all), len(all))
		}
	}
}

func TestPostedEventSearch(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g")
	s.Must(t, "DELETE", apitest.Features+"/g", "")
	const path = "/api/admin/events/search"
	ofF := `{"version":1,"events":[{"...":0,"type":"feature-created","featureName":"f"}],"next":null,"totalEvents":1}`
	s.Run(t, []apitest.Call{
		{"of a flag", "POST", path, `{"feature":"f"}`, 200, ofF},
		{"of a type", "POST", path, `{"type":"feature-archived"}`, 200, `{"...":0,"events":[{"...":0,"featureName":"g"}],"totalEvents":1}`},
		{"by text, one a page", "POST", path, `{"query":"feature-created","project":"default","limit":1,"offset":0}`, 200,
			`{"...":0,"events":[{"...":0,"featureName":"g"}],"next":"<any>","totalEvents":2}`},
		{"of another project", "POST", path, `{"project":"nosuch"}`, 200, `{"version":1,"events":[],"next":null,"totalEvents":0}`},
		{"everything", "POST", path, `{}`, 200, apitest.Anything},
		{"no body", "POST", path, ``, 400, apitest.Anything},
		{"with an offset", "POST", path, `{"offset":100}`, 400, apitest.Invalid("/offset")},
		{"a limit out of range", "POST", path, `{"limit":0}`, 400, apitest.Invalid("/limit")},
		{"a limit out of range", "POST", path, `{"limit":1001}`, 400, apitest.Invalid("/limit")},
		{"an empty filter", "POST", path, `{"feature":""}`, 400, apitest.Invalid("/feature")},
		{"a filter of the wrong type", "POST", path, `{"feature":["f"]}`, 400, apitest.Invalid("/feature")},
	})
	next := apitest.Decode[struct{ Next string }](t, s.Must(t, "POST", path, `{"type":"feature-created","limit":1}`).Body).Next
	s.Check(t, apitest.Call{"the next page", "POST", path, fmt.Sprintf(`{"type":"feature-created","limit":1,"cursor":%q}`, next), 200,
		`{"version":1,"events":[{"...":0,"featureName":"f"}],"next":null}`})
}
