package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"guidon/internal/gateway"
)

// budget is what a month may cost, in US dollars.
const budget = "10"

// Why steps are not run in the emulator.
const (
	noQuotas  = "MiniStack has no Service Quotas, and its limit of Lambda is one of this machine"
	noKeys    = "MiniStack evaluates no dynamodb:LeadingKeys"
	noCanary  = "MiniStack has no CodeDeploy"
	noRates   = "MiniStack keeps the routes with settings, and not their numbers"
	noTraces  = "MiniStack has no traces"
	noMoment  = "MiniStack restores the table as it is now"
	noMetrics = "MiniStack counts neither units nor invocations by API Gateway"
)

// steps runs all steps. The last one deletes what the others created, whatever happened.
func (p *proof) steps(ctx context.Context) {
	p.step(ctx, "quotas", true, p.emulated(noQuotas), func(ctx context.Context) ([]string, error) {
		figures, err := p.script(quotas)(ctx)
		_, _ = fmt.Sscanf(figures[0], atOnce+": %d", &p.atOnce)
		return figures, err
	})
	p.step(ctx, "budget alarm", true, "", p.script(createBudget, budget, p.email))
	begun := p.stopped == ""
	p.step(ctx, "deploy", true, "", p.deploy)
	p.step(ctx, "walk through the API", true, "", p.walk)
	p.step(ctx, "rates of the routes", false, p.emulated(noRates), p.throttles)
	p.step(ctx, "traces that callers ask for", false, p.emulated(noTraces), p.traces)
	p.step(ctx, "policies: actions", false, "", p.script(decide,
		"Administration UpdateItem - allowed", "Administration DeleteTable - denied",
		"Applications Query - allowed", "Applications DeleteItem - denied", "Site GetItem - denied"))
	p.step(ctx, "policies: partitions of the table", false, p.emulated(noKeys), p.script(decide, partitions()...))
	p.updates(ctx)
	p.step(ctx, "polls and evaluations at the URLs of ClientUrl", true, p.needs(100+servers+browsers), p.clientURL)
	p.step(ctx, "a broken version with another parameter, deployed at once and rolled back", true, "", p.broken)
	p.step(ctx, "a version that always fails is stopped before callers reach it", true, p.emulated(noCanary), p.canary("always"))
	p.step(ctx, "a version that fails with valid tokens is stopped before callers reach it", true, p.emulated(noCanary), p.canary("valid"))
	p.step(ctx, "a version that fails callers is rolled back by the alarm", true, p.emulated(noCanary), p.canary("callers"))
	p.step(ctx, "polls and changes", false, "", func(ctx context.Context) ([]string, error) {
		p.measured = time.Now()
		t, err := p.load(ctx, "proof-steady", 20, p.callers(20), p.steady)
		if err != nil {
			return nil, err
		}
		if p.Emulator != nil {
			return t.figures(), t.check(200, 304, 503) // a busy machine can be too slow for the emulator
		}
		return t.figures(), t.check(200, 304)
	})
	p.step(ctx, "a flood of polls beside the administration", false, p.needs(500), func(ctx context.Context) ([]string, error) {
		t, err := p.load(ctx, "proof-flood", p.polls, 200, p.flood)
		if err != nil {
			return nil, err
		}
		return t.figures(), t.check(200, 304, 429, 503)
	})
	p.step(ctx, "restore into another table", true, "", p.restore)
	p.step(ctx, "the restored table is of the moment", false, p.emulated(noMoment), func(ctx context.Context) ([]string, error) {
		_, err := p.want(ctx, 404, "GET", project+"/features/proof-lost", p.token, "")
		return nil, err
	})
	p.step(ctx, "units, invocations and durations under polls and changes", false, p.emulated(noMetrics), func(ctx context.Context) ([]string, error) {
		begin, end := p.measured.UTC().Truncate(time.Minute), p.measured.Add(p.steady+time.Minute).UTC().Truncate(time.Minute)
		return p.script(metrics, begin.Format(time.RFC3339), end.Format(time.RFC3339), fmt.Sprint(int(end.Sub(begin).Seconds())))(ctx)
	})
	if begun {
		p.stopped = ""
		p.step(context.WithoutCancel(ctx), "teardown", false, "", p.teardown)
	}
}

// script returns a step that runs a script, whose lines are its figures.
func (p *proof) script(text string, args ...string) step {
	return func(ctx context.Context) ([]string, error) {
		out, err := p.Shell(ctx, text, args...)
		return strings.Split(strings.TrimSpace(out), "\n"), err
	}
}

// emulated returns why a step is not run, in the emulator.
func (p *proof) emulated(why string) string {
	if p.Emulator == nil {
		return ""
	}
	return why
}

const atOnce = "functions at once"

// needs returns why a step is not run in an account that runs fewer functions at once. A new account runs 10, and can reserve none.
func (p *proof) needs(least int) string {
	if p.atOnce >= least {
		return ""
	}
	return fmt.Sprintf("the account has %d %s, and this needs %d: request more from Service Quotas", p.atOnce, atOnce, least)
}

