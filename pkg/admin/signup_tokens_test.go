package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const signups = "/api/admin/invite-link/tokens"

func TestSignupTokens(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := serve(t, func(c *httpapi.Config, _ *http.RoundTripper) { c.Now = func() time.Time { return now } })
	token := func(name string, enabled bool, expiresAt string) string {
		return fmt.Sprintf(`{"secret":"<any>","url":null,"name":%q,"enabled":%t,"expiresAt":%q,"createdAt":"<time>","createdBy":"admin","users":[],`+
			`"role":{"id":3,"type":"root","name":"Viewer","description":"<any>"}}`, name, enabled, expiresAt)
	}
	const soon, later = "2026-01-06T00:00:00.000Z", "2026-02-01T00:00:00.000Z"
	s.check(t, call{"an empty list", "GET", signups, "", 200, `{"tokens":[]}`})
	made := s.do(t, "POST", signups, `{"name":"the team","expiresAt":"2026-01-06T01:00:00+01:00"}`)
	if made.status != 201 || len(match(token("the team", true, soon), made.body)) > 0 || len(secretIn(made.body)) != 64 {
		t.Fatalf("made %d %s, want 201 %s", made.status, made.body, token("the team", true, soon))
	}
	one := signups + "/" + secretIn(made.body)
	now = now.Add(time.Minute)
	s.run(t, []call{
		{"read", "GET", one, "", 200, token("the team", true, soon)},
		{"another with the same name, expired", "POST", signups, `{"name":"the team","expiresAt":"2020-01-01T00:00:00Z"}`, 201, token("the team", false, "2020-01-01T00:00:00.000Z")},
		{"both", "GET", signups, "", 200, `{"tokens":[` + token("the team", true, soon) + `,` + token("the team", false, "2020-01-01T00:00:00.000Z") + `]}`},
		{"an empty object", "PUT", one, `{}`, 200, token("the team", true, soon)},
		{"no body", "PUT", one, "", 400, malformed("required")},
		{"disable", "PUT", one, `{"enabled":false}`, 200, token("the team", false, soon)},
		{"set a later expiry", "PUT", one, `{"expiresAt":"2026-02-01T00:00:00Z"}`, 200, token("the team", false, later)},
		{"enable", "PUT", one, `{"enabled":true}`, 200, token("the team", true, later)},
		{"set the same values", "PUT", one, `{"enabled":true,"expiresAt":"2026-02-01T00:00:00Z"}`, 200, token("the team", true, later)},
		{"enable and expire", "PUT", one, `{"enabled":true,"expiresAt":"2026-01-05T00:00:00Z"}`, 200, token("the team", false, "2026-01-05T00:00:00.000Z")},
		{"read an expired token", "GET", one, "", 200, token("the team", false, "2026-01-05T00:00:00.000Z")},
		{"set a later expiry again", "PUT", one, `{"expiresAt":"2026-01-06T00:00:00Z"}`, 200, token("the team", true, soon)},
		{"an unknown token", "GET", signups + "/nosuch", "", 404, notFound("public signup token")},
		{"change an unknown token", "PUT", signups + "/nosuch", `{}`, 404, notFound("public signup token")},
		{"delete", "DELETE", one, "", 404, anything},
		{"an empty object", "POST", signups, `{}`, 400, invalid("/name", "/expiresAt")},
		{"no name", "POST", signups, `{"name":"","expiresAt":"2030-01-01T00:00:00Z"}`, 400, invalid("/name")},
		{"an invalid expiry", "POST", signups, `{"name":"x","expiresAt":"2030-01-01"}`, 400, invalid("/expiresAt")},
		{"null", "POST", signups, `{"name":"x","expiresAt":null}`, 400, invalid("/expiresAt")},
		{"change to null", "PUT", one, `{"enabled":null}`, 400, invalid("/enabled")},
		{"change to an invalid expiry", "PUT", one, `{"expiresAt":"soon"}`, 400, invalid("/expiresAt")},
		{"change to a text", "PUT", one, `{"enabled":"true"}`, 400, invalid("/enabled")},
	})
	now = now.Add(24 * time.Hour)
	for _, c := range []call{
		{"read after its expiry", "GET", one, "", 200, token("the team", false, soon)},
		{"list after its expiry", "GET", signups, "", 200, `{"tokens":[` + token("the team", false, soon) + `,{"...":0}]}`},
		{"enable after its expiry", "PUT", one, `{"enabled":true}`, 200, token("the team", false, soon)},
	} {
		s.check(t, c)
	}
	events := s.eventsOf(t, &access.SignupToken{Hash: access.HashSecret(secretIn(made.body))})
	changed := flags.SignupTokenUpdated
	if want := []flags.EventType{flags.SignupTokenCreated, changed, changed, changed, changed, changed}; !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

// TestSignupTokenPermissions checks that only administrators can list, read and change public signup tokens.
func TestSignupTokenPermissions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secret := secretIn(s.must(t, "POST", signups, `{"name":"x","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	for role, status := range map[int64]int{access.RoleAdmin: 200, access.RoleEditor: 403, access.RoleViewer: 403} {
		_, header := s.person(t, role)
		for _, c := range []call{
			{"list", "GET", signups, "", status, anything}, {"read", "GET", signups + "/" + secret, "", status, anything},
			{"change", "PUT", signups + "/" + secret, `{"enabled":false}`, status, anything},
		} {
			s.check(t, c, header)
		}
	}
	s.check(t, call{"no API token", "DELETE", tokenPath(secret), "", 404, anything})
	s.check(t, call{"no credential", "GET", project, "", 401, anything}, as(secret))
}
