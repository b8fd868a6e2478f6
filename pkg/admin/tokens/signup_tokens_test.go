package tokens_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestSignupTokens(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := apitest.Serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	token := func(name string, enabled bool, expiresAt string) string {
		return fmt.Sprintf(`{"secret":"<any>","url":null,"name":%q,"enabled":%t,"expiresAt":%q,"createdAt":"<time>","createdBy":"admin","users":[],`+
			`"role":{"id":3,"type":"root","name":"Viewer","description":"<any>"}}`, name, enabled, expiresAt)
	}
	const soon, later = "2026-01-06T00:00:00.000Z", "2026-02-01T00:00:00.000Z"
	s.Check(t, apitest.Call{"an empty list", "GET", apitest.SignupTokens, "", 200, `{"tokens":[]}`})
	made := s.Do(t, "POST", apitest.SignupTokens, `{"name":"the team","expiresAt":"2026-01-06T01:00:00+01:00"}`)
	if made.Status != 201 || len(apitest.Match(token("the team", true, soon), made.Body)) > 0 || len(apitest.SecretIn(made.Body)) != 64 {
		t.Fatalf("made %d %s, want 201 %s", made.Status, made.Body, token("the team", true, soon))
	}
	one := apitest.SignupTokens + "/" + apitest.SecretIn(made.Body)
	now = now.Add(time.Minute)
	s.Run(t, []apitest.Call{
		{"read", "GET", one, "", 200, token("the team", true, soon)},
		{"another with the same name, expired", "POST", apitest.SignupTokens, `{"name":"the team","expiresAt":"2020-01-01T00:00:00Z"}`, 201, token("the team", false, "2020-01-01T00:00:00.000Z")},
		{"both", "GET", apitest.SignupTokens, "", 200, `{"tokens":[` + token("the team", true, soon) + `,` + token("the team", false, "2020-01-01T00:00:00.000Z") + `]}`},
		{"an empty object", "PUT", one, `{}`, 200, token("the team", true, soon)},
		{"disable", "PUT", one, `{"enabled":false}`, 200, token("the team", false, soon)},
		{"set a later expiry", "PUT", one, `{"expiresAt":"2026-02-01T00:00:00Z"}`, 200, token("the team", false, later)},
		{"enable", "PUT", one, `{"enabled":true}`, 200, token("the team", true, later)},
		{"set the same values", "PUT", one, `{"enabled":true,"expiresAt":"2026-02-01T00:00:00Z"}`, 200, token("the team", true, later)},
		{"enable and expire", "PUT", one, `{"enabled":true,"expiresAt":"2026-01-05T00:00:00Z"}`, 200, token("the team", false, "2026-01-05T00:00:00.000Z")},
		{"read an expired token", "GET", one, "", 200, token("the team", false, "2026-01-05T00:00:00.000Z")},
		{"set a later expiry again", "PUT", one, `{"expiresAt":"2026-01-06T00:00:00Z"}`, 200, token("the team", true, soon)},
		{"an unknown token", "GET", apitest.SignupTokens + "/nosuch", "", 404, apitest.NotFound("public signup token")},
		{"change an unknown token", "PUT", apitest.SignupTokens + "/nosuch", `{}`, 404, apitest.NotFound("public signup token")},
		{"delete", "DELETE", one, "", 404, apitest.Anything},
		{"an empty object", "POST", apitest.SignupTokens, `{}`, 400, apitest.Invalid("/name", "/expiresAt")},
		{"no name", "POST", apitest.SignupTokens, `{"name":"","expiresAt":"2030-01-01T00:00:00Z"}`, 400, apitest.Invalid("/name")},
		{"an invalid expiry", "POST", apitest.SignupTokens, `{"name":"x","expiresAt":"2030-01-01"}`, 400, apitest.Invalid("/expiresAt")},
		{"null", "POST", apitest.SignupTokens, `{"name":"x","expiresAt":null}`, 400, apitest.Invalid("/expiresAt")},
		{"change to null", "PUT", one, `{"enabled":null}`, 400, apitest.Invalid("/enabled")},
		{"change to an invalid expiry", "PUT", one, `{"expiresAt":"soon"}`, 400, apitest.Invalid("/expiresAt")},
		{"change to a text", "PUT", one, `{"enabled":"true"}`, 400, apitest.Invalid("/enabled")},
	})
	now = now.Add(24 * time.Hour)
	for _, c := range []apitest.Call{
		{"read after its expiry", "GET", one, "", 200, token("the team", false, soon)},
		{"list after its expiry", "GET", apitest.SignupTokens, "", 200, `{"tokens":[` + token("the team", false, soon) + `,{"...":0}]}`},
		{"enable after its expiry", "PUT", one, `{"enabled":true}`, 200, token("the team", false, soon)},
	} {
		s.Check(t, c)
	}
	events := s.EventsOf(t, &access.SignupToken{Hash: access.HashSecret(apitest.SecretIn(made.Body))})
	changed := flags.SignupTokenUpdated
	if want := []flags.EventType{flags.SignupTokenCreated, changed, changed, changed, changed, changed}; !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

func TestSignupIsNotOffered(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := apitest.SecretIn(s.Must(t, "POST", apitest.SignupTokens, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	for _, c := range []apitest.Call{
		{"validate", "GET", "/invite/" + secret + "/validate", "", 404, apitest.NotFound("sign")},
		{"sign up", "POST", "/invite/" + secret + "/signup", `{"username":"u","email":"u@example.com","name":"U","password":"p"}`, 404, apitest.NotFound("sign")},
	} {
		s.Check(t, c)
		s.Check(t, c, "Authorization:")
	}
	if got := s.Do(t, "GET", "/invite/"+secret+"/validate", "").Body; strings.Contains(got, secret) {
		t.Errorf("the response contains the secret: %s", got)
	}
}