// callers returns how many callers send polls, at most half of what the account runs at once.
func (p *proof) callers(most int) int { return min(most, p.atOnce/2) }

// throttles checks that the stage has the rates and bursts of the template.
func (p *proof) throttles(ctx context.Context) ([]string, error) {
	template, err := gateway.ReadTemplate(filepath.Join(p.Root, "template.yaml"))
	if err != nil {
		return nil, err
	}
	want, err := template.Throttles(nil)
	if err != nil {
		return nil, err
	}
	out, err := p.Shell(ctx, `aws apigatewayv2 get-stage --api-id "$(resource Api)" --stage-name '$default' --output json`)
	if err != nil {
		return nil, err
	}
	var stage struct {
		DefaultRouteSettings gateway.Throttle
		RouteSettings        map[string]gateway.Throttle
	}
	if err := json.Unmarshal([]byte(out), &stage); err != nil {
		return nil, err
	}
	got := maps.Clone(stage.RouteSettings)
	if got == nil {
		got = map[string]gateway.Throttle{}
	}
	got[""] = stage.DefaultRouteSettings
	if !maps.Equal(got, want) {
		return nil, fmt.Errorf("the routes have the rates and bursts %v; want %v", got, want)
	}
	return []string{fmt.Sprintf("routes with a rate of their own: %d", len(got)-1)}, nil
}

// traces sends requests that ask for a trace, and counts the traces that X-Ray has five minutes later. The function Applications may write
// none, and Site may.
func (p *proof) traces(ctx context.Context) ([]string, error) {
	const requests, atOnce = 50, 5
	var figures []string
	for _, path := range []string{"/api/client/features", "/health"} {
		var ids []string
		for range requests {
			secret := make([]byte, 12)
			_, _ = rand.Read(secret) // never fails
			ids = append(ids, fmt.Sprintf("1-%08x-%x", time.Now().Unix(), secret))
			if _, err := p.call(ctx, "GET", path, "unknown", "", "X-Amzn-Trace-Id: Root="+ids[len(ids)-1]+";Sampled=1"); err != nil {
				return nil, err
			}
		}
		sleep(ctx, 5*time.Minute)
		found := 0
		for some := range slices.Chunk(ids, atOnce) {
			out, err := p.Shell(ctx, `aws xray batch-get-traces --trace-ids "$@" --query 'length(Traces)' --output text`, some...)
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(strings.TrimSpace(out))
			if err != nil {
				return nil, err
			}
			found += n
		}
		figures = append(figures, fmt.Sprintf("traces of %d requests to %s: %d", requests, path, found))
	}
	return figures, nil
}

// Executions that are reserved for the URLs of ClientUrl.
const servers, browsers = 50, 10

// clientURL polls and evaluates at function URLs, and removes these.
func (p *proof) clientURL(ctx context.Context) ([]string, error) {
	client, err := p.newToken(ctx, "proof-url")
	if err != nil {
		return nil, err
	}
	if _, err := p.newFlag(ctx, "proof-url"); err != nil {
		return nil, err
	}
	if err := p.Deploy(ctx, "ClientUrl=on", fmt.Sprintf("ApplicationsConcurrency=%d", servers), fmt.Sprintf("FrontendConcurrency=%d", browsers)); err != nil {
		return nil, err
	}
	const poll = "/api/client/features?namePrefix=proof-url"
	for _, r := range []struct {
		output              string
		status              int
		method, path, token string
		word                string
	}{
		{"ClientUrl", 200, "GET", poll, client, `"enabled":true`},
		{"Address", 200, "POST", project + "/features/proof-url/environments/development/off", p.token, ""},
		{"ClientUrl", 200, "GET", poll, client, `"enabled":false`},
		{"ClientUrl", 401, "GET", poll, "unknown", ""},
		{"FrontendUrl", 200, "POST", "/ofrep/v1/evaluate/flags", client, "proof-url"},
		{"FrontendUrl", 204, "OPTIONS", "/api/frontend", "", ""},
	} {
		at := *p
		if at.address, err = p.Shell(ctx, `output "$1"`, r.output); err != nil {
			return nil, err
		}
		at.address = strings.TrimSpace(at.address)
		if host := strings.TrimPrefix(at.address, "https://"); p.Emulator != nil && host != at.address { // it serves them at paths
			id, _, _ := strings.Cut(host, ".")
			at.address = p.Emulator.Endpoint + "/_aws/lambda-url/" + id
		}
		body := ""
		if r.method == "POST" && r.output == "FrontendUrl" {
			body = `{"context":{"targetingKey":"7"}}`
		}
		if _, err := at.want(ctx, r.status, r.method, r.path, r.token, body, r.word); err != nil {
			return nil, fmt.Errorf("at %s: %w", r.output, err)
		}
	}
	return nil, p.Deploy(ctx, "ClientUrl=off", "ApplicationsConcurrency=0", "FrontendConcurrency=0")
}

