//go:build contract

package contract

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"guidon/internal/adminapi"
	"guidon/internal/child"
	"guidon/internal/engine"
)

// A part is a run of Schemathesis against a server of its own.
type part struct {
	name  string
	args  []string // of the call that tests all operations
	other bool     // also tests what the admin token cannot do

	folder, config, url string
	sent                int    // requests that Schemathesis generated
	log                 string // of the server
}

// run starts a server with data of its own, creates the fixtures, and tests it.
func (p *part) run(t *testing.T) {
	root, err := engine.Root()
	must(t, err)
	p.folder = t.TempDir()
	process := p.start(t, root)
	server, err := adminapi.New("the server", p.url, adminToken)
	must(t, err)
	known := create(t, server)
	settings, err := os.ReadFile("schemathesis.toml")
	must(t, err)
	p.config = filepath.Join(p.folder, "schemathesis.toml")
	must(t, os.WriteFile(p.config, append(settings, known.toml()...), 0o600))

	p.sent = p.schemathesis(t, adminToken, p.args...)
	if p.other {
		// API tokens cannot use the operations on personal tokens.
		own, _ := known[personal][0].(string)
		p.schemathesis(t, own, "--include-path-regex", "^/api/admin/user/tokens")
	}
	process.Stop(os.Interrupt, stopTimeout)
	p.log = process.Output.String()
}

// schemathesis runs all checks that the settings do not disable, and returns the number of generated requests.
func (p *part) schemathesis(t *testing.T, token string, more ...string) int {
	args := []string{"--config-file", p.config, "run", p.url + "/docs/openapi.json", "--header", "Authorization: " + token,
		"--seed", cmp.Or(os.Getenv("SEED"), "1"), "--workers", "1", "--no-color"}
	cmd := exec.CommandContext(t.Context(), os.Getenv("SCHEMATHESIS"), append(args, more...)...)
	cmd.Dir = p.folder // where it leaves files
	printed, err := cmd.CombinedOutput()
	t.Logf("%s", printed)
	if err != nil {
		t.Fatalf("schemathesis: %v", err)
	}
	m := regexp.MustCompile(`(\d+) generated`).FindSubmatch(printed)
	if m == nil {
		return 0
	}
	sent, err := strconv.Atoi(string(m[1]))
	must(t, err)
	return sent
}

// start starts Guidon and waits until it serves.
func (p *part) start(t *testing.T, root string) *child.Process {
	port, err := child.FreePort()
	must(t, err)
	p.url = "http://127.0.0.1:" + port
	cmd := exec.Command(os.Getenv("GUIDON"), "serve")
	cmd.Dir, cmd.Stdout = root, io.Discard
	cmd.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+filepath.Join(p.folder, "data"), "LOG_LEVEL=info", "AUTH_TYPE=", "INIT_ADMIN_API_TOKENS="+adminToken)
	process, err := child.Start(cmd)
	must(t, err)
	t.Cleanup(process.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	must(t, process.Await(ctx, child.Serves(p.url+"/health", http.StatusOK)))
	return process
}
