//go:build deploy && linux

package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shellBlock matches a fenced block of shell commands.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestDeployment is `make test-deploy`: it builds and deploys the stage dev with the SAM CLI to an emulator of AWS that
// enforces the policies of roles. Each part continues with the stage as the previous part left it. If UPDATE_FROM is the folder of
// an earlier version, the stage is an update of that version.
func TestDeployment(t *testing.T) {
	s := newStage(t)
	if earlier := os.Getenv("UPDATE_FROM"); earlier != "" {
		s.build(t, earlier)
		s.deploy(t)
		if !t.Run("update", s.testUpdate) {
			return // the stage is not this version's
		}
	} else {
		s.build(t, root)
		s.deploy(t)
	}
	s.token = strings.TrimSpace(s.shell(t, `"$ROOT/infra/admin-token" dev`))

	t.Run("operations", func(t *testing.T) { checkOperations(t, s.gateway) })
	t.Run("walk", func(t *testing.T) { takeWalk(t, s.gateway) })
	t.Run("walk of an application", func(t *testing.T) { takeApplicationsWalk(t, s.gateway) })
	t.Run("console", func(t *testing.T) { checkConsole(t, s.gateway) })
	t.Run("snapshot", s.testSnapshot)
	t.Run("usage", s.testAggregate)
	t.Run("role without an action", s.testMissingAction)
	t.Run("parameter", s.testParameter)
	t.Run("admin token", s.testRotation)
	t.Run("callers stopped", s.testStop)
	t.Run("back by hand", s.testBack)
	t.Run("teardown", s.testTeardown)
}

// testSnapshot invokes the function that writes snapshots, with the command of docs/operations/runbook.md.
func (s *stage) testSnapshot(t *testing.T) {
	printed := s.shell(t, `since() { echo 0; }
		`+docBlock(t, "docs/operations/runbook.md", "## `<stack>-snapshot-fails`"))
	if !strings.Contains(printed, "a snapshot was written") && !strings.Contains(printed, "no snapshot is due") {
		t.Errorf("it printed %s; want it to say that a snapshot was written, or that none is due", printed)
	}
}

// testAggregate invokes the function that adds usage to the sums, with the command of docs/operations/runbook.md.
func (s *stage) testAggregate(t *testing.T) {
	printed := s.shell(t, `since() { echo 0; }
		`+docBlock(t, "docs/operations/runbook.md", "## `<stack>-aggregate-fails`"))
	if !strings.Contains(printed, "added ") {
		t.Errorf("it printed %s; want it to say how many reports were added", printed)
	}
}

// testMissingAction removes an action from a function's role: only its requests fail, with an error that does not mention AWS.
func (s *stage) testMissingAction(t *testing.T) {
	const flags = "/api/admin/projects/default/features"
	role := strings.TrimSpace(s.shell(t, "resource FeaturesRole"))
	policy := s.shell(t, `aws iam get-role-policy --role-name "$1" --policy-name table --query PolicyDocument`, role)
	without := strings.Replace(policy, `"dynamodb:BatchGetItem",`, "", 1)
	if without == policy {
		t.Fatalf("the policy is %s, want it to allow dynamodb:BatchGetItem", policy)
	}
	put := `aws iam put-role-policy --role-name "$1" --policy-name table --policy-document "$2"`
	s.shell(t, put, role, without)

	status, answer, err := s.send(t.Context(), "GET", flags, nil)
	var f failure
	if err != nil || status != 500 || json.Unmarshal(answer, &f) != nil || f.ID == "" || f.Name == "" || f.Message == "" {
		t.Fatalf("GET %s: %d %s, %v; want an error 500", flags, status, answer, err)
	}
	for _, word := range []string{"aws", "arn:", "dynamo", "denied", "batchgetitem", "role", "table", s.stack} {
		if strings.Contains(strings.ToLower(string(answer)), word) {
			t.Errorf("the answer is %s; want it to say nothing of %q", answer, word)
		}
	}
	logged := s.shell(t, docBlock(t, "docs/operations/runbook.md", "# Runbook"))
	if !strings.Contains(logged, f.ID) || !strings.Contains(logged, "AccessDenied") {
		t.Errorf("the runbook's search of the log prints %s; want the failure %s and its cause", logged, f.ID)
	}
	s.do(t, 200, "GET", "/api/admin/projects", nil, nil)

	s.shell(t, put, role, policy)
	s.do(t, 200, "GET", flags, nil, nil)
}

