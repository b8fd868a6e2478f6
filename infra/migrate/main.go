// Command migrate moves flags from one server that speaks the Unleash protocol to another: from Unleash (5.x to 8.x) to
// Guidon, from Guidon to Unleash, or between stages of Guidon. It uses their public interface alone.
//
//	go run ./infra/migrate --from https://unleash.example.com --from-token … --to https://guidon.example.com --to-token …
//
// It reads both sides, brings what is missing or different in the order in which things need each other (environments,
// projects, tag types, context fields, segments, strategy types, flags), and then reads every flag again on both sides and
// compares the answers. What is the same already is left alone, so a run that was stopped goes on where it stopped, and a
// run that is done changes nothing. Nothing is ever written to the server that it reads from.
//
// The exit status is 0 when both sides are the same, 1 when differences remain (they are printed), 2 when it could not go on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// What the exit status says.
const (
	same      = 0
	different = 1
	failed    = 2
)

// options are what the command line says.
type options struct {
	from, to             *server
	project, environment string // "" for all
	dryRun               bool
}

func run(ctx context.Context, args []string, getenv func(string) string, out, messages io.Writer) int {
	o, err := parse(args, getenv, messages)
	if errors.Is(err, flag.ErrHelp) {
		return same
	}
	if err != nil {
		_, _ = fmt.Fprintln(messages, "migrate:", err)
		return failed
	}
	remaining, err := migrate(ctx, o, newTeller(out, messages))
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(messages, "migrate: stopped; the same command goes on from here")
		return failed
	case err != nil:
		_, _ = fmt.Fprintln(messages, "migrate:", err)
		return failed
	case remaining > 0:
		return different
	}
	return same
}

func parse(args []string, getenv func(string) string, messages io.Writer) (options, error) {
	var o options
	var from, fromToken, to, toToken string
	set := flag.NewFlagSet("migrate", flag.ContinueOnError)
	set.SetOutput(messages)
	set.StringVar(&from, "from", "", "the `URL` to read from")
	set.StringVar(&fromToken, "from-token", getenv("FROM_TOKEN"), "an admin or personal `token` there (or FROM_TOKEN in the environment)")
	set.StringVar(&to, "to", "", "the `URL` to write to")
	set.StringVar(&toToken, "to-token", getenv("TO_TOKEN"), "an admin or personal `token` there (or TO_TOKEN in the environment); Unleash imports with personal ones alone")
	set.StringVar(&o.project, "project", "", "move only the project with this `id`")
	set.StringVar(&o.environment, "environment", "", "move only this `environment`")
	set.BoolVar(&o.dryRun, "dry-run", false, "change nothing: print what would be done, and what differs")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	switch {
	case set.NArg() > 0:
		return o, fmt.Errorf("there is no argument %q; see --help", set.Arg(0))
	case from == "" || to == "":
		return o, errors.New("--from and --to are required; see --help")
	case fromToken == "" || toToken == "":
		return o, errors.New("--from-token and --to-token are required (or FROM_TOKEN and TO_TOKEN in the environment)")
	}
	var err error
	if o.from, err = newServer("the source", from, fromToken); err != nil {
		return o, err
	}
	if o.to, err = newServer("the target", to, toToken); err != nil {
		return o, err
	}
	if o.from.base == o.to.base {
		return o, errors.New("--from and --to are the same server")
	}
	return o, nil
}

// migrate is a run from start to end. It tells how many differences remain.
func migrate(ctx context.Context, o options, tell *teller) (remaining int, err error) {
	source, err := readInstance(ctx, o.from, o, tell)
	if err != nil {
		return 0, err
	}
	if len(source.projects) == 0 || len(source.environments) == 0 {
		return 0, errors.New("the source has no project or no environment of that name that this token may see: there is nothing to move")
	}
	target, err := readInstance(ctx, o.to, o, tell)
	if err != nil {
		return 0, err
	}
	m := &move{options: o, tell: tell, source: source, target: target}
	if err := m.prepare(ctx); err != nil {
		return 0, err
	}
	if err := m.flags(ctx); err != nil {
		return 0, err
	}
	return m.compare(ctx)
}
