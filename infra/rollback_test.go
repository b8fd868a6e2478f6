package infra_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeStack answers as the AWS CLI does in an account that has one stack and one object, in the folder CLOUD. Run as sam, it deploys there.
const fakeStack = `#!/bin/sh
cd "$CLOUD"
case "$* " in
*"StackStatus "*) cat status 2>/dev/null || exit 254 ;;
*"StackId "*) cat id ;;
*"list-stack-resources "*) echo api1 ;;
"apigatewayv2 "*) echo "$*" >>routes; echo "${REFUSAL:-}"; [ -z "${REFUSAL:-}" ] ;;
*"get-template "*) cat template.yaml ;;
*"LastUpdatedTime "*) cat time ;;
*"describe-stacks "*) tr '\n' '\t' <parameters; echo ;;
"s3 cp --only-show-errors s3://bucket/guidon-dev/deployments.tar.gz "*) cp object "$5" 2>/dev/null ;;
"s3 cp --only-show-errors "*" s3://bucket/guidon-dev/deployments.tar.gz ") cp "$4" object ;;
"deploy "*) cp "$7" template.yaml; for last; do :; done; echo "$last" | tr -d '"' | tr ' ' '\n' | grep . >parameters ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac
`

// TestRollback keeps and takes back deployments of a stack. TestDeployment does the same in an emulator of AWS.
func TestRollback(t *testing.T) {
	cloud := t.TempDir()
	write(t, filepath.Join(cloud, "aws"), fakeStack, 0o700)
	write(t, filepath.Join(cloud, "samconfig.toml"), stages, 0o600)
	var env []string
	run := func(args ...string) (string, error) {
		cmd := exec.Command("./rollback", append([]string{"dev"}, args...)...)
		cmd.Env = append([]string{"PATH=" + cloud + ":" + os.Getenv("PATH"), "CLOUD=" + cloud, "SAM=" + filepath.Join(cloud, "aws"), "SAMCONFIG=" + filepath.Join(cloud, "samconfig.toml"), "YES=1"}, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// must runs the script, which must print something, or fail with it.
	must := func(fails bool, says string, args ...string) {
		t.Helper()
		if out, err := run(args...); (err != nil) != fails || !strings.Contains(out, says) {
			t.Fatalf("%v: it printed %s; want it to say %q", err, out, says)
		}
	}
	running := func(n int, parameters string) {
		t.Helper()
		write(t, filepath.Join(cloud, "status"), "UPDATE_COMPLETE\n", 0o600)
		write(t, filepath.Join(cloud, "id"), "first", 0o600)
		write(t, filepath.Join(cloud, "time"), fmt.Sprintf("2026-11-%02dT01:02:03.4Z\n", n), 0o600)
		write(t, filepath.Join(cloud, "template.yaml"), fmt.Sprintf("Metadata:\n  Commit: \"c%d\"\nResources:\n  SiteFunction:\n    CodeUri: s3://bucket/guidon-dev/%d\n", n, n), 0o600)
		write(t, filepath.Join(cloud, "parameters"), strings.ReplaceAll(parameters, " ", "\n")+"\n", 0o600)
	}
	parameters := func(want string) {
		t.Helper()
		if got := strings.Join(strings.Fields(read(t, filepath.Join(cloud, "parameters"))), " "); got != want {
			t.Errorf("the parameters are\n%s\nwant\n%s", got, want)
		}
	}

	must(true, "cannot be read")
	must(false, "", "--keep") // before the first deployment
	running(1, "Deployment=Canary10Percent5Minutes LogLevel=INFO Paused=off RestoredTable=")
	must(true, "no other deployment of guidon-dev is kept")
	must(false, "", "--keep")
	running(2, "Added=1 Deployment=Canary10Percent5Minutes LogLevel=DEBUG Paused=on RestoredTable=restored")
	must(false, "", "--keep")
	must(false, `guidon-dev is of 2026-11-02T01:02:03 UTC, commit c2, and goes back to 2026-11-01T01:02:03 UTC, commit c1
rollback: other code of Site
rollback: Deployment=Canary10Percent5Minutes becomes Deployment=AllAtOnce
rollback: LogLevel=DEBUG becomes LogLevel=INFO
`)
	parameters("Deployment=AllAtOnce LogLevel=INFO Paused=on RestoredTable=restored") // the first ones, without a canary, the table and the callers of now
	if got := read(t, filepath.Join(cloud, "template.yaml")); !strings.Contains(got, "c1") {
		t.Errorf("the template is %s, want that of the first deployment", got)
	}
	must(true, "no other deployment of guidon-dev is kept") // neither forward again

	// URLs and sign-in that callers depend on, and a route that is new and has settings.
	running(1, "LogLevel=INFO")
	must(false, "", "--keep")
	running(2, "ApplicationsConcurrency=0 ClientUrl=off FrontendConcurrency=0 LogLevel=INFO OpenId=off")
	must(false, "", "--keep")
	const depended = "ApplicationsConcurrency=20 ClientUrl=on FrontendConcurrency=10 LogLevel=DEBUG OpenId=on"
	running(3, depended)
	add := func(routes string) {
		write(t, filepath.Join(cloud, "template.yaml"), read(t, filepath.Join(cloud, "template.yaml"))+"  Api:\n    Properties:\n      RouteSettings:\n"+routes+"      StageName: $default\n", 0o600)
	}
	add("        ANY /a/{b}:\n          ThrottlingRateLimit: 1\n        '$default':\n          ThrottlingRateLimit: 1\n")
	env = []string{"REFUSAL=AccessDeniedException"}
	must(true, "AccessDeniedException")
	env = []string{"REFUSAL=NotFoundException"} // an earlier attempt has removed them
	must(false, "removes the settings of the route ANY /a/{b}")
	parameters(strings.Replace(depended, "DEBUG", "INFO", 1))
	const removed = "apigatewayv2 delete-route-settings --api-id api1 --stage-name $default --route-key "
	if got, want := read(t, filepath.Join(cloud, "routes")), removed+"$default\n"+removed+"$default\n"+removed+"ANY /a/{b}\n"; got != want {
		t.Errorf("it called\n%s\nwant\n%s", got, want)
	}
	env = nil
	must(true, "has no ClientUrl OpenId, so")
	env = []string{"LOSE=1"}
	must(false, "goes back to 2026-11-01T01:02:03")
	parameters("LogLevel=INFO")
	env = nil

	running(1, "LogLevel=INFO")
	must(false, "", "--keep")
	running(2, "LogLevel=DEBUG")
	write(t, filepath.Join(cloud, "id"), "second", 0o600)
	must(true, "no other deployment of guidon-dev is kept") // those of the deleted stack are not

	for n := range 13 {
		running(n+3, "LogLevel=INFO")
		must(false, "", "--keep")
	}
	out, err := exec.Command("tar", "-tzf", filepath.Join(cloud, "object")).Output()
	if got := strings.Count(string(out), "/parameters"); err != nil || got != 10 {
		t.Errorf("%d deployments are kept (%v), want 10:\n%s", got, err, out)
	}
	write(t, filepath.Join(cloud, "status"), "UPDATE_IN_PROGRESS\n", 0o600)
	must(true, "cancel-update-stack --stack-name guidon-dev")
}
