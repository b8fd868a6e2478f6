// Package migrate copies flags from one server to another that both have the admin API of Unleash: from Unleash (5.x to
// 8.x) to Guidon, from Guidon to Unleash, or between stages of Guidon. `guidon migrate` runs it.
//
// It reads both sides and copies what is missing or different, in the order of dependencies: environments, projects, tag
// types, context fields, segments, strategy types, flags. Then it reads every flag again on both sides and compares them.
// Equal objects are skipped, so a run that was stopped continues where it stopped, and another run after a complete one
// changes nothing. The source is never written to.
package migrate

import (
	"context"
	"errors"
	"io"

	"guidon/internal/adminapi"
)

// Options say what to copy, and where.
type Options struct {
	From, FromToken string // the server to read from, and an admin or personal token there
	To, ToToken     string // the server to write to; Unleash accepts imports with personal tokens only
	Project         string // the id of the only project to copy; "" for all
	Environment     string // the only environment to copy; "" for all
	DryRun          bool   // change nothing: print what would be copied, and what differs
}

// options are Options with a client for each side.
type options struct {
	from, to             *adminapi.Client
	project, environment string
	dryRun               bool
}

// attempts is how often a request is sent to a busy server: a migration waits longer than a person would.
const attempts = 6

// check returns the options with clients, or says which ones are wrong.
func (o Options) check() (options, error) {
	checked := options{project: o.Project, environment: o.Environment, dryRun: o.DryRun}
	switch {
	case o.From == "" || o.To == "":
		return checked, errors.New("--from and --to are required; see --help")
	case o.FromToken == "" || o.ToToken == "":
		return checked, errors.New("--from-token and --to-token are required (or FROM_TOKEN and TO_TOKEN in the environment)")
	}
	var err error
	if checked.from, err = adminapi.New("the source", o.From, o.FromToken); err != nil {
		return checked, err
	}
	if checked.to, err = adminapi.New("the target", o.To, o.ToToken); err != nil {
		return checked, err
	}
	if checked.from.Base == checked.to.Base {
		return checked, errors.New("--from and --to are the same server")
	}
	checked.from.Attempts, checked.to.Attempts = attempts, attempts
	return checked, nil
}

// Run copies flags, and returns how many differences remain. It prints what it did to out, and its progress to messages.
func Run(ctx context.Context, o Options, out, messages io.Writer) (remaining int, err error) {
	checked, err := o.check()
	if err != nil {
		return 0, err
	}
	remaining, err = run(ctx, checked, newPrinter(out, messages))
	if ctx.Err() != nil {
		return 0, errors.New("stopped; run the same command again to continue")
	}
	return remaining, err
}

func run(ctx context.Context, o options, print *printer) (remaining int, err error) {
	source, err := readInstance(ctx, o.from, o, print)
	if err != nil {
		return 0, err
	}
	if len(source.projects) == 0 || len(source.environments) == 0 {
		return 0, errors.New("nothing to copy: the source has no such project or environment, or its token cannot read it")
	}
	target, err := readInstance(ctx, o.to, o, print)
	if err != nil {
		return 0, err
	}
	m := &migration{options: o, print: print, source: source, target: target, failed: source.unreadable}
	if err := m.changeRequests(ctx); err != nil {
		return 0, err
	}
	if err := m.prepare(ctx); err != nil {
		return 0, err
	}
	if err := m.flags(ctx); err != nil {
		return 0, err
	}
	return m.compare(ctx)
}
