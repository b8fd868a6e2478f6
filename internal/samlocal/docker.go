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

// What the functions find on their network.
const (
	alias       = "guidon-aws" // the name of the container with both
	dynamoPort  = "8000"
	secretsPort = "8001"
	keySecret   = "guidon-token-key"
	adminSecret = "guidon-admin-token"
	tableName   = "guidon"
)

// An architecture by the names that Go and AWS have for it.
type architecture struct{ goarch, sam string }

// dockerArch is what Docker's containers run on. It fails with words for somebody who has no Docker, or has not started it.
func dockerArch(ctx context.Context) (architecture, error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return architecture{}, errors.New("docker is missing: sam local runs each function in a container. " +
			"Install Docker from https://docs.docker.com/get-docker/, or use `make run`, which needs none")
	}
	out, err := docker(ctx, "version", "--format", "{{.Server.Arch}}")
	if err != nil {
		return architecture{}, fmt.Errorf("docker does not answer; start Docker (as root: dockerd), or use `make run`, which needs none: %w", err)
	}
	switch out {
	case "amd64":
		return architecture{out, "x86_64"}, nil
	case "arm64":
		return architecture{out, "arm64"}, nil
	}
	return architecture{}, fmt.Errorf("docker runs on %s, and Lambda on x86_64 and arm64 alone", out)
}

// docker runs a command and gives what it printed; its error has what it complained of.
func docker(ctx context.Context, args ...string) (string, error) {
	return dockerWith(ctx, nil, args...)
}

// dockerWith does so with more variables in its environment.
func dockerWith(ctx context.Context, env []string, args ...string) (string, error) {
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// A place is a network with DynamoDB and Secrets Manager in a container. Its name is the network's and the container's.
type place struct {
	name   string
	dir    string
	arch   architecture
	secret string // what requests to both have in their path
}

// placeName differs between those that run at the same time, and not from one start to the next: what was left behind
// by one that was killed is found by it.
func placeName(port string) string { return "guidon-sam-local-" + port }

// start makes the place, after removing one of the same name.
func (p *place) start(ctx context.Context) error {
	if err := p.remove(); err != nil {
		return err
	}
	bin := filepath.Join(p.dir, "bin")
	if err := p.binaries(ctx, bin); err != nil {
		return err
	}
	secrets, err := p.secrets()
	if err != nil {
		return err
	}
	if _, err := docker(ctx, "network", "create", p.name); err != nil {
		return err
	}
	_, err = dockerWith(ctx, []string{"SECRETS=" + secrets, "GUARD=" + p.secret}, // not in the arguments, which other users see
		"run", "--detach", "--name", p.name, "--network", p.name, "--network-alias", alias,
		"--publish", "127.0.0.1::"+dynamoPort, "--volume", bin+":/guidon:ro",
		"--env", "DYNAMODB_ADDRESS=:"+dynamoPort, "--env", "SECRETS_ADDRESS=:"+secretsPort, "--env", "SECRETS", "--env", "GUARD",
		"--entrypoint", "/guidon/inside", imageName(p.arch), "/guidon/dynoxide", "mcp")
	return err
}

// binaries puts the engine and the program around it into a folder that the container gets.
func (p *place) binaries(ctx context.Context, bin string) error {
	dynoxide, err := engine.Dynoxide(ctx, "linux", p.arch.goarch, os.Stderr)
	if err != nil {
		return err
	}
	if err := goBuild(ctx, p.arch, filepath.Join(bin, "inside"), "./internal/samlocal/inside"); err != nil {
		return err
	}
	raw, err := os.ReadFile(dynoxide)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bin, "dynoxide"), raw, 0o755)
}

// secrets are those of the template, as JSON: the key that tokens are sealed with, made if there is none, and one for an
// admin token, which BootstrapFunction gives a value.
func (p *place) secrets() (string, error) {
	if _, err := seal.FromFile(p.keyFile()); err != nil {
		return "", err
	}
	key, err := os.ReadFile(p.keyFile())
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(map[string]string{keySecret: string(key), adminSecret: ""})
	return string(raw), err
}

// guardSecret is the secret of the place in this folder, made if there is none. It stays, since the functions' image has it.
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

func (p *place) keyFile() string { return filepath.Join(p.dir, "token.key") }

// setUp makes and seeds the table, with the tokens that the environment names.
func (p *place) setUp(ctx context.Context, guidon string) error {
	address, err := docker(ctx, "port", p.name, dynamoPort)
	if err != nil {
		return err
	}
	address, _, _ = strings.Cut(address, "\n")
	cmd := exec.CommandContext(ctx, guidon, "setup")
	cmd.Env = append(localEnv(), "AWS_ENDPOINT_URL_DYNAMODB=http://"+address+"/"+p.secret, "TABLE_NAME="+tableName,
		"TOKEN_KEY_FILE="+p.keyFile(), "DATA_DIR="+p.dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		logs, _ := docker(ctx, "logs", p.name)
		return fmt.Errorf("making the table: %w; the engine printed: %s", err, logs)
	}
	return nil
}

// remove ends what is there of the place, the containers of functions included.
func (p *place) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it has to be done when all else was told to end
	defer cancel()
	list, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "network="+p.name)
	if err != nil {
		return err
	}
	if ids := strings.Fields(list); len(ids) > 0 {
		if _, err := docker(ctx, append([]string{"rm", "--force"}, ids...)...); err != nil {
			return err
		}
	}
	networks, err := docker(ctx, "network", "ls", "--quiet", "--filter", "name=^"+p.name+"$")
	if err != nil || networks == "" {
		return err
	}
	_, err = docker(ctx, "network", "rm", p.name)
	return err
}

// goBuild builds one of our programs for a container.
func goBuild(ctx context.Context, arch architecture, out, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch.goarch)
	if printed, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", program, err, printed)
	}
	return nil
}
