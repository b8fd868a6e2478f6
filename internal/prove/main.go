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
	"regexp"
	"strings"
	"syscall"
	"time"

	"guidon/internal/stage"
	"guidon/pkg/version"
)

// A proof is one run.
type proof struct {
	*stage.Stage
	http           *http.Client
	address, token string // of the stage, and the admin token
	email          string
	report         string // a page; a line for each step
	path           string // of the report
	passed, failed int    // steps
	stopped        string // why no further step runs
	atOnce         int    // functions that the account runs; in the emulator more than any step needs
	polls          float64
	flood, steady  time.Duration
	measured       time.Time // the begin of the steady load; zero before it
}

func main() {
	p := &proof{Stage: &stage.Stage{Env: os.Environ()}, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	flag.StringVar(&p.Config, "stage", "dev", "the stage of samconfig.toml whose bucket and region are used")
	flag.StringVar(&p.SAM, "sam", "sam", "the SAM CLI")
	flag.StringVar(&p.Arch, "arch", "arm64", "the architecture of the functions")
	flag.StringVar(&p.email, "email", "", "who is told when the budget is used up")
	out := flag.String("out", filepath.Join(".local", "proof"), "the folder of the report")
	emulator := flag.String("emulator", "", "the program of MiniStack, to run in an emulator")
	teardown := flag.Bool("teardown", false, "only delete what an interrupted run left")
	flag.Parse()
	if err := p.run(*emulator, *out, *teardown); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

func (p *proof) run(emulator, out string, teardown bool) (err error) {
	if p.Root, err = os.Getwd(); err != nil {
		return err
	}
	if p.Dir, err = os.MkdirTemp("", "prove-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.Dir)
	p.Stack = "guidon-" + p.Config + "-proof"
	p.Options = []string{"--no-confirm-changeset", "--tags", "Service=guidon-proof"}
	p.Parameters = []string{"LogRetentionDays=7", "Alarms=none", "MaxWriteUnits=1000"}
	p.atOnce, p.polls, p.flood, p.steady = 1000, 1000, time.Minute, 10*time.Minute

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if emulator != "" {
		p.polls, p.flood, p.steady = 50, 15*time.Second, time.Minute
		if err := p.Emulate(context.WithoutCancel(ctx), emulator); err != nil {
			return err
		}
		defer func() { _ = p.Emulator.Stop() }()
	}
	account, err := p.Shell(ctx, `aws sts get-caller-identity --query Account --output text; echo "${AWS_REGION:?set AWS_REGION and AWS_DEFAULT_REGION}"`)
	if err != nil {
		return fmt.Errorf("there are no credentials that work, or no region: %w", err)
	}
	_, err = p.Shell(ctx, `aws cloudformation describe-stacks --stack-name "$STACK" > /dev/null`)
	switch exists := err == nil; {
	case teardown:
		_, err := p.teardown(ctx)
		return err
	case exists:
		return fmt.Errorf("the stack %s exists: delete it with TEARDOWN=1", p.Stack)
	case p.email == "" && emulator == "":
		return errors.New("EMAIL=… is missing: who is told when the budget is used up")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	region, begun := strings.Fields(account)[1], time.Now().UTC()
	p.path = filepath.Join(out, p.Stack+begun.Format("-20060102-1504")+".md")
	p.report = heading(p.Emulator != nil) + fmt.Sprintf("Guidon %s in %s, on %s UTC.\n\n| Step | Result | Seconds | Figures |\n|---|---|---:|---|\n",
		version.String(), region, begun.Format("2006-01-02 15:04"))
	fmt.Printf("prove: deploys the stack %s in %s, account %s, tries it, and deletes it.\n"+
		"prove: on AWS it costs at most 3.24 US dollars by the prices of docs/operations/cost.md; the budget is %s.\n",
		p.Stack, region, strings.Fields(account)[0], budget)
	p.steps(ctx)
	fmt.Printf("prove: %d steps passed, %d failed; the report is %s\n", p.passed, p.failed, p.path)
	if p.failed > 0 {
		return errors.New("not everything passed")
	}
	return os.WriteFile(p.path, []byte(p.report), 0o600)
}

func heading(emulated bool) string {
	if emulated {
		return "# Proof on the emulator MiniStack\n\n" +
			"**This is from an emulator, not from AWS.** It shows that the steps work, and nothing about the limits, times and prices of AWS.\n\n"
	}
	return "# Proof on AWS\n\n"
}

// A step returns what it measured or read, such as "polls: 20 × 200".
type step func(context.Context) (figures []string, err error)

// step runs a step, unless there is a reason not to, and adds its result to the report. If a required step fails, no further step runs.
func (p *proof) step(ctx context.Context, name string, required bool, not string, do step) {
	result, begun := "passed", time.Now()
	var figures []string
	switch {
	case p.stopped != "":
		result = "not run: " + p.stopped
	case not != "":
		result = "not run: " + not
	default:
		var err error
		if figures, err = do(ctx); err != nil {
			p.failed++
			result = "failed: " + publishable(err.Error())
			if required {
				p.stopped = "the step before it failed: " + name
			}
		} else {
			p.passed++
		}
		if ctx.Err() != nil {
			p.stopped = "the run was interrupted"
		}
	}
	line := fmt.Sprintf("| %s | %s | %.0f | %s |", name, cell(result), time.Since(begun).Seconds(), cell(strings.Join(figures, "; ")))
	fmt.Println("prove:", line)
	p.report += line + "\n"
	_ = os.WriteFile(p.path, []byte(p.report), 0o600) // so that a killed run leaves one too; the last one is checked
}

// cell makes a text fit into a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// Account numbers, and tokens of Guidon. A report can be published.
var (
	account = regexp.MustCompile(`\b\d{12}\b`)
	token   = regexp.MustCompile(`[\w*\[\]-]+:[\w*-]+\.[\w-]{20,}`)
)

// publishable shortens the text of an error, and removes what must not be published.
func publishable(text string) string {
	text = strings.Join(strings.Fields(token.ReplaceAllString(account.ReplaceAllString(text, "<account>"), "<token>")), " ")
	if runes := []rune(text); len(runes) > 600 {
		text = string(runes[:200]) + " … " + string(runes[len(runes)-400:])
	}
	return text
}
