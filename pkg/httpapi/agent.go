package httpapi

import (
	"cmp"
	"net/http"
	"strings"
)

// AgentOf returns the name that an AI agent gives itself, if an MCP server sends the request; "" for other requests. Such a server acts for a
// person, with that person's token, and its client is the agent: "unleash-mcp/0.2.6 (MCP Server; client=claude-code/1.2.3)".
func AgentOf(r *http.Request) string {
	product, comment, _ := strings.Cut(r.UserAgent(), " ")
	server, _, _ := strings.Cut(product, "/")
	if !strings.HasSuffix(server, "-mcp") {
		return ""
	}
	_, client, _ := strings.Cut(comment, "client=")
	if end := strings.IndexAny(client, ";)"); end >= 0 {
		client = client[:end]
	}
	return cmp.Or(agentName(client), agentName(server))
}

// MCPUserAgent is the User-Agent with which Guidon's own MCP server calls for a client.
func MCPUserAgent(version, client string) string {
	return "guidon-mcp/" + version + " (client=" + agentName(client) + ")"
}

// agentName returns at most 100 characters of a name that anyone can send, and only those that a comment in a User-Agent can have.
func agentName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || strings.ContainsRune("();", c) {
			return -1
		}
		return c
	}, name)
	return strings.TrimSpace(name[:min(len(name), 100)])
}
