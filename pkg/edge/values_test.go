package edge

import (
	"strings"
	"testing"
)

// TestTypedFlags checks that Edge answers OFREP with the types and default values of flags, from a Guidon, from what it publishes, from its own
// backup and behind another Edge, and that SDKs see nothing of them.
func TestTypedFlags(t *testing.T) {
	g, folder, backup := newGuidon(t), t.TempDir(), t.TempDir()
	const flags = "/api/admin/projects/default/features"
	g.do("POST", flags, `{"name":"size","valueType":"integer","defaultValue":10}`)
	token := g.token("client", "*", "development")
	publish := g.publisher(toFolder(folder))
	publish()
	first := newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": token, "BACKUP_FOLDER": backup})
	edges := map[string]*instance{
		"Guidon": first, "a folder": newEdge(t, "edge", map[string]string{"UPSTREAM_URL": folder, "TOKENS": token}),
		"another Edge": newEdge(t, "edge", map[string]string{"UPSTREAM_URL": first.url, "TOKENS": token}),
	}
	wantValue := func(value string) {
		t.Helper()
		for upstream, e := range edges {
			await(t, "OFREP behind "+upstream, true, func() bool {
				return strings.Contains(e.ask("POST", "/ofrep/v1/evaluate/flags/size", token, `{"context":{}}`).body, `"value":`+value+`,`)
			})
		}
	}
	wantValue("10")
	features := ask(t, "GET", g.URL+"/api/client/features", token, "").want(t, 200)
	if strings.Contains(features.body, "valueType") {
		t.Errorf("SDKs see the type: %s", features)
	}
	g.do("PUT", flags+"/size", `{"defaultValue":11}`)
	publish()
	wantValue("11")
	for upstream, e := range edges {
		if got := e.ask("GET", "/api/client/features", token, "").want(t, 200); strings.Contains(got.body, "valueType") {
			t.Errorf("SDKs behind Edge behind %s see the type: %s", upstream, got)
		}
	}
	first.stop()
	g.fails(status(503))
	edges = map[string]*instance{"the backup": newEdge(t, "edge", map[string]string{"UPSTREAM_URL": g.URL, "TOKENS": token, "BACKUP_FOLDER": backup})}
	wantValue("11")
}
