package addons_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/webhook"
)

// TestAddons creates, reads, changes, tests and deletes addons.
func TestAddons(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const one = apitest.Addons + "/1"
	body := func(parameters, rest string) string {
		return `{"provider":"webhook","enabled":true,"events":["feature-created"],"parameters":{` + parameters + `}` + rest + `}`
	}
	const (
		hook   = `"url":"https://example.com/hook?key=hush-url"`
		secret = `"authorization":"hush-authorization","customHeaders":"{\"X-Key\":\"hush-header\"}","signingSecret":"hush-signing-secret"`
		view   = `{"id":1,"provider":"webhook","enabled":true,"description":null,"events":["feature-created"],"projects":["default"],"environments":[],"createdAt":"<time>","host":"example.com","parameters":`
		masked = `{"url":"*****","authorization":"*****","customHeaders":"*****","signingSecret":"*****","contentType":"text/plain"}`
	)
	s.Run(t, []apitest.Call{
		{"no addons", "GET", apitest.Addons, "", 200, `{"addons":[],"providers":[{"...":0,"name":"webhook"},{"...":0,"name":"slack"}]}`},
		{"create", "POST", apitest.Addons, body(hook+","+secret+`,"contentType":"text/plain"`, `,"projects":["default"]`), 201, view + masked + `}`},
		{"read", "GET", one, "", 200, view + masked + `}`},
		{"list", "GET", apitest.Addons, "", 200, `{"...":0,"addons":[` + view + masked + `}]}`},
		{"keep the secrets", "PUT", one, body(`"url":"*****","authorization":"*****"`, ""), 200, view + `{"url":"*****","authorization":"*****"}}`},
		{"keep a secret that is not stored", "PUT", one, body(`"url":"*****","signingSecret":"*****","authorization":"*****"`, ""), 200, view + `{"url":"*****","authorization":"*****"}}`},
		{"the same URL", "PUT", one, body(hook+`,"authorization":"*****"`, ""), 200, view + `{"url":"*****","authorization":"*****"}}`},
		{"a secret for another URL", "PUT", one, body(`"url":"https://elsewhere.example.com/","authorization":"*****"`, ""), 400, apitest.Invalid("/parameters/authorization")},
		{"another URL", "PUT", one, body(`"url":"https://elsewhere.example.com/"`, ""), 200, strings.Replace(view, "example", "elsewhere.example", 1) + `{"url":"*****"}}`},
		{"to Slack without a channel", "PUT", one, `{"provider":"slack","enabled":true,"events":[],"parameters":{"url":"*****"}}`, 400, apitest.Invalid("/parameters/defaultChannel")},

		{"no body", "POST", apitest.Addons, `{}`, 400, apitest.Faulty("/provider: is required")},
		{"an unknown provider", "POST", apitest.Addons, `{"provider":"datadog","enabled":true,"events":[],"parameters":{}}`, 400, apitest.Invalid("/provider")},
		{"no URL", "POST", apitest.Addons, body("", ""), 400, apitest.Invalid("/parameters/url")},
		{"an empty URL", "POST", apitest.Addons, body(`"url":""`, ""), 400, apitest.Invalid("/parameters/url")},
		{"no URL at all", "POST", apitest.Addons, body(`"url":"notaurl"`, ""), 400, apitest.Invalid("/parameters/url")},
		{"a masked URL", "POST", apitest.Addons, body(`"url":"*****"`, ""), 400, apitest.Invalid("/parameters/url")},
		{"a private address", "POST", apitest.Addons, body(`"url":"http://10.0.0.1/"`, ""), 400, apitest.Faulty("/parameters/url: the host is in a private or reserved network, see the setting WEBHOOK_PRIVATE_NETWORKS")},
		{"this machine for a Slack", "POST", apitest.Addons, `{"provider":"slack","enabled":false,"events":[],"parameters":{"url":"http://LOCALHOST:8080/","defaultChannel":"c"}}`, 400, apitest.Invalid("/parameters/url")},
		{"a private address later", "PUT", one, body(`"url":"http://[::1]:8080/"`, ""), 400, apitest.Invalid("/parameters/url")},
		{"a user in the URL", "POST", apitest.Addons, body(`"url":"https://a:b@example.com/"`, ""), 400, apitest.Invalid("/parameters/url")},
		{"bad headers", "POST", apitest.Addons, body(hook+`,"customHeaders":"[]"`, ""), 400, apitest.Invalid("/parameters/customHeaders")},
		{"a line break in a header", "POST", apitest.Addons, body(hook+`,"authorization":"a\r\nb: c"`, ""), 400, apitest.Invalid("/parameters/authorization")},
		{"a bad template", "POST", apitest.Addons, body(hook+`,"bodyTemplate":"{{#a}}"`, ""), 400, apitest.Invalid("/parameters/bodyTemplate")},
		{"an unknown parameter", "POST", apitest.Addons, body(hook+`,"apiKey":"x"`, ""), 400, apitest.Invalid("/parameters")},
		{"a number", "POST", apitest.Addons, body(hook+`,"bodyTemplate":5`, ""), 400, apitest.Faulty("/parameters/bodyTemplate")},
		{"an unknown event", "POST", apitest.Addons, `{"provider":"webhook","enabled":true,"events":["feature-created","nosuch"],"parameters":{` + hook + `}}`, 400, apitest.Invalid("/events/1")},
		{"an event of Unleash", "POST", apitest.Addons, `{"provider":"webhook","enabled":false,"events":["change-request-created"],"parameters":{` + hook + `}}`, 201, `{"...":0,"id":2}`},
		{"a bad project", "POST", apitest.Addons, body(hook, `,"projects":["a b"]`), 400, apitest.Invalid("/projects/0")},

		{"an id that is no number", "GET", apitest.Addons + "/x", "", 400, apitest.Faulty("addonId in the path must be a whole number")},
		{"test a disabled one", "POST", apitest.Addons + "/2/test", "", 409, apitest.Failure("ConflictError", "disabled")},
		{"send events of a disabled one again", "POST", apitest.Addons + "/2/resend", "", 409, apitest.Failure("ConflictError", "disabled")},
		{"test", "POST", one + "/test", "", 202, ""},
		{"nothing was sent", "GET", one + "/events?state=success", "", 200, `{"integrationEvents":[]}`},
		{"an unknown state", "GET", one + "/events?state=lost", "", 400, apitest.Failure("ValidationError", "state")},
		{"delete", "DELETE", apitest.Addons + "/2", "", 200, ""},
	})
	stored := dynamotest.Scan(t, s.Store)
	if strings.Contains(stored, "hush-") || strings.Contains(stored, "elsewhere.example.com") {
		t.Error("a secret is stored in plain text")
	}
	sealer, err := dynamotest.Sealer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := apitest.Load[*flags.Addons](t, s, flags.AddonsKey()).List[0].OpenParameters(sealer)
	if err != nil || opened["url"] != "https://elsewhere.example.com/" {
		t.Errorf("opened parameters: %v, %v", opened, err)
	}
	entries, _, err := s.Store.Outbox(t.Context(), 1, "", 10)
	if err != nil || len(entries) != 1 || entries[0].Test == nil || entries[0].Test.Type != flags.AddonTest {
		t.Errorf("the outbox has %+v (%v), want the event of the test", entries, err)
	}
}