// quotas checks what the account allows, and prints how many functions it runs at once first.
const quotas = `
least() { # the name of a quota, the least that is needed, and what the account has
	echo "$1: $3"
	[ "${3%.*}" -ge "$2" ] || { echo "the account has $3 $1, and the proof needs $2: request more" >&2; exit 1; }
}
units() { aws service-quotas list-service-quotas --service-code dynamodb --output text \
	--query "Quotas[?QuotaName=='Table-level $1 throughput limit'].Value | [0]"; }
least "functions at once" 10 "$(aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions --output text)"
least "read units of a table a second" 12000 "$(units read)"
least "write units of a table a second" 1000 "$(units write)"`

// createBudget creates a monthly budget, or keeps the one that is there. It stays after the run, because AWS counts costs for days.
const createBudget = `
ACCOUNT="$(aws sts get-caller-identity --query Account --output text)"
aws budgets describe-budget --account-id "$ACCOUNT" --budget-name "$STACK" > /dev/null 2>&1 ||
aws budgets create-budget --account-id "$ACCOUNT" \
	--budget "BudgetName=$STACK,BudgetType=COST,TimeUnit=MONTHLY,BudgetLimit={Amount=$1,Unit=USD}" \
	--notifications-with-subscribers "Notification={NotificationType=ACTUAL,ComparisonOperator=GREATER_THAN,Threshold=80,ThresholdType=PERCENTAGE},Subscribers=[{SubscriptionType=EMAIL,Address=${2:-nobody@example.com}}]"
echo "US dollars a month: $1"`

// decide checks what IAM decides. An argument is a role, an action on the table, the partition or -, and allowed or denied.
const decide = `
table="$(aws dynamodb describe-table --table-name "$(resource Table)" --query Table.TableArn --output text)"
for decision; do
	read -r role action key want <<< "$decision"
	arn="$(aws iam get-role --role-name "$(resource "${role}Role")" --query Role.Arn --output text)"
	context=(); [ "$key" = - ] || context=(--context-entries "ContextKeyName=dynamodb:LeadingKeys,ContextKeyType=stringList,ContextKeyValues=$key")
	got="$(aws iam simulate-principal-policy --policy-source-arn "$arn" --resource-arns "$table" --action-names "dynamodb:$action" \
		"${context[@]}" --query 'EvaluationResults[0].EvalDecision' --output text)"
	[ "$got" = allowed ] || got=denied
	[ "$got" = "$want" ] || { echo "$role $action $key: $got" >&2; exit 1; }
done
echo "decisions as expected: $#"`

func partitions() []string {
	list := []string{"Applications PutItem POST#0 allowed", "Aggregate PutItem SEEN#a allowed", "Aggregate PutItem TOKEN#a denied"}
	for _, role := range []string{"Applications", "Snapshot", "Deliver"} {
		for _, key := range []string{"FLAG#a", "PROJECT#a", "TOKEN#a", "USERS", "REGISTRY"} {
			list = append(list, role+" PutItem "+key+" denied")
		}
	}
	return list
}

// metrics prints what CloudWatch has between two times.
const metrics = `
begin=$1 end=$2 period=$3
metric() { # namespace, name, statistic, dimensions
	value="$(aws cloudwatch get-metric-statistics --namespace "$1" --metric-name "$2" --statistics "$3" --dimensions "$4" \
		--start-time "$begin" --end-time "$end" --period "$period" --query "Datapoints[0].$3" --output text)"
	[ "$value" != None ] || { echo "$2 of $4 has no data" >&2; exit 1; }
	echo "$2 of ${4##*=}: $value"
}
table="Name=TableName,Value=$(resource Table)"
metric AWS/DynamoDB ConsumedReadCapacityUnits Sum "$table"
metric AWS/DynamoDB ConsumedWriteCapacityUnits Sum "$table"
for function in Applications Features; do
	metric AWS/Lambda Invocations Sum "Name=FunctionName,Value=$STACK-$function"
	metric AWS/Lambda Duration Average "Name=FunctionName,Value=$STACK-$function"
done`

func (p *proof) deploy(ctx context.Context) ([]string, error) {
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
func (p *proof) walk(ctx context.Context) ([]string, error) {
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
		{202, "DELETE", project + "/features/proof-walk", p.token, ""},
	} {
		if _, err := p.want(ctx, r.status, r.method, r.path, r.token, "", r.word); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// teardown deletes the stack, when nothing changes it any more, its tables and its key, with the commands of docs/operations/teardown.md.
func (p *proof) teardown(ctx context.Context) ([]string, error) {
	script, err := p.teardownScript()
	if err != nil {
		return nil, err
	}
	_, err = p.Shell(ctx, script)
	return nil, err
}

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
		left="$(state)$(tables)"; [ -z "$left" ] || { echo "something is left: $left" >&2; exit 1; }`, nil
}
