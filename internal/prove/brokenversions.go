package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

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
