package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
