package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestQuickStart runs the session of the README, with another port.
func TestQuickStart(t *testing.T) { takeQuickStart(t, start(t)) }

func takeQuickStart(t *testing.T, g *gateway) {
	t.Helper()
	page := filepath.Join(root, "README.md")
	followGuide(t, page, g.port)

	var got featureAnswer
	g.do(t, 200, "GET", project+"/features/new-checkout", nil, &got)
	development, production := got.in(t, "development"), got.in(t, "production")
	if !development.Enabled || production.Enabled {
		t.Errorf("the flag is on in development: %t, in production: %t, want true and false", development.Enabled, production.Enabled)
	}
	if len(development.Strategies) != 1 || development.Strategies[0].Parameters["rollout"] != "50" {
		t.Errorf("the strategies in development are %+v, want one with rollout 50", development.Strategies)
	}

	// The README says so: a second run ends at the first call.
	script, _ := guideScript(t, page, g.port)
	if out, err := bash(t, script); err == nil || !strings.Contains(out, "NameExistsError") || strings.Contains(out, "createdAt") {
		t.Errorf("a second time: %v, it printed\n%s\nwant the first call to fail, and to say why", err, out)
	}
	g.fails(t, 409, "NameExistsError", "POST", project+"/features", map[string]string{"name": "new-checkout"})
}

// bash runs a script that ends at the first failure.
func bash(t *testing.T, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH")) // finds guidon
	out, err := cmd.CombinedOutput()
	return string(out), err
}
