package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
)

// TestGreeting checks that secrets are only printed in a terminal, except for the default tokens, which everyone knows.
func TestGreeting(t *testing.T) {
	const admin, client = "*:*.our-own-admin", "default:development.our-own-client"
	greeting := func(terminal bool, tokens map[access.TokenType]bootstrap.Token, signIn string) string {
		s := settings{host: "127.0.0.1", terminal: terminal, data: t.TempDir()}
		s.config.PublicURL = "http://127.0.0.1:4242"
		var out strings.Builder
		greet(&out, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4242}, s, tokens, signIn)
		return out.String()
	}
	own := map[access.TokenType]bootstrap.Token{
		access.AdminToken: {Type: access.AdminToken, Secret: admin}, access.ClientToken: {Type: access.BackendToken, Secret: client},
	}
	if got := greeting(true, own, "secret"); strings.Count(got, admin) != 3 || !strings.Contains(got, client) || !strings.Contains(got, "/sign-in#link=secret\n") {
		t.Errorf("in a terminal it lacks a secret:\n%s", got)
	}
	got := greeting(false, own, "")
	for _, want := range []string{"admin token     set by INIT_ADMIN_API_TOKENS\n", "client token    set by INIT_BACKEND_API_TOKENS (", `"Authorization: $GUIDON_TOKEN"`, "guidon link prints a link"} {
		if !strings.Contains(got, want) {
			t.Errorf("in a log it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "our-own") || strings.Contains(got, "#link=") {
		t.Errorf("a log has a secret:\n%s", got)
	}
	if got := greeting(false, map[access.TokenType]bootstrap.Token{access.AdminToken: {Type: access.AdminToken, Secret: bootstrap.LocalAdminToken}}, ""); strings.Count(got, bootstrap.LocalAdminToken) != 3 {
		t.Errorf("it lacks the default token, which is no secret:\n%s", got)
	}
}

// TestPrintSecrets checks the setting with which make run prints secrets wherever its output goes.
func TestPrintSecrets(t *testing.T) {
	for value, want := range map[string]bool{"": false, "always": true} {
		s, err := readSettings(func(name string) string {
			return map[string]string{"PRINT_SECRETS": value, "DATA_DIR": t.TempDir()}[name]
		})
		if err != nil || s.terminal != want {
			t.Errorf("PRINT_SECRETS=%s: prints secrets %v (%v), want %v", value, s.terminal, err, want)
		}
	}
}

// TestExports checks the lines for the command in another terminal: none if it finds itself and the server.
func TestExports(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path, url, host, token string
		want                         []string
	}{
		{"nothing", filepath.Dir(program), "http://127.0.0.1:4242", "127.0.0.1", "", nil},
		{"no PATH", "/nowhere", "http://127.0.0.1:4242", "127.0.0.1", "", []string{"export PATH=\"" + filepath.Dir(program) + "\":\"$PATH\""}},
		{"another port", filepath.Dir(program), "http://127.0.0.1:8080", "127.0.0.1", "", []string{"export GUIDON_URL=http://127.0.0.1:8080"}},
		{"all", "/nowhere", "http://127.0.0.1:8080", "127.0.0.1", "*:*.secret", []string{"export PATH=", "export GUIDON_URL=", "export GUIDON_TOKEN='*:*.secret'"}},
		{"a container", filepath.Dir(program), "http://127.0.0.1:8080", "0.0.0.0", "*:*.secret", nil},
	} {
		t.Setenv("PATH", tt.path)
		got := exports(tt.url, tt.host, tt.token)
		if len(tt.want) != strings.Count(got, "export ") {
			t.Errorf("%s: %q", tt.name, got)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", tt.name, got, want)
			}
		}
	}
}
