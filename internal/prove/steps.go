package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Why steps are not run in the emulator.
const (
	noQuotas   = "MiniStack has no Service Quotas, and its limit of Lambda is one of this machine"
	noKeys     = "MiniStack evaluates no dynamodb:LeadingKeys"
	noCanary   = "MiniStack has no CodeDeploy"
	noMoment   = "MiniStack restores the table as it is now"
	noSettings = "MiniStack's CloudFormation leaves out caps and the status of indexes"
	noCalls    = "MiniStack counts no invocations by API Gateway"
	noUnits    = "MiniStack counts no units"
	slowThere  = "an update takes half a minute in the emulator: PARAMETERS=all"
	nextDay    = "Cost Explorer has the costs of a day on the next: docs/operations/proof.md has the command"
)

// steps runs all steps. The last one deletes what the others created, whatever happened.
func (p *proof) steps(ctx context.Context) {
	p.step(ctx, "quotas", true, noQuotas, p.quotas)
	p.step(ctx, "budget alarm", true, "", p.budget)
	begun := p.stopped == ""
	p.step(ctx, "deploy", true, "", p.deploy)
	p.step(ctx, "walk through the API", true, "", p.walk)
	p.step(ctx, "policies: actions", false, "", p.actions)
	p.step(ctx, "policies: partitions of the table", false, noKeys, p.partitions)
	p.updates(ctx)
	p.step(ctx, "a broken version, deployed at once and repaired", true, "", p.broken)
	p.step(ctx, "a version that always fails is stopped before callers reach it", true, noCanary, p.canary("always"))
	p.step(ctx, "a version that fails with valid tokens is stopped before callers reach it", true, noCanary, p.canary("valid"))
	p.step(ctx, "a version that fails callers is rolled back by the alarm", true, noCanary, p.canary("callers"))
	p.step(ctx, "polls and changes", false, "", func(ctx context.Context) ([]Figure, error) {
		p.measured = time.Now()
		t, err := p.load(ctx, "proof-steady", 20, 20, p.steady)
		if err != nil {
			return nil, err
		}
		allowed := []int{200, 304}
		if p.Emulator != nil {
			allowed = append(allowed, 503) // a busy machine can be too slow for the emulator
		}
		return t.figures(), t.check(allowed...)
	})
	p.step(ctx, "a flood of polls beside the administration", false, "", func(ctx context.Context) ([]Figure, error) {
		t, err := p.load(ctx, "proof-flood", p.polls, 200, p.flood)
		if err != nil {
			return nil, err
		}
		return t.figures(), t.check(200, 304, 429, 503)
	})
	p.step(ctx, "restore into another table", true, "", p.restore)
	p.step(ctx, "the restored table has the settings of the other", false, noSettings, func(context.Context) ([]Figure, error) {
		if !strings.Contains(p.compared, "same\n") {
			return nil, errors.New("they differ: " + p.compared)
		}
		return nil, nil
	})
	p.step(ctx, "the restored table is of the moment", false, noMoment, func(ctx context.Context) ([]Figure, error) {
		_, err := p.want(ctx, 404, "GET", project+"/features/proof-lost", p.token, "")
		return nil, err
	})
	p.step(ctx, "units of the table under polls and changes", false, noUnits, p.units)
	p.step(ctx, "invocations and durations under polls and changes", false, noCalls, p.durations)
	p.report.Steps = append(p.report.Steps, Step{Name: "cost", Result: notRun, Reason: nextDay})
	if begun {
		p.stopped = ""
		p.step(context.WithoutCancel(ctx), "teardown", false, "", func(ctx context.Context) ([]Figure, error) { return nil, p.teardown(ctx) })
	}
}

