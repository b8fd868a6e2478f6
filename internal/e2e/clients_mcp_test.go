//go:build clients

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientsMCP calls tools with two programs of others: the inspector's command, over HTTP and over `guidon mcp`, and the official client in
// JavaScript. The tests of pkg/agents use the one in Go.
func TestClientsMCP(t *testing.T) {
	g := start(t)
	folder := tool(t, "CLIENTS_MCP")
	source, err := os.Open(filepath.Join(root, "internal", "clients", "mcp", "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	url := g.url() + "/api/admin/mcp"
	for _, discovery := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api/admin/mcp", "/.well-known/oauth-authorization-server"} {
		if status, body, err := g.send(t.Context(), "GET", discovery, nil); err != nil || status != 404 { // with OAuth, clients ignore the token that they were given
			t.Errorf("%s: %d %.200s, %v; want 404", discovery, status, body, err)
		}
	}
	inspector := []string{"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli"}
	over := func(more ...string) []string { return append(inspector[:2:2], more...) }
	for _, tt := range []struct {
		name, want string
		args       []string
	}{
		{"the list of tools", `"propose_change"`, over(url, "--transport", "http", "--header", "Authorization: "+g.token, "--method", "tools/list")},
		{"a flag", `"name": "of-inspector"`, over(url, "--transport", "http", "--header", "Authorization: Bearer "+g.token, "--method", "tools/call",
			"--tool-name", "create_flag", "--tool-arg", "project=default", "name=of-inspector")},
		{"a flag over standard input", `"name": "of-inspector"`, over("-e", "GUIDON_URL="+g.url(), "-e", "GUIDON_TOKEN="+g.token, binary, "mcp", "--method", "tools/call",
			"--tool-name", "get_flag", "--tool-arg", "project=default", "flag=of-inspector")},
		{"the client in JavaScript", `"agent":"node"`, []string{"--input-type=module", "-", url, g.token, "get_flag", `{"project":"default","flag":"of-inspector"}`}},
	} {
		command := exec.Command("node", tt.args...)
		command.Dir, command.Stdin = folder, source
		command.Env = append(os.Environ(), "HOME="+t.TempDir()) // the inspector keeps files there
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v; it printed\n%.2000s", tt.name, err, out)
		}
	}
}
