// Command contract lets Schemathesis hold a gateway to its own description: `make contract`.
//
// It starts a gateway with data of its own, puts some things into it, and has Schemathesis ask it thousands of questions,
// good and bad ones, that it makes of /docs/openapi.json. Every answer must be in the description, none may be a 500,
// what the description allows must be taken and what it forbids refused. schemathesis.toml has what is special here.
//
// The questions are the same each time: they come from a seed.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"guidon/internal/child"
	"guidon/internal/engine"
)

// token is the administrator's.
const token = "*:*.contract-admin-token"

// atLeast is how many questions a run must have asked to mean something.
const atLeast = 5000

// What a run may take at most: the start of the gateway, which may have to fetch its engine, and the questions.
const (
	startTimeout = 2 * time.Minute
	askTimeout   = 10 * time.Minute
)

func main() {
	seed := flag.Int("seed", 1, "what the questions are made of")
	examples := flag.Int("examples", 15, "how many questions at most are made up for an operation")
	st := flag.String("st", "st", "the program of Schemathesis")
	gateway := flag.String("gateway", "", "the program of the gateway")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *gateway, *st, *seed, *examples)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, st string, seed, examples int) error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "guidon-contract-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	g, err := start(ctx, program, root, folder)
	if err != nil {
		return err
	}
	defer g.stop()
	there, err := g.furnish(ctx)
	if err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(root, "internal", "contract", "schemathesis.toml"))
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "schemathesis.toml")
	if err := os.WriteFile(file, append(config, there.toml()...), 0o600); err != nil {
		return err
	}
	args := []string{"--config-file", file, "run", g.url + "/docs/openapi.json", "--seed", strconv.Itoa(seed), "--workers", "1", "--no-color"}
	made := []string{"--max-examples", strconv.Itoa(examples), "--header", "Authorization: " + token}
	asked, err := ask(ctx, st, folder, append(args, made...)...)
	if err != nil {
		return err
	}
	// What belongs to a person no API token may do.
	own := []string{"--include-path-regex", "^/api/admin/user/tokens", "--header", fmt.Sprintf("Authorization: %s", there[personal][0])}
	if _, err := ask(ctx, st, folder, append(args, own...)...); err != nil {
		return err
	}
	if asked < atLeast {
		return fmt.Errorf("only %d questions were asked, want %d", asked, atLeast)
	}
	return g.review()
}

// ask runs Schemathesis with every check that it has, which is what it does unless the settings say otherwise. It returns
// how many questions were asked.
func ask(ctx context.Context, st, folder string, args ...string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, st, args...)
	cmd.Dir = folder // it leaves things where it is called
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &printed), os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("schemathesis: %w", err)
	}
	m := regexp.MustCompile(`(\d+) generated`).FindSubmatch(printed.Bytes())
	if m == nil {
		return 0, nil
	}
	return strconv.Atoi(string(m[1]))
}

// A gateway is one that was started for this.
type gateway struct {
	cmd    *exec.Cmd
	url    string
	stderr child.Output
}

// start starts a gateway and waits until it serves.
func start(ctx context.Context, program, root, folder string) (*gateway, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	g := &gateway{cmd: exec.Command(program, "serve"), url: "http://127.0.0.1:" + port}
	g.cmd.Dir = root
	g.cmd.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+filepath.Join(folder, "data"), "LOG_LEVEL=info", "AUTH_TYPE=", "INIT_ADMIN_API_TOKENS="+token)
	g.cmd.Stderr = &g.stderr
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if _, err := g.send(ctx, http.MethodGet, "/health", ""); err == nil {
			return g, nil
		}
		select {
		case <-ctx.Done():
			g.stop()
			return nil, fmt.Errorf("the gateway does not serve:\n%s", g.stderr.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), nil
}

// stop ends the gateway, and with it the engine.
func (g *gateway) stop() {
	_ = g.cmd.Process.Signal(os.Interrupt) // fails when it has ended
	_ = g.cmd.Wait()                       // how it ended matters no more
}

// send sends a request as the administrator, and returns the body of a success.
func (g *gateway) send(ctx context.Context, method, path, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, g.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusMultipleChoices {
		err = errors.New(method + " " + path + ": " + answer.Status + " " + string(content))
	}
	return string(content), err
}
