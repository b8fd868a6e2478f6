package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"guidon/internal/engine"
)

// TestGreeting checks that the server prints what a newcomer needs, and that the curl command in it works.
func TestGreeting(t *testing.T) {
	g := start(t)
	printed := g.stdout.String()
	for _, want := range []string{g.url() + "\n", defaultToken + "\n", g.data} {
		if !strings.Contains(printed, want) {
			t.Errorf("it prints\n%s\nwant %q in it", printed, want)
		}
	}
	curl := regexp.MustCompile(`curl .*`).FindString(printed)
	if out, err := bash(t, curl); err != nil || out != `{"version":2,"features":[]}`+"\n" && out != `{"version":2,"features":[]}` {
		t.Errorf("the printed %q: %v: %s", curl, err, out)
	}
}

// TestDataDir checks that the data is in DATA_DIR and nowhere else.
func TestDataDir(t *testing.T) {
	data := filepath.Join(t.TempDir(), "a folder", "that is not there yet")
	g := startOn(t, freePort(t), data)
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "here"}, nil)
	g.stop(t)
	if entries, err := os.ReadDir(data); err != nil || len(entries) < 2 {
		t.Errorf("DATA_DIR holds %v (%v), want the data and its lock", entries, err)
	}
	other := start(t)
	other.fails(t, 404, "NotFoundError", "GET", project+"/features/here", nil)
	startOn(t, freePort(t), data).get(t, project+"/features/here")
}

// TestRefusals checks that a server that cannot start prints the reason and does not affect another server.
func TestRefusals(t *testing.T) {
	g := start(t)
	fresh := "DATA_DIR=" + filepath.Join(t.TempDir(), "data")
	const secret = "do-not-print-this"
	tests := []struct {
		name  string
		code  int
		env   []string
		words []string
	}{
		{"busy port and data", 1, []string{"PORT=" + g.port, "DATA_DIR=" + g.data}, []string{"port " + g.port + " is in use"}},
		{"host is a name", 2, []string{"HOST=localhost", fresh}, []string{"HOST", `"localhost"`, "IP address"}},
		{"engine that is not there", 1, []string{"ENGINE=/no/such/dynoxide", fresh}, []string{"ENGINE", "/no/such/dynoxide"}},
		{"port is too high", 2, []string{"PORT=65536", fresh}, []string{"PORT", "65535"}},
		{"admin token of one project", 2, []string{"INIT_ADMIN_API_TOKENS=default:*." + secret, fresh}, []string{"INIT_ADMIN_API_TOKENS", "*:*."}},
		{"second frontend token", 2, []string{"INIT_FRONTEND_API_TOKENS=*:development.fine, /:*." + secret, fresh}, []string{"INIT_FRONTEND_API_TOKENS", "project"}},
		{"limit", 2, []string{"LIMITS=strategies=many", fresh}, []string{"LIMITS", "strategies", `"many"`, "number"}},
		{"private networks", 2, []string{"WEBHOOK_PRIVATE_NETWORKS=10.0.0.1/8", fresh}, []string{"WEBHOOK_PRIVATE_NETWORKS", `"10.0.0.1/8"`, "10.1.0.0/16"}},
		{"address of an engine", 2, []string{"AWS_ENDPOINT_URL_DYNAMODB=dynamodb:8000", fresh}, []string{"AWS_ENDPOINT_URL_DYNAMODB", `"dynamodb:8000"`, "http://"}},
		{"data below a file", 1, []string{"DATA_DIR=/dev/null/data"}, []string{"DATA_DIR", "/dev/null"}},
		{"engine that does not answer", 1, []string{"AWS_ENDPOINT_URL_DYNAMODB=http://" + address(freePort(t)), fresh}, []string{"AWS_ENDPOINT_URL_DYNAMODB", "refused"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := refuses(t, tt.code, tt.words, append([]string{"PORT=" + freePort(t)}, tt.env...)...)
			if strings.Contains(p.stderr.String(), secret) {
				t.Errorf("it prints a secret: %s", p.stderr.String())
			}
		})
	}
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "unimpressed"}, nil)
}

// TestAllNetworks checks that a server on all networks prints addresses that work in a browser on this machine, and warns if the
// default admin token is valid.
func TestAllNetworks(t *testing.T) {
	known := start(t, "HOST=0.0.0.0")
	if printed := known.stdout.String(); strings.Contains(printed, "0.0.0.0") || !strings.Contains(printed, "http://127.0.0.1:"+known.port+"/docs") {
		t.Errorf("it prints\n%s\nwant the address 127.0.0.1 in it", printed)
	}
	const warning = "guidon: warning: HOST is 0.0.0.0"
	own := start(t, "HOST=0.0.0.0", "INIT_ADMIN_API_TOKENS=*:*.our-own-admin", "PUBLIC_URL=http://127.0.0.1:8080")
	if printed := own.stdout.String(); !strings.Contains(printed, "http://127.0.0.1:8080/docs") {
		t.Errorf("it prints\n%s\nwant the address of PUBLIC_URL in it", printed)
	}
	open := start(t, "HOST=0.0.0.0", "AUTH_TYPE=none")
	if printed := open.stdout.String(); strings.Contains(printed, "Authorization") {
		t.Errorf("with AUTH_TYPE=none it prints\n%s\nwant no token in it", printed)
	}
	earlier := start(t)
	earlier.stop(t)
	later := start(t, "HOST=0.0.0.0", "INIT_ADMIN_API_TOKENS=*:*.our-own-admin", "DATA_DIR="+earlier.data)
	for _, tt := range []struct {
		name string
		g    *gateway
		want bool
	}{{"default token", known, true}, {"own token", own, false}, {"own token, and the default one of an earlier start", later, true}, {"no token needed", open, true}, {"loopback", start(t), false}} {
		tt.g.stop(t) // its output is complete now
		if got := strings.Contains(tt.g.stderr.String(), warning); got != tt.want {
			t.Errorf("%s: it warns: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestOtherEngine checks that with AWS_ENDPOINT_URL_DYNAMODB the server starts no engine, stores only the key of tokens in
// DATA_DIR, and leaves the engine running when it ends.
func TestOtherEngine(t *testing.T) {
	other, err := engine.Start(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	env := "AWS_ENDPOINT_URL_DYNAMODB=" + other.URL()
	g := start(t, env)
	if !strings.Contains(g.stdout.String(), other.URL()) {
		t.Errorf("it prints\n%s\nwant the engine's address", g.stdout.String())
	}
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "elsewhere"}, nil)
	if entries, err := os.ReadDir(g.data); err != nil || len(entries) != 1 || entries[0].Name() != "token.key" {
		t.Errorf("DATA_DIR contains %v (%v), want only the key of tokens", entries, err)
	}
	g.stop(t)
	second := start(t, env)
	second.get(t, project+"/features/elsewhere")
	second.stop(t)
	otherTable := start(t, env, "TABLE_NAME=another")
	otherTable.fails(t, 404, "NotFoundError", "GET", project+"/features/elsewhere", nil)
}
