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

// armHeader is the start of a program for Linux on arm64.
const armHeader = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"

const stages = `[dev.deploy.parameters]
parameter_overrides = "Architecture=arm64 Alarms=off"
[intel.deploy.parameters]
stack_name = "guidon-intel"
parameter_overrides = 'Alarms=off Architecture=x86_64 CorsOrigins=""'
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
		{"build only", []string{"intel", "--build-only"}, "", "ARCH=x86_64 build --config-env intel\n"},
		{"no build", []string{"dev", "--no-build", "--no-confirm-changeset"}, "",
			"ARCH= deploy --config-env dev --template-file BUILD/template.yaml --no-confirm-changeset\n"},
		{"no build, of another architecture", []string{"intel", "--no-build"}, "is built for arm64", ""},
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
			built := filepath.Join(dir, "build")
			if err := os.MkdirAll(filepath.Join(built, "FeaturesFunction"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(built, "template.yaml"), "Resources: {}\n", 0o600)
			write(t, filepath.Join(built, "FeaturesFunction", "bootstrap"), armHeader, 0o600)
			cmd := exec.Command("./deploy", tt.args...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "BUILD=" + built, "SAM=" + filepath.Join(dir, "sam"), "CALLS=" + calls, "SAMCONFIG=" + filepath.Join(dir, "samconfig.toml")}
			out, err := cmd.CombinedOutput()
			if (err != nil) != (tt.fails != "") || !strings.Contains(string(out), tt.fails) {
				t.Errorf("%v: %s; want it to contain %q", err, out, tt.fails)
			}
			got, _ := os.ReadFile(calls) // there are none when it fails
			if calls := strings.ReplaceAll(string(got), built, "BUILD"); calls != tt.calls {
				t.Errorf("the SAM CLI was called with\n%swant\n%s", calls, tt.calls)
			}
		})
	}
}

// TestDeployWithoutBuild runs the script in front of a folder where nothing was built.
func TestDeployWithoutBuild(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "samconfig.toml"), stages, 0o600)
	write(t, filepath.Join(dir, "sam"), fakeSAM, 0o700)
	calls := filepath.Join(dir, "calls")
	for _, files := range []string{"template.yaml has to be there", "and a function"} {
		cmd := exec.Command("./deploy", "dev", "--no-build")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "BUILD=" + dir, "SAM=" + filepath.Join(dir, "sam"), "CALLS=" + calls, "SAMCONFIG=" + filepath.Join(dir, "samconfig.toml")}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "build first") {
			t.Errorf("%s: %v: %s; want it to say: build first", files, err, out)
		}
		write(t, filepath.Join(dir, "template.yaml"), "Resources: {}\n", 0o600)
	}
	if got, err := os.ReadFile(calls); err == nil {
		t.Errorf("the SAM CLI was called with\n%s", got)
	}
}
