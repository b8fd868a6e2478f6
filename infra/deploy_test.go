package infra_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSAM records its arguments and the architecture of the build.
const fakeSAM = `#!/bin/sh
echo "ARCH=${ARCH:-} $*" >>"$CALLS"
`

const stages = `[dev.deploy.parameters]
parameter_overrides = "Architecture=arm64 Alarms=off"
[intel.deploy.parameters]
stack_name = "guidon-intel"
parameter_overrides = 'Alarms=off Architecture=x86_64 AlarmTopicArn=""'
[none.deploy.parameters]
parameter_overrides = "Alarms=off"
[odd.deploy.parameters]
parameter_overrides = "Architecture=mips"
`

// TestDeploy runs the script with a fake SAM CLI: it must deploy what it built.
func TestDeploy(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		fails string
		calls string
	}{
		{"arm64", []string{"dev"}, "", "ARCH=arm64 build --config-env dev\nARCH= deploy --config-env dev\n"},
		{"x86_64", []string{"intel"}, "", "ARCH=x86_64 build --config-env intel\nARCH= deploy --config-env intel\n"},
		{"options of sam deploy", []string{"dev", "--no-confirm-changeset"}, "",
			"ARCH=arm64 build --config-env dev\nARCH= deploy --config-env dev --no-confirm-changeset\n"},
		{"no stage", nil, "STAGE=dev", ""},
		{"an unknown stage", []string{"de"}, `the stage "de"`, ""},
		{"a stage without an architecture", []string{"none"}, "has no Architecture=", ""},
		{"an architecture that Lambda does not have", []string{"odd"}, "has no Architecture=", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "samconfig.toml"), stages, 0o600)
			write(t, filepath.Join(dir, "sam"), fakeSAM, 0o700)
			calls := filepath.Join(dir, "calls")
			cmd := exec.Command("./deploy", tt.args...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SAM=" + filepath.Join(dir, "sam"), "CALLS=" + calls, "SAMCONFIG=" + filepath.Join(dir, "samconfig.toml")}
			out, err := cmd.CombinedOutput()
			if (err != nil) != (tt.fails != "") || !strings.Contains(string(out), tt.fails) {
				t.Errorf("%v: %s; want it to contain %q", err, out, tt.fails)
			}
			got, _ := os.ReadFile(calls) // there are none when it fails
			if string(got) != tt.calls {
				t.Errorf("the SAM CLI was called with\n%swant\n%s", got, tt.calls)
			}
		})
	}
}
