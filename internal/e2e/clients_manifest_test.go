//go:build clients

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientsManifest pulls, pushes and generates with the unmodified OpenFeature CLI. The generated Go and TypeScript compile, and evaluate
// flags as their types; uses of an archived flag no longer compile.
func TestClientsManifest(t *testing.T) {
	g, dir := start(t), t.TempDir()
	sources := filepath.Join(root, "internal", "clients")
	cli := filepath.Join(dir, "cli")
	built := exec.Command("go", "build", "-trimpath", "-o", cli, "github.com/open-feature/cli/cmd/openfeature")
	built.Dir = filepath.Join(sources, "openfeature")
	if out, err := built.CombinedOutput(); err != nil {
		t.Fatalf("go build in internal/clients/openfeature: %v\n%s", err, out)
	}
	run := func(in, program string, args ...string) (string, error) {
		command := exec.Command(program, args...)
		command.Dir, command.Env = in, clientEnvironment(t, "CGO_ENABLED=0", "GOFLAGS=-mod=mod -trimpath", "URL="+g.url(), "TOKEN="+g.token, "OPENFEATURE_DISABLE_UPDATE_CHECK=1")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	must := func(in, program string, args ...string) string {
		t.Helper()
		out, err := run(in, program, args...)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
		return out
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, ".openfeature.yaml"), "provider-url: "+g.url()+"/api/openfeature/projects/default\nauth-token: '"+g.token+"'\n")
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "plain", "description": "Says <b>\"hällo\"</b>."}, nil)
	g.do(t, 201, "POST", project+"/features", map[string]any{"name": "limits", "valueType": "object", "defaultValue": map[string]int{"size": 1}}, nil)

	manifest := filepath.Join(dir, "flags.json")
	var pulled struct {
		Schema string `json:"$schema"`
		Flags  map[string]map[string]any
	}
	pull := func() {
		t.Helper()
		must(dir, cli, "pull", "--no-prompt")
		text, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		pulled.Flags = nil
		decode(t, text, &pulled)
	}
	pull()
	if plain := pulled.Flags["plain"]; len(pulled.Flags) != 2 || plain["flagType"] != "boolean" || plain["defaultValue"] != false {
		t.Errorf("pulled %v", pulled.Flags)
	}
	for name, flag := range map[string]map[string]any{
		"search-results": {"flagType": "integer", "defaultValue": 10, "description": "Results on a page."},
		"ratio":          {"flagType": "float", "defaultValue": 0.5, "description": ""},
		"greeting":       {"flagType": "string", "defaultValue": "Hello <&>", "description": ""},
	} {
		pulled.Flags[name] = flag
	}
	pulled.Flags["plain"]["defaultValue"] = true
	text, err := json.Marshal(map[string]any{"$schema": pulled.Schema, "flags": pulled.Flags})
	if err != nil {
		t.Fatal(err)
	}
	write(manifest, string(text))
	if out := must(dir, cli, "push"); !strings.Contains(out, "4 flag(s)") {
		t.Errorf("the first push: %s", out)
	}
	changes := g.get(t, "/api/admin/events?limit=100")
	if out := must(dir, cli, "push"); !strings.Contains(out, "already up to date") || g.get(t, "/api/admin/events?limit=100") != changes {
		t.Errorf("the second push: %s", out)
	}
	pull()
	if results := pulled.Flags["search-results"]; len(pulled.Flags) != 5 || results["defaultValue"] != 10.0 || pulled.Flags["plain"]["defaultValue"] != true {
		t.Errorf("pulled after the push: %v", pulled.Flags)
	}

	g.do(t, 200, "PUT", project+"/features/search-results/environments/development/variants",
		[]any{map[string]any{"name": "many", "weight": 1000, "payload": map[string]string{"type": "number", "value": "50"}}}, nil)
	for _, flag := range []string{"search-results", "plain"} {
		in := project + "/features/" + flag + "/environments/development"
		g.do(t, 200, "POST", in+"/strategies", map[string]string{"name": "default"}, nil)
		g.do(t, 200, "POST", in+"/on", nil, nil)
	}
	own := *g
	var client struct{ Secret string }
	g.do(t, 201, "POST", "/api/admin/api-tokens", map[string]string{"tokenName": "manifest", "type": "client", "environment": "development"}, &client)
	own.token = client.Secret
	g = &own

	goDir, nodeDir := filepath.Join(dir, "go"), nodeFolder(t)
	if err := os.CopyFS(goDir, os.DirFS(filepath.Join(sources, "openfeature", "program"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		write(filepath.Join(goDir, name), readRoot(t, "internal/clients/go/"+name))
	}
	write(filepath.Join(nodeDir, "package.json"), `{"type":"module"}`)
	write(filepath.Join(nodeDir, "program.ts"), readRoot(t, "internal/clients/openfeature/program.ts"))
	generate := func() {
		t.Helper()
		must(dir, cli, "generate", "go", "--package-name", "flags", "-o", filepath.Join(goDir, "flags"))
		must(dir, cli, "generate", "nodejs", "-o", nodeDir)
	}
	compile := map[string]func() (string, error){
		"Go": func() (string, error) {
			return run(goDir, "go", "build", "-o", filepath.Join(dir, "program"), "main.go")
		},
		"TypeScript": func() (string, error) {
			return run(nodeDir, "node", filepath.Join(root, "console", "node_modules", "typescript", "bin", "tsc"), "--strict", "--target", "es2022", "--module", "nodenext",
				"--skipLibCheck", "program.ts")
		},
	}
	generate()
	for language, compiles := range compile {
		if out, err := compiles(); err != nil {
			t.Fatalf("%s: %v\n%s", language, err, out)
		}
	}
	const want = "50 0.5 Hello <&> true 1"
	if out := must(goDir, filepath.Join(dir, "program")); strings.TrimSpace(out) != want {
		t.Errorf("the program in Go prints %q, want %q", out, want)
	}
	if out := must(nodeDir, "node", "program.js"); strings.TrimSpace(out) != want {
		t.Errorf("the program for Node.js prints %q, want %q", out, want)
	}
	admin := *g
	admin.token = defaultToken
	admin.do(t, 202, "DELETE", project+"/features/ratio", nil, nil)
	pull()
	generate()
	for language, identifier := range map[string]string{"Go": "Ratio", "TypeScript": "ratio"} {
		if out, err := compile[language](); err == nil || !strings.Contains(out, identifier) {
			t.Errorf("uses of an archived flag compile in %s: %v\n%s", language, err, out)
		}
	}
}