// quotas checks what the account allows.
func (p *proof) quotas(ctx context.Context) (figures []Figure, err error) {
	const table = `aws service-quotas list-service-quotas --service-code dynamodb --output text --query "Quotas[?QuotaName=='Table-level %s throughput limit'].Value | [0]"`
	for _, quota := range []struct {
		name, script string
		least        float64
	}{
		{"functions at once", `aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions --output text`, 500},
		{"read units of a table a second", fmt.Sprintf(table, "read"), 12000},
		{"write units of a table a second", fmt.Sprintf(table, "write"), 1000},
	} {
		out, failed := p.Shell(ctx, quota.script)
		n, unreadable := strconv.ParseFloat(strings.TrimSpace(out), 64)
		if failed == nil && unreadable == nil && n < quota.least {
			failed = fmt.Errorf("the account has %.0f %s, and the proof needs %.0f: request more", n, quota.name, quota.least)
		}
		figures, err = append(figures, figure(quota.name, "%.0f", n)), errors.Join(err, failed, unreadable)
	}
	return figures, err
}

// budget creates a monthly budget of the limit of the run, or keeps the one that is there. It stays after the run, because AWS counts costs for days.
func (p *proof) budget(ctx context.Context) ([]Figure, error) {
	email := p.email
	if email == "" {
		email = "nobody@example.com"
	}
	_, err := p.Shell(ctx, `
		ACCOUNT="$(aws sts get-caller-identity --query Account --output text)"
		aws budgets describe-budget --account-id "$ACCOUNT" --budget-name "$STACK" > /dev/null 2>&1 ||
		aws budgets create-budget --account-id "$ACCOUNT" \
			--budget "BudgetName=$STACK,BudgetType=COST,TimeUnit=MONTHLY,BudgetLimit={Amount=$1,Unit=USD}" \
			--notifications-with-subscribers "Notification={NotificationType=ACTUAL,ComparisonOperator=GREATER_THAN,Threshold=80,ThresholdType=PERCENTAGE},Subscribers=[{SubscriptionType=EMAIL,Address=$2}]"`,
		fmt.Sprintf("%.2f", p.report.Limit), email)
	return []Figure{figure("US dollars a month", "%.2f", p.report.Limit)}, err
}

func (p *proof) deploy(ctx context.Context) ([]Figure, error) {
	if err := p.Build(ctx, p.Root); err != nil {
		return nil, err
	}
	if err := p.Deploy(ctx); err != nil {
		return nil, err
	}
	out, err := p.Shell(ctx, `output Address; aws secretsmanager get-secret-value --secret-id "$(output AdminTokenSecret)" --query SecretString --output text`)
	if lines := strings.Fields(out); err == nil && len(lines) == 2 {
		p.address, p.token = lines[0], lines[1]
		return nil, nil
	}
	return nil, errors.Join(err, errors.New("the stack has no address or no admin token"))
}

// walk creates a token and a flag, and checks that a poll sees each switch, and that a deleted token is refused.
func (p *proof) walk(ctx context.Context) ([]Figure, error) {
	const poll = "/api/client/features?namePrefix=proof-walk"
	client, err := p.newToken(ctx, "proof-walk")
	if err != nil {
		return nil, err
	}
	if _, err := p.newFlag(ctx, "proof-walk"); err != nil {
		return nil, err
	}
	for _, r := range []struct {
		status              int
		method, path, token string
		word                string
	}{
		{200, "GET", "/health", "", "GOOD"},
		{401, "GET", "/api/admin/projects", "*:*.wrong", ""},
		{200, "GET", poll, client, `"enabled":true`},
		{200, "POST", project + "/features/proof-walk/environments/development/off", p.token, ""},
		{200, "GET", poll, client, `"enabled":false`},
		{200, "POST", project + "/features/proof-walk/environments/development/on", p.token, ""},
		{200, "GET", poll, client, `"enabled":true`},
		{200, "DELETE", "/api/admin/api-tokens/" + client, p.token, ""},
		{401, "GET", poll, client, ""},
	} {
		if _, err := p.want(ctx, r.status, r.method, r.path, r.token, "", r.word); err != nil {
			return nil, err
		}
	}
	_, err = p.want(ctx, 202, "DELETE", project+"/features/proof-walk", p.token, "")
	return nil, err
}

// A decision is what IAM has to decide about an action of a function's role on the table, in a partition if there is a key.
type decision struct {
	function, action, key string
	allowed               bool
}

