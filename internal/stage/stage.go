//go:build !windows

// Package stage deploys Guidon with the SAM CLI, to AWS or to MiniStack, an emulator of AWS, and runs commands of docs/operations
// on what it deployed.
package stage

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"guidon/internal/child"
)

// A Stage is a stack that is deployed from the source in Root with the settings of a stage of samconfig.toml.
type Stage struct {
	Root, Config, Stack string
	SAM, Arch           string    // the SAM CLI, and the architecture of the functions
	Dir                 string    // for the build, and for the files that commands write
	Env                 []string  // of all commands
	Emulator            *Emulator // nil on AWS
	Parameters          []string  // of every deployment
	Options             []string  // of `sam deploy`, for infra/deploy and infra/rollback

	template string
	first    string // the first admin tokens in the emulator begin with it
}

// Emulate starts the emulator with the program of MiniStack, which has the AWS CLI beside it. Commands then reach the emulator.
func (s *Stage) Emulate(ctx context.Context, program string) error {
	port, err := child.FreePort()
	if err != nil {
		return err
	}
	temporary := filepath.Join(s.Dir, "emulator")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	if s.Emulator, err = startEmulator(ctx, program, temporary, port); err != nil {
		return err
	}
	s.Env = append(slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "AWS_") }),
		"PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"),
		"AWS_ENDPOINT_URL="+s.Emulator.Endpoint, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", // the root user, in MiniStack
		"AWS_REGION="+region, "AWS_DEFAULT_REGION="+region,
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	s.first = "*:*." + hex.EncodeToString(secret)
	return nil
}

// Built is the folder of the built functions.
func (s *Stage) Built() string { return filepath.Join(s.Dir, "build") }

// Build runs `sam build` in the folder of a version. For the emulator, it adapts the template.
func (s *Stage) Build(ctx context.Context, version string) error {
	err := s.sam(ctx, version, "build", "--build-dir", s.Built(), "--parameter-overrides", "Architecture="+s.Arch)
	s.template = filepath.Join(s.Built(), "template.yaml")
	if err != nil || s.Emulator == nil {
		return err
	}
	raw, err := os.ReadFile(s.template)
	if err != nil {
		return err
	}
	if raw, err = adaptTemplate(raw, s.Emulator.Endpoint, s.first); err != nil {
		return err
	}
	s.template = filepath.Join(s.Built(), "adapted.json") // beside the functions, which it names by their folders
	return os.WriteFile(s.template, raw, 0o600)
}

// Deploy runs infra/deploy with what was built and Parameters, and with others such as "LogLevel=WARN", which win.
func (s *Stage) Deploy(ctx context.Context, others ...string) error {
	values := map[string]string{}
	for _, parameter := range slices.Concat([]string{"Architecture=" + s.Arch}, s.Parameters, others) {
		name, value, _ := strings.Cut(parameter, "=")
		values[name] = name + "=" + value
	}
	_, err := s.script(ctx, "deploy", "--no-build", "--template-file", s.template, "--parameter-overrides", strings.Join(slices.Sorted(maps.Values(values)), " "))
	return err
}

// Rollback runs infra/rollback, and returns what it prints.
func (s *Stage) Rollback(ctx context.Context) (string, error) { return s.script(ctx, "rollback") }

// script runs a script of infra for the stage, with options of `sam deploy`. The stage is the one of samconfig.toml, with the stack and the
// architecture of s.
func (s *Stage) script(ctx context.Context, name string, args ...string) (string, error) {
	config, err := os.ReadFile(filepath.Join(s.Root, "samconfig.toml"))
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.Dir, "samconfig.toml")
	replaced := strings.NewReplacer(`"guidon-`+s.Config+`"`, `"`+s.Stack+`"`, "Architecture=arm64", "Architecture="+s.Arch).Replace(string(config))
	if err := os.WriteFile(file, []byte(replaced), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.Root, "infra", name), slices.Concat([]string{s.Config}, args, s.Options)...)
	cmd.Env = append(slices.Clone(s.Env), "SAM="+s.SAM, "SAMCONFIG="+file, "BUILD="+s.Built(), "BUDGET=none", "YES=1", "SAM_CLI_TELEMETRY=0")
	out, err := run(cmd, true)
	if err != nil {
		return "", fmt.Errorf("infra/%s: %w; it printed\n%s", name, err, out)
	}
	return string(out), nil
}

func (s *Stage) sam(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, s.SAM, args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(s.Env), "ARCH="+s.Arch, "SAM_CLI_TELEMETRY=0")
	if out, err := run(cmd, true); err != nil {
		return fmt.Errorf("sam %s: %w; it printed\n%s", args[0], err, out)
	}
	return nil
}

// Shell runs a script in the shell that docs/operations/README.md sets up, and returns what it writes to standard output.
func (s *Stage) Shell(ctx context.Context, script string, args ...string) (string, error) {
	setUp, err := s.Blocks("docs/operations/README.md", "# Operations")
	if err != nil {
		return "", err
	}
	_, setUp[0], _ = strings.Cut(setUp[0], "\n") // which sets the profile and the region
	text := strings.Replace(setUp[0], "guidon-prod", s.Stack, 1) + script
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-euo", "pipefail", "-c", text, "bash"}, args...)...)
	cmd.Dir, cmd.Env = s.Dir, append(slices.Clone(s.Env), "ROOT="+s.Root, "AWS_PAGER=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := run(cmd, false)
	if err != nil {
		return "", fmt.Errorf("%w; the script\n%s\nprinted\n%s%s", err, script, out, &stderr)
	}
	return string(out), nil
}

// run runs a command. When its context ends, it gets time to end by itself.
func run(cmd *exec.Cmd, combined bool) ([]byte, error) {
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	if combined {
		return cmd.CombinedOutput()
	}
	return cmd.Output()
}

// shellBlock matches a fenced block of shell commands, also in a list.
var shellBlock = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")

// Blocks returns the blocks of shell commands between a line of a page and the next heading.
func (s *Stage) Blocks(page, line string) (blocks []string, err error) {
	text, err := os.ReadFile(filepath.Join(s.Root, page))
	if err != nil {
		return nil, err
	}
	_, after, found := strings.Cut("\n"+string(text), "\n"+line+"\n")
	section, _, _ := strings.Cut(after, "\n#")
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	if !found || blocks == nil {
		return nil, fmt.Errorf("%s has no line %q with a block of sh after it", page, line)
	}
	return blocks, nil
}
