// Package main is the benchmark behind "make bench": it loads the local
// gateway over HTTP as an administrator's tools would, and, when UNLEASH_URL
// names a running Unleash, loads that server with the same requests in the
// same run and prints both side by side.
//
// A run is a sequence of phases (phases.go), one operation each. Every phase
// finds a project of 1,000 flags that it made itself, and for Guidon also a
// gateway, an engine and a data folder that nothing else has used: the local
// engine slows down as the transactions of the last minutes pile up, and a
// phase must not pay for the one before it. The two servers take turns phase
// by phase, so both meet the same state of the machine.
//
//	go run ./internal/bench [-seconds 4] [-callers 16] [-flags 1000] [-only "create,read one"]
//
//	UNLEASH_URL     a server to compare with; UNLEASH_TOKEN its admin token
//	UNLEASH_SETTLE  a shell command to run once a phase's flags are in, unmeasured
//	GUIDON_URL      a running Guidon, instead of starting one; GUIDON_TOKEN its admin token
//
// UNLEASH_SETTLE is there to be fair: right after 1,000 flags came in,
// PostgreSQL plans with the statistics of an empty table, and the list was
// measured five times slower than a minute later. For tools/unleash-up:
//
//	UNLEASH_SETTLE='psql -q -h 127.0.0.1 -p 5243 -U postgres -d unleash -c analyze'
//
// An answer with another status than the one due ends the run with its body.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// defaultToken is the admin token that both servers are seeded with locally.
const defaultToken = "*:*.unleash-insecure-admin-api-token"

// options are the measures of a run, the same for both servers.
type options struct {
	callers int           // requests in flight
	flags   int           // flags in the project before a phase begins
	spend   time.Duration // measured time a phase
	run     string        // part of every flag name: names are never freed
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures every phase on every server, Guidon first, and prints the table.
func run(ctx context.Context) error {
	opts, phases, err := parse()
	if err != nil {
		return err
	}
	guidon, err := openGuidon(ctx)
	if err != nil {
		return err
	}
	defer guidon.close()

	sides := []*side{{name: "Guidon", open: guidon.open}}
	if url := os.Getenv("UNLEASH_URL"); url != "" {
		open := running(url, env("UNLEASH_TOKEN", defaultToken), os.Getenv("UNLEASH_SETTLE"))
		sides = append(sides, &side{name: "Unleash", open: open})
	}
	for i, p := range phases {
		for _, s := range sides {
			prefix := fmt.Sprintf("%s%s-%s-%d-", ours, opts.run, strings.ToLower(s.name), i)
			if err := s.measure(ctx, opts, p, prefix); err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, p.name, err)
			}
		}
	}
	printTable(os.Stdout, opts, phases, sides)
	if len(sides) == 2 && os.Getenv("UNLEASH_SETTLE") == "" {
		fmt.Println("\nnote: UNLEASH_SETTLE is not set; a freshly filled PostgreSQL lists about five times slower than a settled one")
	}
	printMemory(os.Stdout, guidon.peaks)
	return nil
}

// side is one of the servers that are compared.
type side struct {
	name    string
	open    func(context.Context) (*target, error) // a server for one phase
	results []result                               // one a phase, in the phases' order
}

// measure runs one phase on a server opened for it.
func (s *side) measure(ctx context.Context, opts options, p phase, prefix string) error {
	t, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer t.close()

	b := &bench{options: opts, target: t, phase: p, prefix: prefix}
	res, err := b.run(ctx)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, t.printed())
	}
	s.results = append(s.results, res)
	fmt.Fprintf(os.Stderr, "%-8s %-13s %9.0f a second (%d answers)\n", s.name, p.name, res.rate(), res.answers())
	return nil
}

// parse reads the flags. An unknown phase name is an error, not an empty run.
func parse() (options, []phase, error) {
	seconds := flag.Float64("seconds", 4, "measured time of each phase")
	callers := flag.Int("callers", 16, "parallel callers")
	flags := flag.Int("flags", 1000, "flags in the project before each phase")
	only := flag.String("only", "", "phases to run, separated by commas (default: all)")
	flag.Parse()
	opts := options{
		callers: *callers,
		flags:   *flags,
		spend:   time.Duration(*seconds * float64(time.Second)),
		run:     fmt.Sprintf("%x", time.Now().UnixMilli()),
	}
	if opts.callers < 1 || opts.flags < opts.callers || opts.spend <= 0 || flag.NArg() > 0 {
		return opts, nil, fmt.Errorf("needs -seconds above 0, -callers of 1 or more, -flags of at least as many, and no other arguments")
	}
	phases, err := choose(*only)
	return opts, phases, err
}

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