func (p *proof) actions(ctx context.Context) ([]Figure, error) {
	return p.decide(ctx, []decision{
		{"Features", "dynamodb:UpdateItem", "", true},
		{"Features", "dynamodb:DeleteTable", "", false},
		{"Applications", "dynamodb:Query", "", true},
		{"Applications", "dynamodb:DeleteItem", "", false},
		{"Frontend", "dynamodb:DeleteItem", "", false},
		{"Site", "dynamodb:GetItem", "", false},
	})
}

func (p *proof) partitions(ctx context.Context) ([]Figure, error) {
	list := []decision{{"Applications", "dynamodb:PutItem", "POST#0", true}}
	for _, function := range []string{"Applications", "Frontend", "Snapshot", "Deliver"} {
		for _, key := range []string{"FLAG#a", "PROJECT#a", "TOKEN#a", "USERS", "REGISTRY"} {
			list = append(list, decision{function, "dynamodb:PutItem", key, false})
		}
	}
	return p.decide(ctx, list)
}

func (p *proof) decide(ctx context.Context, list []decision) ([]Figure, error) {
	out, err := p.Shell(ctx, `aws iam list-roles --output text --query "Roles[?starts_with(RoleName,'$STACK-')].Arn" | tr '\t' '\n'
		aws dynamodb describe-table --table-name "$(resource Table)" --query Table.TableArn --output text`)
	if err != nil {
		return nil, err
	}
	arns := strings.Fields(out)
	for _, d := range list {
		role := slices.IndexFunc(arns, func(arn string) bool { return strings.Contains(arn, p.Stack+"-"+d.function+"Role") })
		if role < 0 {
			return nil, fmt.Errorf("the function %s has no role", d.function)
		}
		out, err := p.Shell(ctx, `aws iam simulate-principal-policy --policy-source-arn "$1" --resource-arns "$2" --action-names "$3" \
			${4:+--context-entries "ContextKeyName=dynamodb:LeadingKeys,ContextKeyType=stringList,ContextKeyValues=$4"} \
			--query 'EvaluationResults[0].EvalDecision' --output text`, arns[role], arns[len(arns)-1], d.action, d.key)
		if got := strings.TrimSpace(out); err == nil && (got == "allowed") != d.allowed {
			err = fmt.Errorf("%s %s %s: %s", d.function, d.action, d.key, got)
		}
		if err != nil {
			return nil, err
		}
	}
	return []Figure{figure("decisions as expected", "%d", len(list))}, nil
}

// updates gives each parameter another value, one after the other, and then all of them their defaults.
func (p *proof) updates(ctx context.Context) {
	all, err := parameters(p.Root)
	var changed []string
	for _, name := range names(all) {
		value, reason := all[name].other(name)
		step := "parameter " + name
		if reason == "" && p.only != nil && !slices.Contains(p.only, name) {
			reason = slowThere
			if p.Emulator == nil {
				reason = "PARAMETERS does not name it"
			}
		}
		if reason != "" {
			p.report.Steps = append(p.report.Steps, Step{Name: step, Result: notRun, Reason: reason})
			continue
		}
		changed = append(changed, all[name].reset(name))
		p.step(ctx, step, false, "", func(ctx context.Context) ([]Figure, error) {
			return p.update(ctx, name+"="+value, all[name].Everywhere)
		})
	}
	if err == nil && changed == nil {
		return
	}
	p.step(ctx, "parameters: back to their defaults", true, "", func(ctx context.Context) ([]Figure, error) {
		if err != nil {
			return nil, err
		}
		return nil, p.Deploy(ctx, changed...)
	})
}

