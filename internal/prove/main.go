// Command prove deploys Guidon to AWS as a stack of its own, finds out whether it does there what the documentation says, deletes the
// stack, and writes a report: make prove STAGE=dev. With MiniStack, an emulator of AWS, it tries its own steps: make prove EMULATOR=1.
// docs/operations/proof.md describes both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"guidon/internal/stage"
	"guidon/pkg/version"
)

const (
	onAWS      = "AWS"
	onEmulator = "the emulator MiniStack"
)

// A proof is one run.
type proof struct {
	*stage.Stage
	report  Report
	path    string // of the report, without .json
	http    *http.Client
	address string
	token   string // the admin token

	email    string
	only     []string // the parameters to update; nil for all
	polls    float64  // a second, in the flood
	flood    time.Duration
	steady   time.Duration
	compared string    // what the comparison of both tables printed
	measured time.Time // the begin of the steady load; zero before it
	stopped  string    // why no further step runs
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

func run() error {
	p := &proof{Stage: &stage.Stage{Env: os.Environ()}, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	p.Root = root
	var only, out string
	var seconds, minutes float64
	flag.StringVar(&p.Config, "stage", "dev", "the stage of samconfig.toml whose bucket and region are used")
	flag.StringVar(&p.SAM, "sam", "sam", "the SAM CLI")
	flag.StringVar(&p.Arch, "arch", "arm64", "the architecture of the functions")
	flag.StringVar(&p.email, "email", "", "who is told when the budget is used up")
	flag.StringVar(&only, "parameters", "all", "the parameters to update, separated by commas")
	flag.Float64Var(&p.polls, "polls", 1000, "polls a second in the flood")
	flag.Float64Var(&seconds, "seconds", 60, "how long the flood takes")
	flag.Float64Var(&minutes, "minutes", 10, "how long the steady load takes")
	flag.Float64Var(&p.report.Limit, "limit", 10, "how many US dollars the run may cost by its estimate")
	flag.StringVar(&out, "out", filepath.Join(".local", "proof"), "the folder of the report")
	emulator := flag.String("emulator", "", "the program of MiniStack, to run in an emulator")
	teardown := flag.Bool("teardown", false, "only delete what an interrupted run left")
	flag.Parse()

	if only != "all" {
		p.only = strings.Split(only, ",")
	}
	p.flood, p.steady = time.Duration(seconds*float64(time.Second)), time.Duration(minutes*float64(time.Minute))
	if p.Dir, err = os.MkdirTemp("", "prove-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.Dir)
	p.Stack = "guidon-" + p.Config + "-proof"
	p.Options = []string{"--stack-name", p.Stack, "--s3-prefix", p.Stack, "--no-confirm-changeset", "--tags", "Service=guidon-proof"}
	p.Parameters = []string{"LogRetentionDays=7", "Alarms=none", "MaxWriteUnits=1000"}
	p.report.Target, p.report.Version, p.report.Begun = onAWS, version.String(), time.Now().UTC().Truncate(time.Second)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if *emulator != "" {
		p.report.Target = onEmulator
		if err := p.Emulate(context.WithoutCancel(ctx), *emulator); err != nil {
			return err
		}
		defer func() { _ = p.Emulator.Stop() }()
	}
	account, err := p.Shell(ctx, `aws sts get-caller-identity --query Account --output text; echo "${AWS_REGION:?set AWS_REGION and AWS_DEFAULT_REGION}"`)
	if err != nil {
		return fmt.Errorf("there are no credentials that work, or no region: %w", err)
	}
	p.report.Region = strings.Fields(account)[1]
	_, err = p.Shell(ctx, `aws cloudformation describe-stacks --stack-name "$STACK" > /dev/null`)
	switch exists := err == nil; {
	case *teardown:
		return p.teardown(ctx)
	case exists:
		return fmt.Errorf("the stack %s exists: delete it with TEARDOWN=1", p.Stack)
	case p.email == "" && *emulator == "":
		return errors.New("EMAIL=… is missing: who is told when the budget is used up")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	p.path = filepath.Join(out, p.Stack+p.report.Begun.Format("-20060102-1504"))
	p.report.Estimate = p.estimate()
	fmt.Printf("prove: deploys the stack %s in %s, account %s, tries it, and deletes it.\n"+
		"prove: it costs at most %.2f US dollars by the prices of docs/operations/cost.md; the limit is %.2f (LIMIT).\n",
		p.Stack, p.report.Region, strings.Fields(account)[0], p.report.Estimate, p.report.Limit)
	if p.report.Estimate > p.report.Limit {
		return errors.New("that is more than the limit")
	}
	p.steps(ctx)
	p.report.Ended = time.Now().UTC().Truncate(time.Second)
	if err := p.report.write(p.path); err != nil {
		return err
	}
	fmt.Printf("prove: %d passed, %d failed, %d not run; the report is in %s.md\n", p.report.count(passed), p.report.count(failed), p.report.count(notRun), p.path)
	if p.report.count(failed) > 0 {
		return errors.New("not everything passed")
	}
	return nil
}

// estimate returns an upper bound of what the run costs, in US dollars: 3.00 for a million polls, 30.00 for a million changes with
// everything around them, and 3.00 for the rest, which is alarms and secrets for some hours, deployments and the restore.
func (p *proof) estimate() float64 {
	polls := p.polls*p.flood.Seconds() + 20*p.steady.Seconds()
	changes := p.flood.Seconds() + p.steady.Seconds()
	return 3 + polls*3/1e6 + changes*30/1e6
}

// step runs a step and adds its result to the report. In the emulator, a step with a reason is not run. If a required step fails,
// no further step runs.
func (p *proof) step(ctx context.Context, name string, required bool, emulator string, do func(context.Context) ([]Figure, error)) {
	s := Step{Name: name, Result: passed}
	begun := time.Now()
	switch {
	case p.stopped != "":
		s.Result, s.Reason = notRun, p.stopped
	case p.Emulator != nil && emulator != "":
		s.Result, s.Reason = notRun, emulator
	default:
		var err error
		if s.Figures, err = do(ctx); err != nil {
			s.Result, s.Reason = failed, publishable(err.Error())
			if required {
				p.stopped = "the step before it failed: " + name
			}
		}
		if ctx.Err() != nil {
			p.stopped = "the run was interrupted"
		}
	}
	s.Seconds = int(time.Since(begun).Seconds())
	p.report.Steps = append(p.report.Steps, s)
	fmt.Printf("prove: %s: %s %s (%d s)\n", s.Name, s.Result, s.Reason, s.Seconds)
	for _, f := range s.Figures {
		fmt.Printf("prove:   %s: %s\n", f.Name, f.Value)
	}
	p.report.Ended = time.Now().UTC().Truncate(time.Second)
	_ = p.report.write(p.path) // so that a killed run leaves one too; the last one is checked
}
