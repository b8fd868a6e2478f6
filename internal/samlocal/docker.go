package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"guidon/internal/engine"
	"guidon/internal/guard"
	"guidon/pkg/seal"
)

// Names and ports that the functions use.
const (
	alias       = "guidon-aws" // the container with DynamoDB and Secrets Manager
	dynamoPort  = "8000"
	secretsPort = "8001"
	keySecret   = "guidon-token-key"
	adminSecret = "guidon-admin-token"
	tableName   = "guidon"
)

// An architecture has different names in Go and on AWS.
type architecture struct{ goarch, sam string }

// dockerArch returns the architecture of Docker's containers. Its errors explain what to do if Docker is missing or stopped.
func dockerArch(ctx context.Context) (architecture, error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return architecture{}, errors.New("docker is missing: sam local runs each function in a container. " +
			"Install Docker from https://docs.docker.com/get-docker/, or use `make run`, which needs no Docker")
	}
	out, err := docker(ctx, "version", "--format", "{{.Server.Arch}}")
	if err != nil {
		return architecture{}, fmt.Errorf("docker does not answer: start Docker (as root: dockerd), or use `make run`, which needs no Docker: %w", err)
	}
	switch out {
	case "amd64":
		return architecture{out, "x86_64"}, nil
	case "arm64":
		return architecture{out, "arm64"}, nil
	}
	return architecture{}, fmt.Errorf("docker runs on %s; Lambda supports only x86_64 and arm64", out)
}

// docker runs a command and returns its output. The error contains what it printed on stderr.
func docker(ctx context.Context, args ...string) (string, error) {
	return dockerWith(ctx, nil, args...)
}

// dockerWith runs docker with additional environment variables.
func dockerWith(ctx context.Context, env []string, args ...string) (string, error) {
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// A backend is a Docker network with a container that runs DynamoDB and Secrets Manager.
type backend struct {
	name   string // of the network and of the container
	dir    string
	arch   architecture
	secret string // in the path of requests to both
}

// backendName returns the same name on every start with a port, so that a start finds what a killed run left behind.
func backendName(port string) string { return "guidon-sam-local-" + port }

// start creates the backend, after removing one of the same name.
func (b *backend) start(ctx context.Context) error {
	if err := b.remove(); err != nil {
		return err
	}
	bin := filepath.Join(b.dir, "bin")
	if err := b.binaries(ctx, bin); err != nil {
		return err
	}
	secrets, err := b.secrets()
	if err != nil {
		return err
	}
	if _, err := docker(ctx, "network", "create", b.name); err != nil {
		return err
	}
	_, err = dockerWith(ctx, []string{"SECRETS=" + secrets, "GUARD=" + b.secret}, // as variables, because other users can see arguments
		"run", "--detach", "--name", b.name, "--network", b.name, "--network-alias", alias,
		"--publish", "127.0.0.1::"+dynamoPort, "--volume", bin+":/guidon:ro",
		"--env", "DYNAMODB_ADDRESS=:"+dynamoPort, "--env", "SECRETS_ADDRESS=:"+secretsPort, "--env", "SECRETS", "--env", "GUARD",
		"--entrypoint", "/guidon/inside", imageName(b.arch), "/guidon/dynoxide", "mcp")
	return err
}

// binaries puts the engine, and the program that runs it, into the folder that is mounted in the container.
func (b *backend) binaries(ctx context.Context, bin string) error {
	dynoxide, err := engine.Dynoxide(ctx, "linux", b.arch.goarch, os.Stderr)
	if err != nil {
		return err
	}
	if err := goBuild(ctx, b.arch, filepath.Join(bin, "inside"), "./internal/samlocal/inside"); err != nil {
		return err
	}
	raw, err := os.ReadFile(dynoxide)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bin, "dynoxide"), raw, 0o755)
}

// secrets returns the secrets of the template as JSON: the key that encrypts tokens, created if necessary, and an empty one
// for the admin token, which SetupFunction sets.
func (b *backend) secrets() (string, error) {
	if _, err := seal.FromFile(b.keyFile()); err != nil {
		return "", err
	}
	key, err := os.ReadFile(b.keyFile())
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(map[string]string{keySecret: string(key), adminSecret: ""})
	return string(raw), err
}

// guardSecret returns the secret in the folder, created if necessary. It is kept because the image of the functions contains it.
func guardSecret(dir string) (string, error) {
	path := filepath.Join(dir, "guard.secret")
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) > 0 {
		return string(raw), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := guard.NewSecret()
	return secret, os.WriteFile(path, []byte(secret), 0o600)
}

func (b *backend) keyFile() string { return filepath.Join(b.dir, "token.key") }

// setUp creates and seeds the table, with the tokens in the environment.
func (b *backend) setUp(ctx context.Context, guidon string) error {
	address, err := docker(ctx, "port", b.name, dynamoPort)
	if err != nil {
		return err
	}
	address, _, _ = strings.Cut(address, "\n")
	cmd := exec.CommandContext(ctx, guidon, "setup")
	cmd.Env = append(localEnv(), "AWS_ENDPOINT_URL_DYNAMODB=http://"+address+"/"+b.secret, "TABLE_NAME="+tableName,
		"TOKEN_KEY_FILE="+b.keyFile(), "DATA_DIR="+b.dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		logs, _ := docker(ctx, "logs", b.name)
		return fmt.Errorf("creating the table: %w; the engine printed: %s", err, logs)
	}
	return nil
}

// remove removes the network and every container in it, including those of functions.
func (b *backend) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // also after the context of the program has ended
	defer cancel()
	list, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "network="+b.name)
	if err != nil {
		return err
	}
	if ids := strings.Fields(list); len(ids) > 0 {
		if _, err := docker(ctx, append([]string{"rm", "--force"}, ids...)...); err != nil {
			return err
		}
	}
	networks, err := docker(ctx, "network", "ls", "--quiet", "--filter", "name=^"+b.name+"$")
	if err != nil || networks == "" {
		return err
	}
	_, err = docker(ctx, "network", "rm", b.name)
	return err
}

// goBuild builds a program of this repository for a container.
func goBuild(ctx context.Context, arch architecture, out, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch.goarch)
	if printed, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", program, err, printed)
	}
	return nil
}
