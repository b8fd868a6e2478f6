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

// fakeCloud answers as the AWS CLI does in an account that has the stacks of STACKS, with the status STATUS, and a monitor of services if
// MONITOR is set. It records what changes, and fails where the words of FAILS are.
const fakeCloud = `#!/bin/sh
case "$* " in
*"describe-stacks "*) for stack in $STACKS; do case "$* " in *"--stack-name $stack "*) echo "${STATUS:-REVIEW_IN_PROGRESS}"; exit ;; esac; done; exit 254 ;;
*"${FAILS:-get-nothing}"*) exit 254 ;;
*"get-caller-identity "*) ;;
*"get-anomaly-monitors "*) echo "${MONITOR:-None}" ;;
*) echo "aws $*" >>"$CALLS" ;;
esac
`

// armHeader is the start of a program for Linux on arm64.
const armHeader = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"

const stages = `[dev.deploy.parameters]
stack_name = "guidon-dev"
parameter_overrides = "Architecture=arm64 Alarms=off"
[intel.deploy.parameters]
stack_name = "guidon-intel"
parameter_overrides = 'Alarms=off Architecture=x86_64 CorsOrigins=""'
[none.deploy.parameters]
stack_name = "guidon-none"
parameter_overrides = "Alarms=off"
[odd.deploy.parameters]
stack_name = "guidon-odd"
parameter_overrides = "Architecture=mips"
`

// TestDeploy runs the script with a fake SAM CLI: it must deploy what it built.
func TestDeploy(t *testing.T) {
	const deploy = " --template-file BUILD/template.yaml"
	tests := []struct {
		name  string
		args  []string
		fails string
		calls string
	}{
		{"arm64", []string{"dev"}, "", "ARCH=arm64 build --config-env dev --build-dir BUILD\nARCH= deploy --config-env dev" + deploy + "\n"},
		{"x86_64", []string{"intel"}, "", "ARCH=x86_64 build --config-env intel --build-dir BUILD\nARCH= deploy --config-env intel" + deploy + "\n"},
		{"options of sam deploy", []string{"dev", "--no-confirm-changeset"}, "",
			"ARCH=arm64 build --config-env dev --build-dir BUILD\nARCH= deploy --config-env dev" + deploy + " --no-confirm-changeset\n"},
		{"build only", []string{"intel", "--build-only"}, "", "ARCH=x86_64 build --config-env intel --build-dir BUILD\n"},
		{"no build", []string{"dev", "--no-build", "--no-confirm-changeset"}, "", "ARCH= deploy --config-env dev" + deploy + " --no-confirm-changeset\n"},
		{"no build, of another architecture", []string{"intel", "--no-build"}, "is built for arm64", ""},
		{"no stage", nil, "STAGE=dev", ""},
		{"an unknown stage", []string{"de"}, `no stage "de"`, ""},
		{"a stage without an architecture", []string{"none"}, "has no Architecture=", ""},
		{"an architecture that Lambda does not have", []string{"odd"}, "has no Architecture=", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDeployment(t)
			d.build(t)
			out, calls, err := d.run(t, tt.args...)
			if (err != nil) != (tt.fails != "") || !strings.Contains(out, tt.fails) {
				t.Errorf("%v: %s; want it to contain %q", err, out, tt.fails)
			}
			if calls != tt.calls {
				t.Errorf("the SAM CLI was called with\n%swant\n%s", calls, tt.calls)
			}
			built, commit := read(t, filepath.Join(d.built, "template.yaml")), "Metadata:\n  Commit: \""
			if strings.Contains(built, commit) != strings.Contains(tt.calls, "build ") || !strings.HasSuffix(built, "Resources: {}\n") {
				t.Errorf("the built template is\n%s\nwant it to name the commit if it was built now", built)
			}
		})
	}
}

// TestDeployWithoutBuild runs the script in front of a folder where nothing was built.
func TestDeployWithoutBuild(t *testing.T) {
	d := newDeployment(t)
	for _, files := range []string{"template.yaml has to be there", "and a function"} {
		out, calls, err := d.run(t, "dev", "--no-build")
		if err == nil || !strings.Contains(out, "build first") || calls != "" {
			t.Errorf("%s: %v: %s; want it to say: build first; the SAM CLI was called with %q", files, err, out, calls)
		}
		write(t, filepath.Join(d.built, "template.yaml"), "Resources: {}\n", 0o600)
	}
}

// TestDeploySignedOut runs the script without credentials: it says so before it builds, which needs none.
func TestDeploySignedOut(t *testing.T) {
	for option, builds := range map[string]bool{"": false, "--no-build": false, "--build-only": true} {
		d := newDeployment(t)
		d.build(t)
		d.env = append(d.env, "FAILS=get-caller-identity")
		out, calls, err := d.run(t, strings.Fields("dev "+option)...)
		if (err == nil) != builds || strings.Contains(calls, " build ") != builds || strings.Contains(out, "AWS does not know you") == builds {
			t.Errorf("%q: %v: it printed %s, and called %q; want it to build: %t", option, err, out, calls, builds)
		}
	}
}

