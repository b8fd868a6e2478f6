package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"guidon/internal/adminapi"
	"guidon/internal/child"
)

// A part is a run of Schemathesis against a server of its own.
type part struct {
	name   string
	st     string   // the program
	common []string // the arguments of each call
	args   []string // those of the call that tests all operations
	other  bool     // also tests what the admin token cannot do

	folder, config string
	process        *child.Process
	url            string
	server         *adminapi.Client
	known          dictionaries
	sent           int // requests that Schemathesis generated
}

// start starts Guidon with data of its own and creates the fixtures. stop must be called if it succeeds.
func (p *part) start(ctx context.Context, guidon, root string) (err error) {
	if p.folder, err = os.MkdirTemp("", "guidon-contract-"); err != nil {
		return err
	}
	if p.process, p.url, err = start(ctx, guidon, root, p.folder); err != nil {
		_ = os.RemoveAll(p.folder)
		return err
	}
	if err = p.prepare(ctx, root); err != nil {
		p.stop()
	}
	return err
}

func (p *part) stop() {
	p.process.Stop(os.Interrupt, stopTimeout)
	_ = os.RemoveAll(p.folder)
}

// prepare creates the fixtures and writes the settings of Schemathesis.
func (p *part) prepare(ctx context.Context, root string) (err error) {
	if p.server, err = adminapi.New("the server", p.url, adminToken); err != nil {
		return err
	}
	if p.known, err = create(ctx, p.server); err != nil {
		return err
	}
	settings, err := os.ReadFile(filepath.Join(root, "internal", "contract", "schemathesis.toml"))
	if err != nil {
		return err
	}
	p.config = filepath.Join(p.folder, "schemathesis.toml")
	return os.WriteFile(p.config, append(settings, p.known.toml()...), 0o600)
}

// run tests the server, and prints at the end, so that the lines of the parts do not mix.
func (p *part) run(ctx context.Context) error {
	began := time.Now()
	var printed bytes.Buffer
	err := p.test(ctx, &printed)
	fmt.Printf("\n== %s (%d s)\n%s", p.name, int(time.Since(began).Seconds()), printed.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

func (p *part) test(ctx context.Context, out io.Writer) (err error) {
	if p.sent, err = p.schemathesis(ctx, out, adminToken, p.args...); err != nil || !p.other {
		return err
	}
	// API tokens cannot use the operations on personal tokens.
	own, _ := p.known[personal][0].(string)
	if _, err := p.schemathesis(ctx, out, own, "--include-path-regex", "^/api/admin/user/tokens"); err != nil {
		return err
	}
	return signInAndOut(ctx, p.server, p.url)
}

// schemathesis runs all checks that the settings do not disable, and returns the number of generated requests.
func (p *part) schemathesis(ctx context.Context, out io.Writer, token string, more ...string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	args := append([]string{"--config-file", p.config, "run", p.url + "/docs/openapi.json", "--header", "Authorization: " + token}, p.common...)
	cmd := exec.CommandContext(ctx, p.st, append(args, more...)...)
	cmd.Dir = p.folder // where it leaves files
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, &printed), os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("schemathesis: %w", err)
	}
	if m := regexp.MustCompile(`(\d+) generated`).FindSubmatch(printed.Bytes()); m != nil {
		return strconv.Atoi(string(m[1]))
	}
	return 0, nil
}

// start starts Guidon, waits until it serves, and returns its URL.
func start(ctx context.Context, guidon, root, folder string) (*child.Process, string, error) {
	port, err := child.FreePort()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(guidon, "serve")
	cmd.Dir, cmd.Stdout = root, io.Discard
	cmd.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+filepath.Join(folder, "data"), "LOG_LEVEL=info", "AUTH_TYPE=", "INIT_ADMIN_API_TOKENS="+adminToken)
	process, err := child.Start(cmd)
	if err != nil {
		return nil, "", err
	}
	url := "http://127.0.0.1:" + port
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := process.Await(ctx, child.Serves(url+"/health", http.StatusOK)); err != nil {
		process.Kill()
		return nil, "", err
	}
	return process, url, nil
}