// TestDeliveries lists what was sent, is parked and waits, and sends the parked events again.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.SendAll(t)
	s.Create(t, "a", "b", "c")
	s.Must(t, "POST", apitest.Users, `{"username":"ada","rootRole":3}`)
	_, editor := s.Person(t, access.RoleEditor)
	for i, e := range s.Outbox(t) {
		sent, err := s.Store.OutboxEvents(t.Context(), []flags.OutboxEntry{e})
		if err != nil {
			t.Fatal(err)
		}
		at := sent[e.ID].CreatedAt
		if e.Error, e.Attempts = "no answer", 9; i == 1 || sent[e.ID].Type == flags.UserCreated {
			err = s.Store.Park(t.Context(), e, at)
		} else if i == 0 {
			err = s.Store.Delivered(t.Context(), e, at, "200 OK")
		} else {
			e.Next = at.Add(time.Hour)
			err = s.Store.Failed(t.Context(), e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const path = apitest.Addons + "/1/events"
	all := s.Must(t, "GET", path, "").Body
	if n := strings.Count(all, `"integrationId":1`); n != 4 || !strings.Contains(all, `"type":"user-created"`) {
		t.Errorf("an administrator sees %d deliveries, want 4: %s", n, all)
	}
	first := apitest.Decode[struct {
		IntegrationEvents []struct {
			State, StateDetails string
			Event               struct{ FeatureName string }
			Details             struct{ FailedAttempts int }
		}
	}](t, s.Do(t, "GET", path, "", editor).Body).IntegrationEvents
	if got := fmt.Sprint(first); got != "[{waiting no answer {c} {9}} {failed no answer {b} {9}} {success 200 OK {a} {9}}]" {
		t.Errorf("an editor sees %s", got)
	}
	for query, want := range map[string]int{"?state=failed": 2, "?state=waiting": 1, "?state=success": 1, "?limit=2": 2, "?offset=2": 2, "?limit=3&offset=3": 1} {
		if n := strings.Count(s.Must(t, "GET", path+query, "").Body, `"integrationId":1`); n != want {
			t.Errorf("%s: %d deliveries, want %d", query, n, want)
		}
	}
	before := len(s.Outbox(t))
	s.Check(t, apitest.Call{"resend", "POST", apitest.Addons + "/1/resend", "", 202, `{"resent":2,"more":false}`})
	if n := len(s.Outbox(t)) - before; n != 2 {
		t.Errorf("%d entries are back in the outbox, want 2", n)
	}
	s.Check(t, apitest.Call{"nothing is left", "POST", apitest.Addons + "/1/resend", "", 202, `{"resent":0,"more":false}`})
}

// TestReservedEventsOfAddons checks that editors can neither have an addon send events that only administrators see, nor change,
// delete, test or resend one that does.
func TestReservedEventsOfAddons(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	_, editor := s.Person(t, access.RoleEditor)
	body := func(event string) string {
		return `{"provider":"webhook","enabled":true,"events":["` + event + `"],"parameters":{"url":"https://example.com/hook"}}`
	}
	s.Must(t, "POST", apitest.Addons, body("user-created"))
	for _, c := range []struct {
		method, path, event string
		want                int
	}{
		{"POST", apitest.Addons, "api-token-created", 403}, {"PUT", apitest.Addons + "/1", "feature-created", 403},
		{"POST", apitest.Addons + "/1/test", "", 403}, {"POST", apitest.Addons + "/1/resend", "", 403}, {"DELETE", apitest.Addons + "/1", "", 403},
		{"POST", apitest.Addons, "feature-created", 201}, {"PUT", apitest.Addons + "/2", "role-created", 403}, {"PUT", apitest.Addons + "/2", "feature-archived", 200},
		{"POST", apitest.Addons + "/2/test", "", 202}, {"POST", apitest.Addons + "/2/resend", "", 202}, {"DELETE", apitest.Addons + "/2", "", 200},
	} {
		if got := s.Do(t, c.method, c.path, body(c.event), editor); got.Status != c.want {
			t.Errorf("%s %s %s: %d %s, want %d", c.method, c.path, c.event, got.Status, got.Body, c.want)
		}
	}
}

// TestHostIsForThoseWhoChangeAddons checks who sees the host of a URL: it can be what must be kept secret.
func TestHostIsForThoseWhoChangeAddons(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Addons, `{"provider":"webhook","enabled":true,"events":["feature-created"],"parameters":{"url":"https://hush.example.com/x"}}`)
	_, viewer := s.Person(t, access.RoleViewer)
	for _, path := range []string{apitest.Addons, apitest.Addons + "/1"} {
		if got := s.Must(t, "GET", path, "").Body; !strings.Contains(got, `"host":"hush.example.com"`) {
			t.Errorf("GET %s: %s, want the host for an administrator", path, got)
		}
		if got := s.Do(t, "GET", path, "", viewer); got.Status != 200 || strings.Contains(got.Body, "hush") {
			t.Errorf("GET %s: %d %s, want no host for a viewer", path, got.Status, got.Body)
		}
	}
}

// TestStoredPrivateAddress checks that a webhook to a private address that is no longer allowed can be read, disabled and changed, and gets no
// other private address.
func TestStoredPrivateAddress(t *testing.T) {
	t.Parallel()
	networks, err := webhook.ParseNetworks("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.CheckWebhook = networks.CheckURL })
	const one = apitest.Addons + "/1"
	body := func(enabled bool, url string) string {
		return fmt.Sprintf(`{"provider":"webhook","enabled":%t,"events":[],"parameters":{"url":%q}}`, enabled, url)
	}
	s.Run(t, []apitest.Call{
		{"allowed", "POST", apitest.Addons, body(true, "http://localhost:8080/"), 201, `{"...":0}`},
		{"not allowed", "POST", apitest.Addons, body(true, "http://10.0.0.1/"), 400, apitest.Invalid("/parameters/url")},
	})
	later := s.Over(t, apitest.Handler(s.Store, httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer, CheckWebhook: webhook.Networks{}.CheckURL}))
	later.Run(t, []apitest.Call{
		{"read", "GET", one, "", 200, `{"...":0,"host":"localhost:8080","enabled":true}`},
		{"disabled", "PUT", one, body(false, "*****"), 200, `{"...":0,"enabled":false}`},
		{"the same URL", "PUT", one, body(true, "http://localhost:8080/"), 200, `{"...":0,"enabled":true}`},
		{"another one", "PUT", one, body(true, "http://localhost:8081/"), 400, apitest.Invalid("/parameters/url")},
		{"a public one", "PUT", one, body(true, "https://example.com/"), 200, `{"...":0,"host":"example.com"}`},
		{"back", "PUT", one, body(true, "http://localhost:8080/"), 400, apitest.Invalid("/parameters/url")},
	})
}