// testParameter deploys the same code with another parameter: the functions use it, the bootstrap function runs again, and
// the admin token stays the same.
func (s *stage) testParameter(t *testing.T) {
	const flags, limit = "/api/admin/projects/default/features", 5
	before := s.starts(t)
	s.deploy(t, "LimitStrategies=5")
	if got := s.starts(t); got != before+1 {
		t.Errorf("the first start has run %d times, want %d", got, before+1)
	}
	if got := strings.TrimSpace(s.shell(t, `"$ROOT/infra/admin-token" dev`)); got != s.token {
		t.Errorf("the admin token has changed")
	}
	s.do(t, 201, "POST", flags, map[string]any{"name": "limited"}, nil)
	strategies := flags + "/limited/environments/development/strategies"
	for range limit {
		s.do(t, 200, "POST", strategies, map[string]any{"name": "default"}, nil)
	}
	s.fails(t, 400, "ValidationError", "POST", strategies, map[string]any{"name": "default"})
}

// testRotation rotates the admin token with docs/operations/rotate.md.
func (s *stage) testRotation(t *testing.T) {
	old := s.token
	printed := s.shell(t, docBlock(t, "docs/operations/rotate.md", "## The admin token"))
	if want := "the admin token is valid"; !strings.Contains(printed, want) {
		t.Errorf("it printed %s; want it to say that %s", printed, want)
	}
	s.do(t, 401, "GET", "/api/admin/projects", nil, nil)
	s.token = strings.TrimSpace(s.shell(t, `"$ROOT/infra/admin-token" dev`))
	if s.token == old {
		t.Error("the secret still has the old token")
	}
	s.do(t, 200, "GET", "/api/admin/projects", nil, nil)
}

// testStop blocks all callers with docs/operations/incidents.md, and unblocks them. The emulator applies the reserved
// concurrency to a function but not to its versions, so the test calls the function itself.
func (s *stage) testStop(t *testing.T) {
	blocks := docBlocks(t, "docs/operations/incidents.md", "## Stop all callers")
	reserved := func(function string) string {
		t.Helper()
		return strings.TrimSpace(s.shell(t, `aws lambda get-function-concurrency --function-name "$STACK-$1" --query ReservedConcurrentExecutions --output text`, function))
	}
	s.shell(t, strings.Replace(blocks[0], "sleep 30", "", 1)) // no request is under way
	for function, want := range map[string]string{"Features": "0", "Site": "0", "Bootstrap": "None", "Smoke": "None", "Applications": "0", "Snapshot": "None"} {
		if got := reserved(function); got != want {
			t.Errorf("%s has the reserved concurrency %s, want %s", function, got, want)
		}
	}
	const call = `aws lambda invoke --function-name "$STACK-Site" --payload '{}' /dev/stdout 2>&1`
	if out := s.shell(t, call+" || true"); !strings.Contains(out, "TooManyRequests") {
		t.Errorf("a function that may not run says %s", out)
	}
	if out := s.shell(t, `aws lambda invoke --function-name "$(resource BootstrapFunction)" /dev/stdout`); !strings.Contains(out, "the admin token is valid") {
		t.Errorf("the first start says %s", out)
	}
	s.shell(t, blocks[1])
	if got := reserved("Features"); got != "None" {
		t.Errorf("Features still has the reserved concurrency %s", got)
	}
}

