package oidc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/access"
)

func settingsOf(values map[string]string) (*Settings, error) {
	return Parse(func(name string) string { return values[name] })
}

// minimal returns the required settings, with one more.
func minimal(name, value string) map[string]string {
	values := map[string]string{"OIDC_ISSUER": "https://login.example.com/realms/a", "OIDC_CLIENT_ID": "guidon", "OIDC_CLIENT_SECRET": "hush"}
	values[name] = value
	return values
}

func TestParse(t *testing.T) {
	if got, err := settingsOf(nil); got != nil || err != nil {
		t.Errorf("without settings: %+v, %v, want neither", got, err)
	}
	want := &Settings{
		Issuer: "https://login.example.com/realms/a", ClientID: "guidon", ClientSecret: "hush", Name: "login.example.com",
		Scopes: []string{"openid", "profile", "email"}, GroupsClaim: "groups", Rules: access.SignInRules{CreateUsers: true},
	}
	got, err := settingsOf(minimal("", ""))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("required settings only: %v\n%s", err, diff)
	}
	want = &Settings{
		Issuer: "http://127.0.0.1:8080/", ClientID: "c", ClientSecret: "s", Name: "Keycloak",
		Scopes: []string{"openid", "groups"}, GroupsClaim: "cognito:groups", Rules: access.SignInRules{DefaultRole: "Viewer",
			GroupRoles: []access.GroupRole{
				{Group: "platform", Role: "Admin"},
				{Group: "cn=devs", Role: "Editor"},
				{Group: "/shop", Project: "shop", Role: "Owner"},
				{Group: "shop", Project: "default", Role: "Release manager"},
			}},
	}
	got, err = settingsOf(map[string]string{
		"OIDC_ISSUER": "http://127.0.0.1:8080/", "OIDC_CLIENT_ID": "c", "OIDC_CLIENT_SECRET": "s", "OIDC_NAME": "Keycloak",
		"OIDC_SCOPES": "openid groups", "OIDC_GROUPS_CLAIM": "cognito:groups", "OIDC_CREATE_USERS": "off", "OIDC_DEFAULT_ROLE": "Viewer",
		"OIDC_GROUP_ROLES": "platform=Admin, cn=devs=Editor,/shop=shop:Owner,shop=default:Release manager",
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("all settings: %v\n%s", err, diff)
	}
	if got, err := settingsOf(minimal("OIDC_DEFAULT_ROLE", "none")); err != nil || got.Rules.DefaultRole != "" {
		t.Errorf("default role none: %+v, %v", got, err)
	}
}

func TestParseProblems(t *testing.T) {
	var manyProjects strings.Builder
	for i := range 11 {
		fmt.Fprintf(&manyProjects, ",a=p%d:Owner", i)
	}
	tests := []struct{ name, value, want string }{
		{"OIDC_ISSUER", "", "OIDC_ISSUER is required"},
		{"OIDC_CLIENT_ID", "", "OIDC_CLIENT_ID is required"},
		{"OIDC_CLIENT_SECRET", "", "OIDC_CLIENT_SECRET is required"},
		{"OIDC_ISSUER", "login.example.com", "must be an address"},
		{"OIDC_ISSUER", "https://user@login.example.com", "must be an address"},
		{"OIDC_ISSUER", "https://login.example.com/?a=b", "must be an address"},
		{"OIDC_ISSUER", "http://login.example.com", "must begin with https://"},
		{"OIDC_ISSUER", "http://127.0.0.1.example.com", "must begin with https://"},
		{"OIDC_ISSUER", "ftp://127.0.0.1", "must begin with https://"},
		{"OIDC_ISSUER", "https://login.example.com/.well-known/openid-configuration", "remove that part"},
		{"OIDC_NAME", strings.Repeat("n", 101), "OIDC_NAME must have at most 100 characters"},
		{"OIDC_NAME", "a\nb", "OIDC_NAME must not contain control characters"},
		{"OIDC_SCOPES", "profile email", "OIDC_SCOPES must contain openid"},
		{"OIDC_SCOPES", "openid" + strings.Repeat(" s", 20), "at most 20 scopes"},
		{"OIDC_GROUP_ROLES", "platform", "use group=Role"},
		{"OIDC_GROUP_ROLES", "=Admin", "use group=Role"},
		{"OIDC_GROUP_ROLES", "a=Admin,,b=Editor", "use group=Role"},
		{"OIDC_GROUP_ROLES", "shop=:Owner", "use group=Role"},
		{"OIDC_GROUP_ROLES", "shop=shop:", "use group=Role"},
		{"OIDC_GROUP_ROLES", strings.Repeat("a=B,", 200) + "a=B", "at most 200 parts"},
		{"OIDC_GROUP_ROLES", manyProjects.String()[1:], "at most 10 projects"},
		{"OIDC_GROUP_ROLES", strings.Repeat("a", 10_001), "at most 10000 bytes"},
		{"OIDC_CREATE_USERS", "yes", "OIDC_CREATE_USERS must be on or off"},
		{"OIDC_GROUPS_CLAIM", strings.Repeat("c", 1001), "at most 1000 bytes"},
	}
	for _, test := range tests {
		if _, err := settingsOf(minimal(test.name, test.value)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%.60q: error %v, want %q", test.name, test.value, err, test.want)
		}
	}
}

func TestParseJSON(t *testing.T) {
	const required = `"OIDC_ISSUER":"https://login.example.com","OIDC_CLIENT_ID":"guidon","OIDC_CLIENT_SECRET":"hush"`
	got, err := ParseJSON(`{` + required + `,"OIDC_DEFAULT_ROLE":"Viewer"}`)
	if err != nil || got.Rules.DefaultRole != "Viewer" || got.ClientSecret != "hush" {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		`{}`:                                  "are empty",
		`hush`:                                "must be a JSON object",
		`{"OIDC_CREATE_USERS":true}`:          "whose values are strings",
		`{` + required + `,"OIDC_ROLES":"a"}`: `"OIDC_ROLES" is not a setting`,
		`{"OIDC_CLIENT_SECRET":"hush"}`:       "OIDC_ISSUER is required",
	} {
		if _, err := ParseJSON(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: error %v, want %q without the secret", text, err, want)
		}
	}
}
