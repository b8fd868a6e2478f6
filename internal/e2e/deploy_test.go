//go:build deploy && linux

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/internal/stage"
)

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
	t.Run("plan alarms", s.testPlanAlarms)
	t.Run("role without an action", s.testMissingAction)
	t.Run("parameter", s.testParameter)
	t.Run("client URL", s.testClientURL)
	t.Run("admin token", s.testRotation)
	t.Run("callers stopped", s.testStop)
	t.Run("rollback", s.testRollback)
	t.Run("other region", s.testOtherRegion)
	t.Run("teardown", s.testTeardown)
}

// testSnapshot invokes the function that writes snapshots, with the command of docs/operations/runbook.md.
func (s *deployed) testSnapshot(t *testing.T) {
	printed := s.shell(t, `since() { echo 0; }
		`+s.docBlock(t, "docs/operations/runbook.md", "## `<stack>-snapshot-fails`"))
	if !strings.Contains(printed, "a snapshot was written") && !strings.Contains(printed, "no snapshot is due") {
		t.Errorf("it printed %s; want it to say that a snapshot was written, or that none is due", printed)
	}
}

// testAggregate invokes the function that adds usage to the sums, with the command of docs/operations/runbook.md.
func (s *deployed) testAggregate(t *testing.T) {
	printed := s.shell(t, `since() { echo 0; }
		`+s.docBlock(t, "docs/operations/runbook.md", "## `<stack>-aggregate-fails`"))
	if !strings.Contains(printed, "added ") {
		t.Errorf("it printed %s; want it to say how many reports were added", printed)
	}
}

// testPlanAlarms sets a metric alarm and a composite one, on which the plan of a flag depends, and runs the function Transfer as its
// schedule does: the first pauses the plan, and the other switches the flag off, which an application sees in its next poll.
func (s *deployed) testPlanAlarms(t *testing.T) {
	const environment = project + "/features/alarmed/environments/development"
	type object = map[string]any
	s.shell(t, `for alarm in errors slow; do
			aws cloudwatch put-metric-alarm --alarm-name "$alarm" --namespace Shop --metric-name "$alarm" --statistic Sum --period 60 \
				--evaluation-periods 1 --threshold 1 --comparison-operator GreaterThanThreshold --treat-missing-data notBreaching
			aws cloudwatch set-alarm-state --alarm-name "$alarm" --state-value OK --state-reason quiet
		done
		aws cloudwatch put-composite-alarm --alarm-name both --alarm-rule 'ALARM("errors") AND ALARM("slow")'`)
	safeguard := func(list, alarm, action string) object {
		arn := strings.TrimSpace(s.shell(t, `aws cloudwatch describe-alarms --alarm-names "$2" --alarm-types MetricAlarm CompositeAlarm \
			--query "$1[].AlarmArn" --output text`, list, alarm))
		return object{"signal": object{"alarm": arn}, "action": object{"type": action}}
	}
	strategy := object{"strategyName": "default", "sortOrder": 0}
	var plan struct {
		ID         string
		Milestones []struct{ ID string }
	}
	client := s.newToken(t, "client")
	s.do(t, 201, "POST", project+"/features", object{"name": "alarmed"}, nil)
	s.do(t, 200, "POST", environment+"/release-plans", object{
		"name": "Canary", "milestones": []object{
			{"name": "First", "sortOrder": 0, "strategies": []object{strategy}}, {"name": "Second", "sortOrder": 1, "strategies": []object{strategy}},
		},
		"safeguards": []object{safeguard("MetricAlarms", "errors", "pause"), safeguard("CompositeAlarms", "both", "off")},
	}, &plan)
	s.do(t, 200, "POST", environment+"/on", nil, nil)
	second := environment + "/release-plans/" + plan.ID + "/milestones/" + plan.Milestones[1].ID + "/start"
	for _, step := range []struct{ fires, state, enabled string }{{"", "running", "true"}, {"errors", "stopped", "true"}, {"slow", "off", "false"}} {
		if step.fires != "" {
			s.shell(t, `aws cloudwatch set-alarm-state --alarm-name "$1" --state-value ALARM --state-reason "set by hand"`, step.fires)
			s.fails(t, 409, "ConflictError", "POST", second, nil)
		}
		s.shell(t, `aws lambda invoke --function-name "$(resource TransferFunction)" --payload '{"source":"aws.events"}' /dev/stdout`)
		s.ask(t, "GET", environment+"/release-plans", s.token, "").has(t, 200, `"state":"`+step.state+`"`)
		s.ask(t, "GET", "/api/client/features?namePrefix=alarmed", client, "").has(t, 200, `"enabled":`+step.enabled)
	}
	s.do(t, 202, "DELETE", project+"/features/alarmed", nil, nil)
	s.shell(t, "aws cloudwatch delete-alarms --alarm-names both; aws cloudwatch delete-alarms --alarm-names errors slow")
}

