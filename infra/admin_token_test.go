package infra_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeAWS answers as the AWS CLI does, and records its arguments.
const fakeAWS = `#!/bin/sh
echo "$* in ${AWS_REGION:-} ${AWS_DEFAULT_REGION:-} of ${AWS_PROFILE:-}" >>"$CALLS"
case "$1 $*" in
*gone*) echo "An error occurred (ValidationError): Stack with id gone does not exist" >&2; exit 254 ;;
*--stack-name\ old*) echo "" ;;
cloudformation*) echo "arn:aws:secretsmanager:x:secret:AdminToken-1" ;;
secretsmanager*) echo "*:*.of-the-stage" ;;
esac
`

const samconfig = `version = 0.1
[default.global.parameters]
stack_name = "guidon-default"

[dev.global.parameters]
stack_name = "guidon-dev"
region="eu-central-1" # where we are
[dev.deploy.parameters]
capabilities = "CAPABILITY_IAM"
[prod.global.parameters]
stack_name = "guidon"
[prod.deploy.parameters]
stack_name = "guidon-prod"
profile = "production"
[gone.deploy.parameters]
stack_name = "gone"
[old.deploy.parameters]
stack_name = "old"
`

// TestAdminToken runs the script with a fake AWS CLI.
func TestAdminToken(t *testing.T) {
	tests := []struct {
		name, stage string
		aws         bool // whether there is an AWS CLI
		fails       bool
		says        string
		calls       []string // what the AWS CLI must be asked, in part
	}{
		{"a stage", "dev", true, false, "*:*.of-the-stage\n", []string{
			"cloudformation describe-stacks --stack-name guidon-dev --output text",
			"secretsmanager get-secret-value --secret-id arn:aws:secretsmanager:x:secret:AdminToken-1 --output text --query SecretString in eu-central-1 eu-central-1 of \n"}},
		{"what a deployment says goes first", "prod", true, false, "*:*.of-the-stage\n", []string{
			"describe-stacks --stack-name guidon-prod", "SecretString in   of production\n"}},
		{"no stage", "", true, true, "STAGE=dev", nil},
		{"an unknown stage", "de", true, true, `has no stage "de"`, nil},
		{"no AWS CLI", "dev", false, true, "aws is missing", nil},
		{"a missing stack", "gone", true, true, "the stack gone cannot be read", []string{"--stack-name gone"}},
		{"a stack from before", "old", true, true, "no output AdminTokenSecret", []string{"--stack-name old"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tools := filepath.Join(dir, "bin")
			if err := os.Mkdir(tools, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"sh", "awk", "dirname"} {
				path, err := exec.LookPath(tool)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path, filepath.Join(tools, tool)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(dir, "samconfig.toml"), samconfig, 0o600)
			if tt.aws {
				write(t, filepath.Join(tools, "aws"), fakeAWS, 0o700)
			}
			calls := filepath.Join(dir, "calls")
			cmd := exec.Command("./admin-token", tt.stage)
			cmd.Env = []string{"PATH=" + tools, "CALLS=" + calls, "SAMCONFIG=" + filepath.Join(dir, "samconfig.toml")}
			out, err := cmd.CombinedOutput()
			if _, exited := errors.AsType[*exec.ExitError](err); exited != tt.fails || err != nil && !exited {
				t.Fatalf("%v: %s", err, out)
			}
			if !strings.Contains(string(out), tt.says) || !tt.fails && string(out) != tt.says {
				t.Errorf("it printed %q, want %q", out, tt.says)
			}
			asked, _ := os.ReadFile(calls)
			for _, call := range tt.calls {
				if !strings.Contains(string(asked), call) {
					t.Errorf("the AWS CLI was called with %s, want %q", asked, call)
				}
			}
			if len(tt.calls) == 0 && len(asked) > 0 {
				t.Errorf("the AWS CLI was called with %s, want no call", asked)
			}
		})
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
