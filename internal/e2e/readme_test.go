package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shellBlock matches a fenced block of shell commands.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestQuickStart runs the commands of the README, with another port.
func TestQuickStart(t *testing.T) { takeQuickStart(t, start(t)) }

func takeQuickStart(t *testing.T, g *gateway) {
	t.Helper()
	script := quickStart(t, g.port)
	out, err := bash(t, script)
	if err != nil {
		t.Fatalf("%v; it printed\n%s", err, out)
	}
	if n := strings.Count(out, `"new-checkout"`); n < 3 {
		t.Errorf("it printed\n%s\nwant the flag created, read back and in the list", out)
	}

	var got featureAnswer
	g.do(t, 200, "GET", project+"/features/new-checkout", nil, &got)
	development, production := got.in(t, "development"), got.in(t, "production")
	if !development.Enabled || production.Enabled {
		t.Errorf("the flag is on in development: %t, in production: %t, want true and false", development.Enabled, production.Enabled)
	}
	if len(development.Strategies) != 1 || development.Strategies[0].Parameters["rollout"] != "50" {
		t.Errorf("the strategies in development are %+v, want one with rollout 50", development.Strategies)
	}

	// The README says so: a second time ends at the first call.
	if out, err := bash(t, script); err == nil || !strings.Contains(out, "NameExistsError") || strings.Contains(out, "createdAt") {
		t.Errorf("a second time: %v, it printed\n%s\nwant the first call to fail, and to say why", err, out)
	}
	g.fails(t, 409, "NameExistsError", "POST", project+"/features", map[string]string{"name": "new-checkout"})
}

// quickStart returns the shell blocks of the README as one script for a port.
func quickStart(t *testing.T, port string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(readme), -1)
	var script strings.Builder
	for _, b := range blocks {
		script.WriteString(b[1])
	}
	if calls := strings.Count(script.String(), "curl "); calls < 5 || !strings.Contains(script.String(), "127.0.0.1:4242") {
		t.Fatalf("README.md has %d blocks of sh, with %d curl calls; want a quick start of five or more, to 127.0.0.1:4242", len(blocks), calls)
	}
	return strings.ReplaceAll(script.String(), "127.0.0.1:4242", address(port))
}

// bash runs a script that ends at the first failure.
func bash(t *testing.T, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	return string(out), err
}