// testMissingAction removes an action from the role of the administration: only its requests fail, with an error that does not mention AWS.
func (s *deployed) testMissingAction(t *testing.T) {
	const flags = "/api/admin/projects/default/features"
	role := strings.TrimSpace(s.shell(t, "resource AdministrationRole"))
	policy := s.shell(t, `aws iam get-role-policy --role-name "$1" --policy-name function --query PolicyDocument`, role)
	without := strings.Replace(policy, `"dynamodb:BatchGetItem",`, "", 1)
	if without == policy {
		t.Fatalf("the policy is %s, want it to allow dynamodb:BatchGetItem", policy)
	}
	put := `aws iam put-role-policy --role-name "$1" --policy-name function --policy-document "$2"`
	s.shell(t, put, role, without)

	status, answer, err := s.send(t.Context(), "GET", flags, nil)
	var f failure
	if err != nil || status != 500 || json.Unmarshal(answer, &f) != nil || f.ID == "" || f.Name == "" || f.Message == "" {
		t.Fatalf("GET %s: %d %s, %v; want an error 500", flags, status, answer, err)
	}
	for _, word := range []string{"aws", "arn:", "dynamo", "denied", "batchgetitem", "role", "table", s.Stack} {
		if strings.Contains(strings.ToLower(string(answer)), word) {
			t.Errorf("the answer is %s; want it to say nothing of %q", answer, word)
		}
	}
	logged := ""
	for deadline := time.Now().Add(startTimeout); !strings.Contains(logged, f.ID) && time.Now().Before(deadline); { // lines arrive late
		logged = s.shell(t, s.docBlock(t, "docs/operations/runbook.md", "# Runbook"))
	}
	if !strings.Contains(logged, f.ID) || !strings.Contains(logged, "AccessDenied") {
		t.Errorf("the runbook's search of the log prints %s; want the failure %s and its cause", logged, f.ID)
	}
	s.do(t, 200, "GET", "/api/admin/roles", nil, nil)

	s.shell(t, put, role, policy)
	s.do(t, 200, "GET", flags, nil, nil)
}

// testParameter deploys the same code with another parameter: the functions use it, the function Setup runs again, and
// the admin token stays the same. The version with the other value is gone.
func (s *deployed) testParameter(t *testing.T) {
	const flags, limit = "/api/admin/projects/default/features", 5
	before := s.starts(t)
	s.deploy(t, "Limits=strategies=5")
	if got := s.starts(t); got != before+1 {
		t.Errorf("the first start has run %d times, want %d", got, before+1)
	}
	if got := strings.TrimSpace(s.shell(t, `"$ROOT/infra/admin-token" dev`)); got != s.token {
		t.Errorf("the admin token has changed")
	}
	if got := s.shell(t, `aws lambda list-versions-by-function --function-name "$STACK-Features" --query 'length(Versions)'`); strings.TrimSpace(got) != "2" {
		t.Errorf("there are %s versions, want $LATEST and one", strings.TrimSpace(got))
	}
	s.do(t, 201, "POST", flags, map[string]any{"name": "limited"}, nil)
	strategies := flags + "/limited/environments/development/strategies"
	for range limit {
		s.do(t, 200, "POST", strategies, map[string]any{"name": "default"}, nil)
	}
	s.fails(t, 400, "ValidationError", "POST", strategies, map[string]any{"name": "default"})
}

