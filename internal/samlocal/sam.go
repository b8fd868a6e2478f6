package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"guidon/internal/child"
	"guidon/pkg/dynamo"
)

// How long the SAM CLI may take to start, and to stop its containers.
const (
	serveTimeout = 2 * time.Minute
	endTimeout   = 30 * time.Second
)

// A sam runs commands of the SAM CLI.
type sam struct {
	program string
	dir     string
	port    string
	arch    architecture
}

func newSAM(s settings, arch architecture) *sam {
	return &sam{program: s.sam, dir: s.dir, port: s.port, arch: arch}
}

// build builds every function. It does not use .aws-sam, from which this build could be deployed by mistake.
func (c *sam) build(ctx context.Context) error {
	cmd := c.command(ctx, "build", "--build-dir", c.path("build"), "--parameter-overrides", "Architecture="+c.arch.sam, "Alarms=off")
	cmd.Env = append(cmd.Env, "ARCH="+c.arch.sam)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sam build: %w\n%s", err, out)
	}
	return nil
}

// configure writes the environment and the configuration for `sam local` commands.
func (c *sam) configure(network string) error {
	variables := map[string]string{"TABLE_NAME": tableName, "TOKEN_KEY_SECRET": keySecret, "ADMIN_TOKEN_SECRET": adminSecret}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if name == "AUTH_TYPE" || name == "LOG_LEVEL" || name == "LIMITS" {
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
	config := fmt.Sprintf(`# Written by make sam-local, for other sam local commands (--config-file).
version = 0.1

[default.global.parameters]
template_file = %q
parameter_overrides = %q
region = %q

[default.local_invoke.parameters]
`, filepath.Join(c.path("build"), "template.yaml"), "Architecture="+c.arch.sam+" Alarms=off", dynamo.LocalRegion)
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

// serve runs sam local start-api until ctx ends, and calls ready once it serves.
func (c *sam) serve(ctx context.Context, ready func()) error {
	cmd := c.command(context.Background(), "local", "start-api", "--config-file", c.config(), "--port", c.port)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	p, err := child.Start(cmd)
	if err != nil {
		return err
	}
	defer p.Stop(os.Interrupt, endTimeout) // it removes its containers; others are removed with the network
	starting, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	if err := p.Await(starting, c.listens); err != nil {
		return err
	}
	ready()
	select {
	case <-p.Ended():
		return fmt.Errorf("sam local start-api ended by itself: %s", cmd.ProcessState)
	case <-ctx.Done():
		return nil
	}
}

func (c *sam) listens(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", c.port))
	if err != nil {
		return err
	}
	return conn.Close()
}

func (c *sam) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Env = append(localEnv(), "AWS_REGION="+dynamo.LocalRegion,
		"SAM_CLI_TELEMETRY=0", "SAM_CLI_CHECK_UPDATES=0")
	return cmd
}

// localEnv returns the environment with fake AWS credentials, so that the developer's own do not get into containers.
func localEnv() []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "AWS_") && !strings.HasPrefix(variable, "PORT=") && !strings.HasPrefix(variable, "DATA_DIR=") {
			env = append(env, variable)
		}
	}
	return append(env, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
}