// testBack deploys new code, rolls back one function with docs/operations/incidents.md, and deploys again.
func (s *stage) testBack(t *testing.T) {
	live := func() string {
		t.Helper()
		return strings.TrimSpace(s.shell(t, `aws lambda get-alias --function-name "$STACK-Features" --name live --query FunctionVersion --output text`))
	}
	before := live()
	s.release(t, "one")
	bad := live()
	if bad == before {
		t.Fatalf("new code is at version %s as well", bad)
	}
	blocks := docBlocks(t, "docs/operations/incidents.md", "### By hand, one function, at once")
	listed := s.shell(t, strings.Replace(blocks[0], "--function-version 41", "--function-version "+before, 1))
	if got := live(); got != before {
		t.Errorf("the alias is at version %s, want %s", got, before)
	}
	for _, v := range []string{before, bad} {
		if !strings.Contains(listed, "\n"+v+"\t") && !strings.HasPrefix(listed, v+"\t") {
			t.Errorf("the runbook lists the versions\n%s\nwant %s among them", listed, v)
		}
	}
	s.do(t, 200, "GET", "/api/admin/projects/default/features", nil, nil)

	s.shell(t, withoutSAM(blocks[1]))
	if got := live(); got != bad {
		t.Errorf("the alias is at version %s, want %s", got, bad)
	}
	s.release(t, "two")
	if got := live(); got == bad || got == before {
		t.Errorf("after the next deployment the alias is at version %s", got)
	}
	s.do(t, 200, "GET", "/api/admin/projects/default/features", nil, nil)
}

// release deploys a function with other code: an additional file beside its program.
func (s *stage) release(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "build", "FeaturesFunction", "release"), []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
	s.deploy(t, "Deployment=AllAtOnce")
}

