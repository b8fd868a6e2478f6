package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP starts `guidon mcp` as an agent does, in both revisions of the protocol.
func TestMCP(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		cmd := exec.Command(os.Args[0], "mcp")
		cmd.Env = append(os.Environ(), "GUIDON_TEST_COMMAND=1", "GUIDON_URL="+serverURL, "GUIDON_TOKEN="+adminToken)
		var messages strings.Builder
		cmd.Stderr = &messages
		client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1.2"}, nil)
		session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		flag := "of-agent-" + revision
		for _, tool := range []struct{ name, want string }{{"create_flag", `"name":"` + flag + `"`}, {"get_flag", `"agent":"tester/1.2"`}} {
			arguments := map[string]any{"project": "default", map[string]string{"create_flag": "name", "get_flag": "flag"}[tool.name]: flag}
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.name, Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			if text := got.Content[0].(*mcp.TextContent).Text; got.IsError || !strings.Contains(text, tool.want) {
				t.Errorf("%s in %s: %s, want %s", tool.name, revision, text, tool.want)
			}
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		if messages.Len() > 0 {
			t.Errorf("it printed %s", &messages)
		}
	}
}
