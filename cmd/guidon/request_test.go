package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"time"
)

// call sends a request as an administrator, or with the session of a client, and returns the response.
func call(t *testing.T, session *http.Client, method, path, body string, revision ...string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, serverURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for _, seen := range revision {
		request.Header.Set("If-Match", `"`+seen+`"`)
	}
	if session != nil {
		request.Header.Set("X-Guidon-Console", "1")
	} else {
		session = http.DefaultClient
		request.Header.Set("Authorization", adminToken)
	}
	response, err := session.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %v, %d %s", method, path, err, response.StatusCode, text)
	}
	return string(text)
}

// signIn creates an administrator and signs the person in.
func signIn(t *testing.T, name string) *http.Client {
	t.Helper()
	var user struct{ ID int64 }
	if err := json.Unmarshal([]byte(call(t, nil, "POST", "/api/admin/user-admin", `{"username":"`+name+`","rootRole":1}`)), &user); err != nil {
		t.Fatal(err)
	}
	link := call(t, nil, "POST", fmt.Sprintf("/api/admin/user-admin/%d/sign-in-link", user.ID), "")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	session := &http.Client{Jar: jar}
	call(t, session, "POST", "/auth/link", `{"secret":"`+regexp.MustCompile(`#link=([^"]+)`).FindStringSubmatch(link)[1]+`"}`)
	return session
}

func TestRequests(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"reviewed","name":"Reviewed"}`)
	createFlag(t, "reviewed", "guarded")
	const project = "/api/admin/projects/reviewed"
	call(t, nil, "PUT", project+"/environments/production/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":1}`)
	author, approver := signIn(t, "cmd-author"), signIn(t, "cmd-approver")
	for _, path := range []string{"/api/client/features", "/api/frontend"} { // a session is for the administration only
		response, err := author.Get(serverURL + path)
		if err != nil {
			t.Fatal(err)
		}
		if _ = response.Body.Close(); response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s with a session: %s, want 401", path, response.Status)
		}
	}
	propose := func(title string) string {
		t.Helper()
		var r struct{ ID int64 }
		body := call(t, author, "POST", project+"/environments/production/change-requests", `{"feature":"guarded","action":"addStrategy","payload":{"name":"default"}}`)
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("%s/change-requests/%d", project, r.ID)
		call(t, author, "PUT", path+"/title", `{"title":"`+title+`"}`)
		call(t, author, "PUT", path+"/state", `{"state":"In review"}`)
		return fmt.Sprint(r.ID)
	}
	id := propose("Release it")
	const list = "request list --project reviewed"
	if shown := must(t, list); !regexp.MustCompile(`(?m)^` + id + ` +In review +production +0 of 1 +cmd-author +Release it$`).MatchString(shown) {
		t.Errorf("the list is\n%s", shown)
	}
	shown := must(t, "request show "+id+" --project reviewed")
	for _, line := range []string{`state +In review`, `guarded +addStrategy +- +- +{.*"name":"default".*}`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(shown) {
			t.Errorf("it shows\n%s\nwant the line %q", shown, line)
		}
	}
	// Switching on a flag without strategies also adds the default one.
	call(t, nil, "POST", project+"/environments/production/default-strategy", `{"name":"default","title":"Only staff"}`)
	createFlag(t, "reviewed", "bare")
	var switching struct{ ID int64 }
	body := call(t, author, "POST", project+"/environments/production/change-requests", `{"feature":"bare","action":"updateEnabled","payload":{"enabled":true}}`)
	if err := json.Unmarshal([]byte(body), &switching); err != nil {
		t.Fatal(err)
	}
	call(t, author, "PUT", fmt.Sprintf("%s/change-requests/%d/state", project, switching.ID), `{"state":"In review"}`)
	shown = must(t, fmt.Sprintf("request show %d --project reviewed", switching.ID))
	if !regexp.MustCompile(`(?m)^bare +addStrategy \(by switching on\) +- +- +{.*"name":"default".*}$`).MatchString(shown) {
		t.Errorf("it shows\n%s\nwant the strategy that switching on adds", shown)
	}
	must(t, fmt.Sprintf("request cancel %d --project reviewed", switching.ID))
	apply := "request apply " + id + " --project reviewed"
	if r := guidon(t, apply); r.code != exitRefused || !strings.Contains(r.messages, "0 of the 1 approvals") {
		t.Errorf("before it is approved: exit code %d, %q, want %d", r.code, r.messages, exitRefused)
	}
	var now struct{ Revision string }
	path := project + "/change-requests/" + id
	if err := json.Unmarshal([]byte(call(t, approver, "GET", path, "")), &now); err != nil {
		t.Fatal(err)
	}
	call(t, approver, "PUT", path+"/state", `{"state":"Approved"}`, now.Revision)
	if got := decode[[]map[string]any](t, list); len(got) != 1 || got[0]["state"] != "Approved" {
		t.Errorf("the list as JSON is %v", got)
	}
	for range 2 { // repeated, it changes nothing
		if got := decode[map[string]any](t, apply); got["state"] != "Applied" {
			t.Errorf("it is %v", got)
		}
	}
	waiting := propose("At night")
	now.Revision = ""
	if err := json.Unmarshal([]byte(call(t, approver, "GET", project+"/change-requests/"+waiting, "")), &now); err != nil {
		t.Fatal(err)
	}
	state := project + "/change-requests/" + waiting + "/state"
	call(t, approver, "PUT", state, `{"state":"Approved"}`, now.Revision)
	call(t, approver, "PUT", state, `{"state":"Scheduled","scheduledAt":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
	call(t, nil, "POST", project+"/environments/production/freezes", `{"reason":"the holidays","to":"`+time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339)+`"}`)
	shown = must(t, "request show "+waiting+" --project reviewed")
	for _, line := range []string{`schedule +20\S+Z pending`, `freeze +production until 20\S+Z: the holidays`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(shown) {
			t.Errorf("it shows\n%s\nwant the line %q", shown, line)
		}
	}
	must(t, "request cancel "+waiting+" --project reviewed")
	cancelled := must(t, "request cancel "+propose("Not this one")+" --project reviewed")
	if !regexp.MustCompile(`(?m)^state +Cancelled$`).MatchString(cancelled) {
		t.Errorf("cancel prints\n%s", cancelled)
	}
	if got := decode[[]any](t, list); len(got) != 0 {
		t.Errorf("the list has %v", got)
	}
	if r := guidon(t, "request show 999999 --project reviewed"); r.code != exitRefused {
		t.Errorf("an unknown request: exit code %d, want %d", r.code, exitRefused)
	}
	if r := guidon(t, "request apply first"); r.code != exitUsage || !strings.Contains(r.messages, "is a number") {
		t.Errorf("a malformed ID: exit code %d, %q, want %d", r.code, r.messages, exitUsage)
	}
}