// update deploys a parameter. If every function has it in its configuration, each must get a new version.
func (p *proof) update(ctx context.Context, parameter string, everywhere bool) ([]Figure, error) {
	before, err := p.versions(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.Deploy(ctx, parameter); err != nil {
		return nil, err
	}
	after, err := p.versions(ctx)
	if err != nil {
		return nil, err
	}
	var kept []string
	for function, version := range after {
		if before[function] == version {
			kept = append(kept, function)
		}
	}
	slices.Sort(kept)
	if everywhere && kept != nil {
		err = fmt.Errorf("no new version of %s", strings.Join(kept, ", "))
	}
	return []Figure{figure("set", "%s", parameter), figure("functions with a new version", "%d of %d", len(after)-len(kept), len(after))}, err
}

// versions returns the version of each function that the stack has published last.
func (p *proof) versions(ctx context.Context) (map[string]string, error) {
	out, err := p.Shell(ctx, `of AWS::Lambda::Version`)
	versions := map[string]string{}
	for arn := range strings.FieldsSeq(out) {
		colon := strings.LastIndex(arn, ":")
		versions[arn[strings.LastIndex(arn[:colon], ":")+1:colon]] = arn[colon+1:]
	}
	return versions, err
}

// breakApplications replaces the program of the function Applications by one that fails, and returns what puts it back.
func (p *proof) breakApplications(ctx context.Context, mode string) (repair func() error, err error) {
	dir := filepath.Join(p.Built(), "ApplicationsFunction")
	program, kept := filepath.Join(dir, "bootstrap"), filepath.Join(p.Dir, "bootstrap")
	if err := os.Rename(program, kept); err != nil {
		return nil, err
	}
	repair = func() error { return errors.Join(os.Remove(filepath.Join(dir, "mode")), os.Rename(kept, program)) }
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-o", program, "./internal/prove/broken")
	cmd.Dir = p.Root
	cmd.Env = append(slices.Clone(p.Env), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+map[string]string{"x86_64": "amd64", "arm64": "arm64"}[p.Arch])
	if err := os.WriteFile(filepath.Join(dir, "mode"), []byte(mode), 0o644); err != nil { // a function reads it as another user
		return repair, err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return repair, fmt.Errorf("%w: %s", err, out)
	}
	return repair, nil
}

// broken deploys a version that fails with valid tokens without a canary. Polls fail, the administration does not, and the next
// deployment repairs it. So it shows that the broken program does what the canaries are tested with.
func (p *proof) broken(ctx context.Context) ([]Figure, error) {
	client, err := p.newToken(ctx, "proof-broken")
	if err != nil {
		return nil, err
	}
	repair, err := p.breakApplications(ctx, "valid")
	if err == nil {
		err = p.Deploy(ctx)
	}
	if err == nil {
		_, unknown := p.want(ctx, 401, "GET", "/api/client/features", "*:*.smoke-test-of-a-deployment", "")
		a, failed := p.call(ctx, "GET", "/api/client/features", client, "")
		if failed == nil && a.status < 500 {
			failed = fmt.Errorf("a poll got %d from the broken version", a.status)
		}
		_, others := p.want(ctx, 200, "GET", "/api/admin/projects", p.token, "")
		err = errors.Join(unknown, failed, others)
	}
	if repair != nil {
		err = errors.Join(err, repair(), p.Deploy(ctx))
	}
	if err != nil {
		return nil, err
	}
	_, err = p.want(ctx, 200, "GET", "/api/client/features", client, "")
	return nil, err
}

// canary deploys a broken version gradually, while applications poll. The deployment must fail, and the version before it must serve.
func (p *proof) canary(mode string) func(context.Context) ([]Figure, error) {
	const gradual = "Deployment=Canary10Percent5Minutes"
	return func(ctx context.Context) ([]Figure, error) {
		if err := p.Deploy(ctx, gradual); err != nil { // so that the hook and the alarm are there
			return nil, err
		}
		const live = `aws lambda get-alias --function-name "$STACK-Applications" --name live --query FunctionVersion --output text`
		before, err := p.Shell(ctx, live)
		if err != nil {
			return nil, err
		}
		repair, err := p.breakApplications(ctx, mode)
		t := &tally{}
		if err == nil {
			polling, end := context.WithCancel(ctx)
			done := make(chan struct{})
			go func() { defer close(done); t, _ = p.load(polling, "proof-canary-"+mode, 20, 20, time.Hour) }()
			if p.Deploy(ctx, gradual) == nil {
				err = errors.New("the deployment of the broken version succeeded")
			}
			end()
			<-done
		}
		if repair != nil {
			err = errors.Join(err, repair())
		}
		if err != nil {
			return nil, err
		}
		after, err := p.Shell(ctx, live)
		if err == nil && after != before {
			err = fmt.Errorf("callers reach the version %s, and reached %s", after, before)
		}
		if err == nil && mode != "callers" { // no caller may have noticed
			err = t.check(200, 304)
		}
		return t.figures(), errors.Join(err, p.Deploy(ctx, "Deployment=AllAtOnce"))
	}
}

// restore restores the table to a moment between two changes with the commands of docs/operations/restore.md.
func (p *proof) restore(ctx context.Context) ([]Figure, error) {
	blocks, stop, err := p.restoreBlocks()
	if err != nil {
		return nil, err
	}
	if _, err := p.newFlag(ctx, "proof-kept"); err != nil {
		return nil, err
	}
	sleep(ctx, 2*time.Second)
	moment := time.Now().UTC()
	sleep(ctx, 2*time.Second)
	if _, err := p.newFlag(ctx, "proof-lost"); err != nil {
		return nil, err
	}
	if p.Emulator == nil {
		sleep(ctx, 10*time.Minute) // the last five minutes cannot be restored
	}
	const (
		wait = `aws dynamodb wait table-exists --table-name "$RESTORED"` // ends after eight minutes, as the page says
		list = "\necho; cat lost-events.json"
		caps = "MaxReadRequestUnits=12000,MaxWriteRequestUnits=1000"
	)
	restored := p.Stack + "-restored-" + moment.Format("20060102-1504")
	var out string
	if p.Emulator != nil {
		stop[0] = ":" // as below
	}
	for _, block := range []string{blocks[1] + list, stop[0], blocks[2], blocks[3], blocks[4], blocks[5]} {
		script := strings.NewReplacer(wait, wait+" || "+wait+" || "+wait, "<a flag>", "proof-kept",
			"MaxReadRequestUnits=1000,MaxWriteRequestUnits=1000", caps).Replace(block)
		out, err = p.Shell(ctx, `export TABLE="$(resource Table)" RESTORED="$1" MOMENT="$2"`+"\n"+script, restored, moment.Format(time.RFC3339))
		if err == nil && strings.HasSuffix(block, list) && (!strings.Contains(out, "proof-lost") || strings.Contains(out, "proof-kept")) {
			err = fmt.Errorf("lost-events.json should have the events of proof-lost, and none of proof-kept: %s", out)
		}
		if err != nil {
			return nil, err
		}
	}
	p.compared = out
	if p.Emulator == nil { // MiniStack pauses no versions of functions
		if err := p.Deploy(ctx, "RestoredTable="+restored, "Deployment=AllAtOnce", "Alarms=off", "Paused=on"); err != nil {
			return nil, err
		}
	}
	if err := p.Deploy(ctx, "RestoredTable="+restored, "Paused=off"); err != nil {
		return nil, err
	}
	if p.Emulator == nil {
		if _, err := p.Shell(ctx, stop[1]); err != nil {
			return nil, err
		}
	}
	client, err := p.newToken(ctx, "proof-restore")
	if err != nil {
		return nil, err
	}
	if _, err := p.want(ctx, 200, "POST", project+"/features/proof-kept/environments/development/off", p.token, ""); err != nil {
		return nil, err
	}
	_, err = p.want(ctx, 200, "GET", "/api/client/features?namePrefix=proof-kept", client, "", `"enabled":false`)
	return nil, err
}

// restoreBlocks returns the commands of docs/operations/restore.md, and those that stop callers and let them in again.
func (p *proof) restoreBlocks() (restore, stop []string, err error) {
	restore, err = p.Blocks("docs/operations/restore.md", "# Back up and restore")
	stop, failed := p.Blocks("docs/operations/incidents.md", "## Stop all callers")
	if err := errors.Join(err, failed); err != nil {
		return nil, nil, err
	}
	if len(restore) != 6 || len(stop) != 2 {
		return nil, nil, fmt.Errorf("restore.md has %d blocks of commands, want six: the names, and those of steps 1 and 3 to 5; incidents.md has %d, want two", len(restore), len(stop))
	}
	return restore, stop, nil
}

// metric returns a statistic of CloudWatch for the time of the steady load.
func (p *proof) metric(ctx context.Context, namespace, name, dimensions, statistic string) (float64, error) {
	if p.measured.IsZero() {
		return 0, errors.New("nothing was measured")
	}
	begin := p.measured.UTC().Truncate(time.Minute)
	end := p.measured.Add(p.steady + time.Minute).UTC().Truncate(time.Minute)
	out, err := p.Shell(ctx, `aws cloudwatch get-metric-statistics --namespace "$1" --metric-name "$2" --dimensions "$3" --statistics "$4" \
		--start-time "$5" --end-time "$6" --period "$7" --query "Datapoints[]" --output json`,
		namespace, name, dimensions, statistic, begin.Format(time.RFC3339), end.Format(time.RFC3339), fmt.Sprint(int(end.Sub(begin).Seconds())))
	if err != nil {
		return 0, err
	}
	var points []map[string]any
	if err := json.Unmarshal([]byte(out), &points); err != nil || len(points) == 0 {
		return 0, errors.Join(err, fmt.Errorf("%s has no data", name))
	}
	value, _ := points[0][statistic].(float64)
	return value, nil
}

func (p *proof) units(ctx context.Context) (figures []Figure, err error) {
	table, err := p.Shell(ctx, "resource Table")
	for _, name := range []string{"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"} {
		n, failed := p.metric(ctx, "AWS/DynamoDB", name, "Name=TableName,Value="+strings.TrimSpace(table), "Sum")
		figures, err = append(figures, figure(name, "%.0f", n)), errors.Join(err, failed)
	}
	return figures, err
}

func (p *proof) durations(ctx context.Context) (figures []Figure, err error) {
	for _, function := range []string{"Applications", "Features"} {
		of := "Name=FunctionName,Value=" + p.Stack + "-" + function
		n, failed := p.metric(ctx, "AWS/Lambda", "Invocations", of, "Sum")
		ms, slow := p.metric(ctx, "AWS/Lambda", "Duration", of, "Average")
		figures, err = append(figures, figure(function, "%.0f invocations of %.1f ms", n, ms)), errors.Join(err, failed, slow)
	}
	return figures, err
}

// teardown deletes the stack and what remains of it.
func (p *proof) teardown(ctx context.Context) error {
	script, err := p.teardownScript()
	if err != nil {
		return err
	}
	left, err := p.Shell(ctx, script)
	if err == nil && !strings.HasSuffix(strings.TrimSpace(left), "left:") {
		err = fmt.Errorf("something is left: %s", left)
	}
	return err
}

// teardownScript deletes the stack, when nothing changes it any more, its tables and its key, with the commands of docs/operations/teardown.md.
func (p *proof) teardownScript() (string, error) {
	const page = "docs/operations/teardown.md"
	first, err := p.Blocks(page, "# Teardown")
	last, failed := p.Blocks(page, "## Remove everything for good")
	if err := errors.Join(err, failed); err != nil {
		return "", err
	}
	remove := strings.SplitAfter(last[0], "\n") // protection and table, then the key
	if len(remove) != 4 || !strings.Contains(remove[2], "secretsmanager") {
		return "", fmt.Errorf("%s has other commands than three, of which the last deletes the key", page)
	}
	return `
		state() { aws cloudformation describe-stacks --stack-name "$STACK" --query 'Stacks[0].StackStatus' --output text 2> /dev/null || true; }
		while case "$(state)" in *_IN_PROGRESS) ;; *) false ;; esac; do sleep 10; done
		if [ -n "$(state)" ]; then
			` + first[0] + `
			if [ -n "$KEY" ] && [ "$KEY" != None ]; then
				` + remove[2] + `
			fi
		fi
		tables() { aws dynamodb list-tables --query "TableNames[?starts_with(@, '$STACK-')]" --output text; }
		for TABLE in $(tables); do
			` + remove[0] + remove[1] + `
		done
		for TABLE in $(tables); do aws dynamodb wait table-not-exists --table-name "$TABLE"; done
		echo "left:$(state)$(tables)"`, nil
}
