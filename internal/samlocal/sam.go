package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"guidon/internal/detach"
)

// How long the SAM CLI may take to serve, and to end its containers.
const (
	serveTimeout = 2 * time.Minute
	endTimeout   = 30 * time.Second
)

// A sam is the SAM CLI with what it works on.
type sam struct {
	program string
	dir     string
	port    string
	arch    architecture
}

func newSAM(s settings, arch architecture) *sam {
	return &sam{program: s.sam, dir: s.dir, port: s.port, arch: arch}
}

// build builds every function. The folder is our own: in .aws-sam this build, which is not what ships, could be deployed.
func (c *sam) build(ctx context.Context) error {
	cmd := c.command(ctx, "build", "--build-dir", c.path("build"), "--parameter-overrides", "Architecture="+c.arch.sam)
	cmd.Env = append(cmd.Env, "ARCH="+c.arch.sam)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sam build: %w\n%s", err, out)
	}
	return nil
}

// configure writes the environment file and the configuration for every `sam local` command.
func (c *sam) configure(network string) error {
	variables := map[string]string{"TABLE_NAME": tableName, "TOKEN_KEY_SECRET": keySecret, "ADMIN_TOKEN_SECRET": adminSecret}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if name == "AUTH_TYPE" || name == "LOG_LEVEL" || strings.HasPrefix(name, "LIMIT_") {
			variables[name] = value
		}
	}
	env, err := json.MarshalIndent(map[string]any{"Parameters": variables}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path("env.json"), env, 0o600); err != nil {
		return err
	}
	config := fmt.Sprintf(`# Written by make sam-local, for every sam local command: --config-file.
version = 0.1

[default.global.parameters]
template_file = %q
parameter_overrides = %q
language_extensions = true
region = "local"

[default.local_invoke.parameters]
`, filepath.Join(c.path("build"), "template.yaml"), "Architecture="+c.arch.sam)
	shared := fmt.Sprintf(`env_vars = %q
docker_network = %q
invoke_image = [%q]
skip_pull_image = true
`, c.path("env.json"), network, imageName(c.arch))
	config += shared + "\n[default.local_start_api.parameters]\n" + shared + "warm_containers = \"LAZY\"\n"
	return os.WriteFile(c.config(), []byte(config), 0o600)
}

func (c *sam) config() string { return c.path("samconfig.toml") }

func (c *sam) path(name string) string { return filepath.Join(c.dir, name) }

// serve runs sam local start-api until ctx ends, and says when it serves.
func (c *sam) serve(ctx context.Context, ready func()) error {
	cmd := c.command(context.Background(), "local", "start-api", "--config-file", c.config(), "--port", c.port)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = detach.Attributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	var exit error // once it has ended
	go func() {
		exit = cmd.Wait()
		close(ended)
	}()
	late := time.After(serveTimeout)
	for listening := false; ; {
		var poll <-chan time.Time
		if !listening {
			poll = time.After(100 * time.Millisecond)
		}
		select {
		case <-ended:
			return errors.Join(errors.New("sam local start-api has ended by itself"), exit)
		case <-ctx.Done():
			return end(cmd, ended)
		case <-late:
			if !listening {
				return errors.Join(errors.New("sam local start-api does not serve"), end(cmd, ended))
			}
		case <-poll:
			if listening = listens(c.port); listening {
				ready()
			}
		}
	}
}

// end has the SAM CLI end its containers and itself.
func end(cmd *exec.Cmd, ended <-chan struct{}) error {
	if err := detach.Interrupt(cmd.Process); err == nil {
		select {
		case <-ended:
			return nil
		case <-time.After(endTimeout):
		}
	}
	return cmd.Process.Kill() // what it leaves goes with the network
}

func listens(port string) bool {
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", port), time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func (c *sam) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Env = append(localEnv(), "AWS_REGION=local",
		"SAM_CLI_TELEMETRY=0", "SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS=1", "SAM_CLI_CHECK_UPDATES=0")
	return cmd
}

// localEnv is the environment with credentials that only local engines take: the developer's own have no business in
// containers.
func localEnv() []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "AWS_") && !strings.HasPrefix(variable, "PORT=") && !strings.HasPrefix(variable, "DATA_DIR=") {
			env = append(env, variable)
		}
	}
	return append(env, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
}
