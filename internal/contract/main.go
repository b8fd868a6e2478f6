// Command contract checks a running Guidon against its own OpenAPI description with Schemathesis: `make contract`.
//
// It starts a server with its own data, creates fixtures, and lets Schemathesis send thousands of valid and invalid requests
// generated from /docs/openapi.json. Every response must match the description, no status may be 500, valid requests must be
// accepted and invalid ones refused. schemathesis.toml has the exceptions. A seed makes the requests the same in each run.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"guidon/internal/adminapi"
	"guidon/internal/child"
	"guidon/internal/engine"
)

const (
	adminToken = "*:*.contract-admin-token"
	atLeast    = 5000 // requests that a run must send

	startTimeout = 2 * time.Minute // the first start downloads the engine
	stopTimeout  = 20 * time.Second
	runTimeout   = 20 * time.Minute
)

func main() {
	seed := flag.Int("seed", 1, "seed of the generated requests")
	examples := flag.Int("examples", 15, "maximum number of generated requests for each operation")
	st := flag.String("st", "st", "path of the program schemathesis")
	guidon := flag.String("guidon", "", "path of the program guidon")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *guidon, *st, *seed, *examples)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, guidon, st string, seed, examples int) error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "guidon-contract-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	process, url, err := start(ctx, guidon, root, folder)
	if err != nil {
		return err
	}
	defer process.Stop(os.Interrupt, stopTimeout)
	server, err := adminapi.New("the server", url, adminToken)
	if err != nil {
		return err
	}
	known, err := create(ctx, server)
	if err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(root, "internal", "contract", "schemathesis.toml"))
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "schemathesis.toml")
	if err := os.WriteFile(file, append(config, known.toml()...), 0o600); err != nil {
		return err
	}
	args := []string{"--config-file", file, "run", url + "/docs/openapi.json", "--seed", strconv.Itoa(seed), "--workers", "1", "--no-color"}
	all := []string{"--max-examples", strconv.Itoa(examples), "--header", "Authorization: " + adminToken}
	sent, err := schemathesis(ctx, st, folder, append(args, all...)...)
	if err != nil {
		return err
	}
	// API tokens cannot use the operations on personal tokens.
	own := []string{"--include-path-regex", "^/api/admin/user/tokens", "--header", fmt.Sprintf("Authorization: %s", known[personal][0])}
	if _, err := schemathesis(ctx, st, folder, append(args, own...)...); err != nil {
		return err
	}
	if err := signInAndOut(ctx, server, url); err != nil {
		return err
	}
	if sent < atLeast {
		return fmt.Errorf("only %d requests were sent, expected at least %d", sent, atLeast)
	}
	return review(process.Output.String())
}

// schemathesis runs all checks that the settings do not disable, and returns the number of generated requests.
func schemathesis(ctx context.Context, st, folder string, args ...string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, st, args...)
	cmd.Dir = folder // where it leaves files
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &printed), os.Stderr
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