// TestDeployBudget checks when the script creates a budget. It cannot ask here, as in a pipeline.
func TestDeployBudget(t *testing.T) {
	const create = "aws cloudformation deploy --region us-east-1 --stack-name guidon-spending --template-file docs/operations/spending.yaml " +
		"--no-fail-on-empty-changeset --parameter-overrides MonthlyBudget=50 Email=you@example.com"
	if strings.Contains(read(t, "../docs/operations/spending.yaml"), "BudgetName:") {
		t.Error("the budget has a name, so CloudFormation refuses another EMAIL")
	}
	wanted := []string{"BUDGET=50", "EMAIL=you@example.com"}
	for _, tt := range []struct {
		name string
		env  []string
		says string
		call string // that changes something in AWS
	}{
		{"wanted", wanted, "", create},
		{"wanted, where AWS watches services already", append(wanted, "MONITOR=arn:aws:ce::1:anomalymonitor/1"), "", create + " MonitorArn=arn:aws:ce::1:anomalymonitor/1"},
		{"wanted in place of another one", append(wanted, "MONITOR=arn:its-own", "STACKS=guidon-spending"), "", create},
		{"wanted, and Cost Explorer is not enabled", append(wanted, "FAILS=get-anomaly"), "", create + " MonitorArn=none"},
		{"wanted, and its creation failed before", append(wanted, "STACKS=guidon-spending", "STATUS=ROLLBACK_COMPLETE"), "",
			"aws cloudformation delete-stack --region us-east-1 --stack-name guidon-spending\n" +
				"aws cloudformation wait stack-delete-complete --region us-east-1 --stack-name guidon-spending\n" + create},
		{"wanted, and it fails", append(wanted, "FAILS=cloudformation deploy"), "there is no new budget: the stack guidon-spending in us-east-1 failed", ""},
		{"not decided, and its creation failed before", []string{"STACKS=guidon-spending", "STATUS=ROLLBACK_COMPLETE"}, "there is no budget; BUDGET=50", ""},
		{"wanted without an address", []string{"BUDGET=50"}, "EMAIL=you@example.com is missing", ""},
		{"not wanted", []string{"BUDGET=none"}, "", ""},
		{"not decided", nil, "there is no budget; BUDGET=50", ""},
		{"not decided, and not the first deployment", []string{"STACKS=guidon-dev"}, "", ""},
		{"created before", []string{"STACKS=guidon-spending"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDeployment(t)
			d.build(t)
			d.env = append(d.env, tt.env...)
			out, calls, _ := d.run(t, "dev", "--no-build")
			call, deployed, _ := strings.Cut(calls, "ARCH=")
			if strings.TrimSpace(call) != tt.call || (deployed == "") != strings.Contains(tt.says, "missing") {
				t.Errorf("the calls are\n%s\nwant %q, and then a deployment", calls, tt.call)
			}
			if !strings.Contains(out, tt.says) || tt.says == "" && strings.Contains(out, "budget") {
				t.Errorf("it printed %s; want it to say %q", out, tt.says)
			}
		})
	}
}

// A deployment runs infra/deploy with programs that record their calls, in a folder of its own.
type deployment struct {
	dir, built string
	env        []string
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	dir := t.TempDir()
	d := &deployment{dir: dir, built: filepath.Join(dir, "build")}
	d.env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "BUILD=" + d.built, "SAM=" + filepath.Join(dir, "sam"), "CALLS=" + filepath.Join(dir, "calls"),
		"SAMCONFIG=" + filepath.Join(dir, "samconfig.toml")}
	write(t, filepath.Join(dir, "samconfig.toml"), stages, 0o600)
	write(t, filepath.Join(dir, "sam"), fakeSAM, 0o700)
	write(t, filepath.Join(dir, "aws"), fakeCloud, 0o700)
	if err := os.MkdirAll(filepath.Join(d.built, "FeaturesFunction"), 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

// build writes what `sam build` would.
func (d *deployment) build(t *testing.T) {
	t.Helper()
	write(t, filepath.Join(d.built, "template.yaml"), "Metadata:\n  Other: {}\nResources: {}\n", 0o600)
	write(t, filepath.Join(d.built, "FeaturesFunction", "bootstrap"), armHeader, 0o600)
}

// run returns what the script prints, and the calls of the programs.
func (d *deployment) run(t *testing.T, args ...string) (out, calls string, err error) {
	t.Helper()
	cmd := exec.Command("./deploy", args...)
	cmd.Env = d.env
	printed, err := cmd.CombinedOutput()
	recorded, _ := os.ReadFile(filepath.Join(d.dir, "calls")) // there are none when it fails
	config := " --config-file " + filepath.Join(d.dir, "samconfig.toml")
	return string(printed), strings.ReplaceAll(strings.ReplaceAll(string(recorded), d.built, "BUILD"), config, ""), err
}
