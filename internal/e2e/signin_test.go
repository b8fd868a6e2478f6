package e2e

import (
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestSignIn signs in with a link of guidon link. The session is for the administration only, and AUTH_TYPE=none needs none. The
// output of the server is no terminal here, so that it prints no link.
func TestSignIn(t *testing.T) {
	t.Parallel()
	g := start(t)
	if printed := g.stdout.String(); strings.Contains(printed, "link=") || !strings.Contains(printed, g.url()+"/ (guidon link prints") {
		t.Errorf("the server printed a sign-in link, or not how to get one:\n%s", printed)
	}
	command := exec.Command(binary, "link")
	command.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "GUIDON_URL="+g.url(), "GUIDON_TOKEN="+defaultToken)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("guidon link: %v", err)
	}
	address, secret, _ := strings.Cut(strings.TrimSpace(string(output)), "#link=")
	if address != g.url()+"/sign-in" {
		t.Errorf("guidon link printed %s, want a link of %s/sign-in", output, g.url())
	}

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: endTimeout}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/api/admin/user", "", 401},
		{"POST", "/auth/link", `{"secret":"` + secret + `"}`, 204},
		{"POST", "/auth/link", `{"secret":"` + secret + `"}`, 401},
		{"GET", "/api/admin/user", "", 200},
		{"POST", "/api/admin/tag-types/validate", `{"name":"team"}`, 200},
		{"GET", "/api/client/features", "", 401},
		{"GET", "/api/frontend", "", 401},
		{"POST", "/api/client/metrics", `{}`, 401},
		{"POST", "/ofrep/v1/evaluate/flags", `{"context":{}}`, 401},
		{"POST", "/auth/sign-out", "", 204},
		{"GET", "/api/admin/user", "", 401},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, g.url()+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Guidon-Console", "1")
		r.Header.Set("Origin", g.url())
		response, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, response.StatusCode, c.status)
		}
	}

	open := start(t, "AUTH_TYPE=none")
	if want := "  console         " + open.url() + "/\n"; !strings.Contains(open.stdout.String(), want) {
		t.Errorf("the server printed\n%s\nwant %q in it", open.stdout.String(), want)
	}
}
