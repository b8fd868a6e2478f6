package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Other values of parameters. Those of configuration are in the configuration of every function, so all get a new version.
var (
	configuration = strings.Fields("ClientMaxAge=1 LogLevel=DEBUG Tracing=PassThrough Metrics=none Limits=tags=31 OpenId=on PlanAlarms=on SessionHours=13 " +
		"PublicUrl=https://a.example CorsOrigins=https://a.example FrontendOrigins=https://a.example WebhookPrivateNetworks=10.1.0.0/16 " +
		"FrontSecretHash=" + strings.Repeat("0", 64))
	others = strings.Fields("ThrottleRate=101 ClientThrottleRate=501 LogRetentionDays=1 ReservedConcurrency=1 ApplicationsConcurrency=1 " +
		"FrontendConcurrency=1 ClientUrl=beside-firewall MaxReadUnits=12001 MaxWriteUnits=1 Dashboard=on")
)

// kept are the parameters that no step of updates changes: those that must not change, those of other steps, and those that need
// something that an account does not have.
var kept = strings.Fields("Architecture RolePath KeyArn Deployment Paused RestoredTable " +
	"Alarms BackupVaultArn CertificateArn DomainName ExecuteApi LogKeyArn PermissionsBoundary PublishBucket SecondPublishBucket SecondPublishRegion")

// updates gives each parameter another value, one after the other, and then all of them their defaults.
func (p *proof) updates(ctx context.Context) {
	defaults, err := defaults(p.Root)
	list := slices.Concat(configuration, others)
	if p.Emulator != nil {
		list = list[:1] // each takes half a minute
	}
	var reset []string
	for i, parameter := range list {
		name, _, _ := strings.Cut(parameter, "=")
		reset = append(reset, fmt.Sprintf("%s=%s", name, defaults[name]))
		not := ""
		if strings.HasSuffix(name, "Concurrency") || name == "ClientUrl" { // 14 functions reserve one, and 100 have to stay free
			not = p.needs(114)
		}
		p.step(ctx, "parameter "+name, false, not, func(ctx context.Context) ([]string, error) {
			return p.update(ctx, parameter, i < len(configuration))
		})
	}
	p.step(ctx, "parameters: back to their defaults", true, "", func(ctx context.Context) ([]string, error) {
		if err != nil {
			return nil, err
		}
		return nil, p.Deploy(ctx, reset...)
	})
}

// defaults reads the default values of the template's parameters, as the SAM CLI takes them: it ignores a name without a value.
func defaults(root string) (map[string]string, error) {
	source, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		return nil, err
	}
	var template struct {
		Parameters map[string]struct {
			Default any `yaml:"Default"`
		} `yaml:"Parameters"`
	}
	err = yaml.Unmarshal(source, &template)
	values := map[string]string{}
	for name, parameter := range template.Parameters {
		if values[name] = fmt.Sprint(parameter.Default); parameter.Default == nil || parameter.Default == "" {
			values[name] = `""`
		}
	}
	return values, err
}

// update deploys a parameter. If every function has it in its configuration, each must get a new version.
func (p *proof) update(ctx context.Context, parameter string, everywhere bool) ([]string, error) {
	before, err := p.Shell(ctx, `of AWS::Lambda::Version`)
	if err != nil {
		return nil, err
	}
	if err := p.Deploy(ctx, parameter); err != nil {
		return nil, err
	}
	after, err := p.Shell(ctx, `of AWS::Lambda::Version`)
	old := strings.Fields(before)
	same := slices.DeleteFunc(strings.Fields(after), func(version string) bool { return !slices.Contains(old, version) })
	if everywhere && err == nil && len(same) > 0 {
		err = fmt.Errorf("no new version of %s", strings.Join(same, ", "))
	}
	return []string{"set: " + parameter, fmt.Sprintf("functions without a new version: %d", len(same))}, err
}

// breakApplications replaces the program of the function Applications by one that fails, and returns what puts it back.
func (p *proof) breakApplications(ctx context.Context, mode string) (repair func() error, err error) {
	dir := filepath.Join(p.Built(), "ApplicationsFunction")
	program, saved := filepath.Join(dir, "bootstrap"), filepath.Join(p.Dir, "bootstrap")
	if err := os.Rename(program, saved); err != nil {
		return nil, err
	}
	repair = func() error { return errors.Join(os.Remove(filepath.Join(dir, "mode")), os.Rename(saved, program)) }
	if err := os.WriteFile(filepath.Join(dir, "mode"), []byte(mode), 0o644); err != nil { // a function reads it as another user
		return repair, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-o", program, "./internal/prove/broken")
	cmd.Dir = p.Root
	cmd.Env = append(slices.Clone(p.Env), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+map[string]string{"x86_64": "amd64", "arm64": "arm64"}[p.Arch])
	if out, err := cmd.CombinedOutput(); err != nil {
		return repair, fmt.Errorf("%w: %s", err, out)
	}
	return repair, nil
}

// broken deploys a version that fails with valid tokens, without a canary and with another parameter. Polls fail, the administration does not,
// and infra/rollback takes back both. So it shows that the broken program does what the canaries are tested with.
func (p *proof) broken(ctx context.Context) ([]string, error) {
	client, err := p.newToken(ctx, "proof-broken")
	if err != nil {
		return nil, err
	}
	repair, err := p.breakApplications(ctx, "valid")
	if err == nil {
		err = p.Deploy(ctx, "LogLevel=DEBUG")
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
		err = errors.Join(err, repair())
	}
	if err != nil {
		return nil, err
	}
	printed, err := p.Rollback(ctx)
	if err != nil {
		return nil, err
	}
	for _, change := range []string{"other code of Applications", "LogLevel=DEBUG becomes LogLevel=INFO"} {
		if !strings.Contains(printed, change) {
			return nil, fmt.Errorf("the rollback should say %q: %s", change, printed)
		}
	}
	_, err = p.want(ctx, 200, "GET", "/api/client/features", client, "")
	return nil, err
}

// canary deploys a broken version gradually, while applications poll. The deployment must fail, and the version before it must serve.
func (p *proof) canary(mode string) step {
	const gradual = "Deployment=Canary10Percent5Minutes"
	return func(ctx context.Context) ([]string, error) {
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
			go func() { defer close(done); t, _ = p.load(polling, "proof-canary-"+mode, 20, p.callers(20), time.Hour) }()
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