// testClientURL deploys with URLs for applications beside a firewall: they can poll, evaluate, report and send preflights there, and get
// 403 at the API, where they lack the firewall's secret. Without the parameter, the URLs are gone. It is refused without what it needs.
func (s *deployed) testClientURL(t *testing.T) {
	client, frontend := s.newToken(t, "client"), s.newToken(t, "frontend")
	concurrency, firewall := []string{"ApplicationsConcurrency=20", "FrontendConcurrency=10"}, "FrontSecretHash="+strings.Repeat("0", 64)
	for want, parameters := range map[string][]string{
		"have its Lambda quota raised first": {"ClientUrl=on", concurrency[0]},
		"set ClientUrl=beside-firewall":      append([]string{"ClientUrl=on", firewall}, concurrency...),
	} {
		if err := s.Deploy(t.Context(), parameters...); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%s is deployed: %v; want it refused: %s", strings.Join(parameters, " "), err, want)
		}
	}
	s.deploy(t, append([]string{"ClientUrl=beside-firewall", firewall}, concurrency...)...)
	at := func(output string) *gateway {
		t.Helper()
		host := strings.TrimPrefix(strings.TrimSpace(s.shell(t, `output "$1"`, output)), "https://")
		id, region, _ := strings.Cut(host, ".lambda-url.")
		if region != "eu-central-1.on.aws" {
			t.Fatalf("the output %s is %q, want the address of a function URL", output, host)
		}
		url := *s.gateway
		url.base = "/_aws/lambda-url/" + id
		return &url
	}
	servers, browsers := at("ClientUrl"), at("FrontendUrl")
	const report = `{"appName":"url","instanceId":"1","bucket":{"start":"2026-03-04T05:06:07.000Z","stop":"2026-03-04T05:07:07.000Z","toggles":{}}}`
	polled := servers.ask(t, "GET", "/api/client/features", client, "")
	polled.has(t, 200, `"features":[`)
	servers.ask(t, "GET", "/api/client/features", client, "", "If-None-Match", polled.header.Get("ETag")).has(t, 304)
	servers.ask(t, "POST", "/api/client/metrics", client, report).has(t, 202)
	servers.ask(t, "GET", "/api/client/features", "unknown", "").has(t, 401)
	browsers.ask(t, "GET", "/api/frontend?userId=7", frontend, "").has(t, 200, `"toggles":[`)
	browsers.ask(t, "POST", "/api/frontend/client/metrics", frontend, report).has(t, 200)
	browsers.ask(t, "POST", "/ofrep/v1/evaluate/flags", client, `{"context":{"targetingKey":"7"}}`).has(t, 200, `"flags":[`)
	preflight := browsers.ask(t, "OPTIONS", "/api/frontend", "", "", "Origin", "https://shop.example.com", "Access-Control-Request-Method", "GET",
		"Access-Control-Request-Headers", "authorization")
	preflight.has(t, 204)
	if got := preflight.header.Get("Access-Control-Allow-Headers"); !strings.Contains(strings.ToLower(got), "authorization") {
		t.Errorf("the preflight allows the headers %q, want Authorization", got)
	}
	servers.ask(t, "GET", "/api/admin/projects", s.token, "").has(t, 404)
	s.ask(t, "GET", "/api/client/features", client, "").has(t, 403, "CloudFront")

	s.deploy(t, "ClientUrl=off", "ApplicationsConcurrency=0", "FrontendConcurrency=0", `FrontSecretHash=""`)
	s.ask(t, "GET", "/api/client/features", client, "").has(t, 200)
	servers.ask(t, "GET", "/api/client/features", client, "").has(t, 404)
}

// testRotation rotates the admin token with docs/operations/rotate.md.
func (s *deployed) testRotation(t *testing.T) {
	old := s.token
	printed := s.shell(t, s.docBlock(t, "docs/operations/rotate.md", "## The admin token"))
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
func (s *deployed) testStop(t *testing.T) {
	blocks := s.docBlocks(t, "docs/operations/incidents.md", "## Stop all callers")
	reserved := func(function string) string {
		t.Helper()
		return strings.TrimSpace(s.shell(t, `aws lambda get-function-concurrency --function-name "$STACK-$1" --query ReservedConcurrentExecutions --output text`, function))
	}
	s.shell(t, strings.Replace(blocks[0], "sleep 30", "", 1)) // no request is under way
	for function, want := range map[string]string{"Features": "0", "Site": "0", "Setup": "None", "Applications": "0", "Snapshot": "None"} {
		if got := reserved(function); got != want {
			t.Errorf("%s has the reserved concurrency %s, want %s", function, got, want)
		}
	}
	const call = `aws lambda invoke --function-name "$STACK-Site" --payload '{}' /dev/stdout 2>&1`
	if out := s.shell(t, call+" || true"); !strings.Contains(out, "TooManyRequests") {
		t.Errorf("a function that may not run says %s", out)
	}
	if out := s.shell(t, `aws lambda invoke --function-name "$(resource SetupFunction)" /dev/stdout`); !strings.Contains(out, "the admin token is valid") {
		t.Errorf("the first start says %s", out)
	}
	s.shell(t, blocks[1])
	if got := reserved("Features"); got != "None" {
		t.Errorf("Features still has the reserved concurrency %s", got)
	}
}

// testRollback deploys other code with another limit, and then once more other code, and goes back from both, one after the other.
func (s *deployed) testRollback(t *testing.T) {
	runs := func() string {
		t.Helper()
		return s.shell(t, `aws lambda get-function-configuration --function-name "$STACK-Features" --qualifier live \
			--query '[CodeSha256,Environment.Variables.LIMITS]' --output text`)
	}
	states := []string{runs()}
	s.release(t, "one", "Limits=tags=31")
	states = append(states, runs())
	s.release(t, "two")
	if states[0] == states[1] || runs() == states[1] {
		t.Fatalf("the deployments are %q and %q, want others each time", states, runs())
	}
	for i, says := range []string{"other code of Features", "Limits=tags=31 becomes Limits="} {
		printed, err := s.Rollback(t.Context())
		if err != nil || !strings.Contains(printed, says) {
			t.Errorf("%v; it printed %s; want it to say %q", err, printed, says)
		}
		if got, want := runs(), states[1-i]; got != want {
			t.Errorf("after the rollback %d it runs %q, want %q", i+1, got, want)
		}
		s.do(t, 200, "GET", "/api/admin/projects/default/features", nil, nil)
	}
}

// release deploys a function with other code: an additional file beside its program.
func (s *deployed) release(t *testing.T, name string, parameters ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Built(), "FeaturesFunction", "release"), []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
	s.deploy(t, parameters...)
}