// withoutSAM removes the commands of the SAM CLI from a script: they need the adapted template.
func withoutSAM(script string) string {
	var kept strings.Builder
	for line := range strings.Lines(script) {
		if !strings.HasPrefix(line, "sam ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// testTeardown deletes the stack with docs/operations/teardown.md, which leaves the table and the key, and then deletes
// these too.
func (s *stage) testTeardown(t *testing.T) {
	const page = "docs/operations/teardown.md"
	s.shell(t, docBlock(t, page, "# Teardown")+`
		echo "$TABLE" > table; echo "$KEY" > key
		aws dynamodb describe-table --table-name "$TABLE" --query Table.DeletionProtectionEnabled --output text | grep True
		aws dynamodb query --table-name "$TABLE" --select COUNT --key-condition-expression 'pk = :p' \
			--expression-attribute-values '{":p":{"S":"PROJECTS"}}' --query Count --output text | grep '[1-9]'
		aws secretsmanager get-secret-value --secret-id "$KEY" > /dev/null`)
	for _, list := range []string{
		"lambda list-functions --query Functions",
		"apigatewayv2 get-apis --query Items",
		"iam list-roles --query Roles[?starts_with(RoleName,'" + s.stack + "')]",
		"logs describe-log-groups --query logGroups",
		"cloudwatch describe-alarms --query MetricAlarms",
		"secretsmanager list-secrets --query SecretList[?contains(Name,'AdminToken')]",
	} {
		out := s.shell(t, `aws "$@"`, strings.Fields(list)...)
		if strings.TrimSpace(out) != "[]" {
			t.Errorf("aws %s: %s; want nothing left", list, out)
		}
	}
	s.shell(t, `TABLE=$(cat table) KEY=$(cat key)
		`+docBlock(t, page, "## Remove everything for good"))
	if out := s.shell(t, "aws dynamodb list-tables --query TableNames"); strings.TrimSpace(out) != "[]" {
		t.Errorf("the tables are %s, want none", out)
	}
}

// A stage is deployed in an emulator. Its embedded gateway calls its API.
type stage struct {
	*gateway
	stack    string
	dir      string // for the build
	env      []string
	template string // the adapted one
	first    string // the value of the first admin token
}

// newStage starts an emulator. SAM is the path of the SAM CLI, MINISTACK that of the emulator,
// which has the AWS CLI beside it, and ARCH this machine's architecture as in the template.
func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	temporary := filepath.Join(dir, "emulator")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	program, port := os.Getenv("MINISTACK"), freePort(t)
	e, err := startEmulator(t.Context(), program, temporary, port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("MiniStack printed:\n%s", e.Output.End())
		}
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	})
	s := &stage{stack: "guidon-dev", dir: dir, gateway: &gateway{port: port, http: &http.Client{Timeout: endTimeout}}}
	s.env = append(slices.DeleteFunc(os.Environ(), isSetting),
		"PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "ROOT="+root, "SAM_CLI_TELEMETRY=0",
		"AWS_ENDPOINT_URL="+e.endpoint, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", // the root user, in MiniStack
		"AWS_REGION="+region, "AWS_DEFAULT_REGION="+region,
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_PAGER=")
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	s.first = "*:*." + hex.EncodeToString(secret)
	return s
}

// build runs `sam build` for this machine in the folder of a version, and adapts the template.
func (s *stage) build(t *testing.T, version string) {
	t.Helper()
	built := filepath.Join(s.dir, "build")
	s.sam(t, version, "build", "--build-dir", built, "--parameter-overrides", "Architecture="+os.Getenv("ARCH"))
	raw, err := os.ReadFile(filepath.Join(built, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = adaptTemplate(raw, "http://"+address(s.port), s.first); err != nil {
		t.Fatal(err)
	}
	s.template = filepath.Join(built, "adapted.json") // beside the functions, which it names by their folders
	if err := os.WriteFile(s.template, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// deploy runs `sam deploy` for the stage dev, with alarms and more parameters.
func (s *stage) deploy(t *testing.T, parameters ...string) {
	t.Helper()
	s.sam(t, root, "deploy", "--template-file", s.template, "--config-file", filepath.Join(root, "samconfig.toml"), "--config-env", "dev",
		"--no-progressbar", "--parameter-overrides",
		strings.Join(append(parameters, "Architecture="+os.Getenv("ARCH"), "LogRetentionDays=7", "Alarms=on", "AlarmTopicArn=none"), " "))
	_, path, found := strings.Cut(strings.TrimSpace(s.shell(t, "output Address")), address(s.port))
	if !found {
		t.Fatalf("the output Address is %q, want it to be on %s", path, address(s.port))
	}
	s.base = path
}

// starts counts the runs of the bootstrap function for the stack.
func (s *stage) starts(t *testing.T) int {
	t.Helper()
	return strings.Count(s.shell(t, `aws logs filter-log-events --log-group-name "/aws/lambda/$STACK-Bootstrap" \
		--query 'events[].message' --output text`), "message=seeded")
}

// sam runs the SAM CLI in a folder.
func (s *stage) sam(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Getenv("SAM"), args...)
	cmd.Dir, cmd.Env = dir, append(s.env, "ARCH="+os.Getenv("ARCH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sam %s: %v; it printed\n%s", args[0], err, out)
	}
}

// shell runs a script in the shell that docs/operations/README.md sets up, and returns its stdout.
func (s *stage) shell(t *testing.T, script string, args ...string) string {
	t.Helper()
	setUp := docBlock(t, "docs/operations/README.md", "# Operations")
	setUp = strings.NewReplacer("AWS_PROFILE=… ", "", "guidon-prod", s.stack).Replace(setUp)
	cmd := exec.Command("bash", append([]string{"-euo", "pipefail", "-c", setUp + script, "bash"}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v; the script\n%s\nprinted\n%s%s", err, script, out, &stderr)
	}
	return string(out)
}

// docBlock returns the first block of shell commands after a line of a page.
func docBlock(t *testing.T, page, line string) string {
	t.Helper()
	return docBlocks(t, page, line)[0]
}

// docBlocks returns the blocks of shell commands between a line of a page and the next heading.
func docBlocks(t *testing.T, page, line string) (blocks []string) {
	t.Helper()
	_, after, found := strings.Cut("\n"+readRoot(t, page), "\n"+line+"\n")
	section, _, _ := strings.Cut(after, "\n#")
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	if !found || blocks == nil {
		t.Fatalf("%s has no line %q with a block of sh after it", page, line)
	}
	return blocks
}