// testTeardown deletes the stack with docs/operations/teardown.md, which leaves the table and the key, and then deletes
// these too.
func (s *deployed) testTeardown(t *testing.T) {
	const page = "docs/operations/teardown.md"
	s.shell(t, s.docBlock(t, page, "# Teardown")+`
		echo "$TABLE" > table; echo "$KEY" > key
		aws dynamodb describe-table --table-name "$TABLE" --query Table.DeletionProtectionEnabled --output text | grep True
		aws dynamodb query --table-name "$TABLE" --select COUNT --key-condition-expression 'pk = :p' \
			--expression-attribute-values '{":p":{"S":"PROJECTS"}}' --query Count --output text | grep '[1-9]'
		aws secretsmanager get-secret-value --secret-id "$KEY" > /dev/null`)
	for _, list := range []string{
		"lambda list-functions --query Functions",
		"apigatewayv2 get-apis --query Items",
		"iam list-roles --query Roles[?starts_with(RoleName,'" + s.Stack + "')]",
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
		`+s.docBlock(t, page, "## Remove everything for good"))
	if out := s.shell(t, "aws dynamodb list-tables --query TableNames"); strings.TrimSpace(out) != "[]" {
		t.Errorf("the tables are %s, want none", out)
	}
}

// A deployed is a stage in an emulator. Its embedded gateway calls its API.
type deployed struct {
	*gateway
	*stage.Stage
}

// newStage starts an emulator. SAM is the path of the SAM CLI, MINISTACK that of the emulator,
// which has the AWS CLI beside it, and ARCH this machine's architecture as in the template.
func newStage(t *testing.T) *deployed {
	t.Helper()
	s := &deployed{&gateway{http: &http.Client{Timeout: endTimeout}}, &stage.Stage{
		Root: root, Config: "dev", Stack: "guidon-dev", SAM: os.Getenv("SAM"), Arch: os.Getenv("ARCH"), Dir: t.TempDir(),
		Env: slices.DeleteFunc(os.Environ(), isSetting), Parameters: []string{"LogRetentionDays=7", "Alarms=none", "PlanAlarms=on"},
	}}
	if err := s.Emulate(t.Context(), os.Getenv("MINISTACK")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("MiniStack printed:\n%s", s.Emulator.Output.End())
		}
		if err := s.Emulator.Stop(); err != nil {
			t.Error(err)
		}
	})
	_, s.port, _ = strings.Cut(s.Emulator.Endpoint, "127.0.0.1:")
	return s
}

// build runs `sam build` for this machine in the folder of a version, and adapts the template.
func (s *deployed) build(t *testing.T, version string) {
	t.Helper()
	if err := s.Build(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

// deploy runs `sam deploy` for the stage dev, with alarms, those of release plans too, and more parameters.
func (s *deployed) deploy(t *testing.T, parameters ...string) {
	t.Helper()
	if err := s.Deploy(t.Context(), parameters...); err != nil {
		t.Fatal(err)
	}
	_, path, found := strings.Cut(strings.TrimSpace(s.shell(t, "output Address")), address(s.port))
	if !found {
		t.Fatalf("the output Address is %q, want it to be on %s", path, address(s.port))
	}
	s.base = path
}

// starts counts the runs of the function Setup for the stack.
func (s *deployed) starts(t *testing.T) int {
	t.Helper()
	return strings.Count(s.shell(t, `aws logs filter-log-events --log-group-name "/aws/lambda/$STACK/administration" \
		--query 'events[].message' --output text`), "message=seeded")
}

// shell runs a script in the shell that docs/operations/README.md sets up, and returns its stdout.
func (s *deployed) shell(t *testing.T, script string, args ...string) string {
	t.Helper()
	out, err := s.Shell(t.Context(), script, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// docBlock returns the first block of shell commands after a line of a page.
func (s *deployed) docBlock(t *testing.T, page, line string) string {
	t.Helper()
	return s.docBlocks(t, page, line)[0]
}

// docBlocks returns the blocks of shell commands between a line of a page and the next heading.
func (s *deployed) docBlocks(t *testing.T, page, line string) []string {
	t.Helper()
	blocks, err := s.Blocks(page, line)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}
