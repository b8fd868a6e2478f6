// Command bench measures the throughput and latency of Guidon over HTTP: `make bench`. With UNLEASH_URL, it sends the same
// requests to a running Unleash in the same run and prints the results side by side.
//
// A run is a list of phases, one for each operation (phases.go), and then new instances of the functions for applications over
// 10,000 flags (cold.go). Each phase starts with a project of 1,000 flags. For Guidon it also starts a server with an empty data
// folder, because the local engine slows down as recent transactions pile up, and a phase must not pay for earlier ones; phases
// of applications change nothing and share a server. The servers take turns phase by phase, so that both meet the same state of the machine. A response with an unexpected status ends
// the run.
//
//	go run ./internal/bench [-seconds 4] [-callers 16] [-flags 1000] [-rounds 3] [-cold 10000] [-only "create,read one"]
//
//	UNLEASH_URL     an Unleash to compare with; UNLEASH_TOKEN is its admin token
//	UNLEASH_PIDS    the ids of its processes and of PostgreSQL's, separated by commas, to print the processor time that they use
//	UNLEASH_SETTLE  a shell command to run, unmeasured, after the flags of a phase were created
//	GUIDON_URL      a running Guidon to measure instead of starting one; GUIDON_TOKEN is its admin token
//
// UNLEASH_SETTLE makes the comparison fair. Right after 1,000 flags were created, PostgreSQL plans with the statistics of an empty
// table, and listing was five times slower than a minute later:
//
//	UNLEASH_SETTLE='psql -q -h 127.0.0.1 -p 5243 -U postgres -d unleash -c analyze'
//
// A load generator such as vegeta is not used: it sends at a constant rate, while these phases have a fixed number of callers and
// undo their changes between passes with the clock stopped.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// defaultToken is the admin token of both servers when they run locally.
const defaultToken = "*:*.unleash-insecure-admin-api-token"

type options struct {
	callers int           // concurrent requests
	flags   int           // in the project at the start of a phase
	spend   time.Duration // measured time of a phase
	rounds  int           // how often the phases of applications run
	run     string        // part of every flag name, because names are never free again
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

func run(ctx context.Context) error {
	opts, phases, coldFlags, err := parse()
	if err != nil {
		return err
	}
	guidon, err := newGuidon(ctx)
	if err != nil {
		return err
	}
	defer guidon.close()
	sides := []*side{{name: "Guidon", open: guidon.open}}
	settle := os.Getenv("UNLEASH_SETTLE")
	if url := os.Getenv("UNLEASH_URL"); url != "" {
		pids, err := pidsOf(os.Getenv("UNLEASH_PIDS"))
		if err != nil {
			return err
		}
		sides = append(sides, &side{name: "Unleash", open: running(url, cmp.Or(os.Getenv("UNLEASH_TOKEN"), defaultToken), settle, pids)})
	}
	if err := measureAll(ctx, opts, phases, sides); err != nil {
		return err
	}
	if len(phases) > 0 {
		report(opts, phases, sides, settle, guidon.peaks)
	}
	if coldFlags > 0 && guidon.url == "" {
		if err := measureStarts(ctx, guidon, os.Stdout); err != nil {
			return err
		}
		return measureCold(ctx, guidon, coldFlags, os.Stdout)
	}
	return nil
}

func report(opts options, phases []phase, sides []*side, settle string, peaks map[string]uint64) {
	printTable(os.Stdout, opts, phases, sides)
	if len(sides) == 2 && settle == "" {
		fmt.Println("\nnote: UNLEASH_SETTLE is not set; PostgreSQL lists about five times slower right after the flags were created")
	}
	printMemory(os.Stdout, peaks)
}

// measureAll runs the phases, the servers in turn. It runs those of applications last, several times: they change nothing, so
// they share a server and its flags.
func measureAll(ctx context.Context, opts options, phases []phase, sides []*side) error {
	for round := range opts.rounds + 1 {
		for i, p := range phases {
			if (p.application == "") != (round == 0) {
				continue
			}
			for _, s := range sides {
				prefix := fmt.Sprintf("%s%s-%s-%d-", ours, opts.run, strings.ToLower(s.name), i)
				if err := s.measure(ctx, opts, i, p, prefix); err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, p.name, err)
				}
			}
		}
	}
	for _, s := range sides {
		if s.shared == nil {
			continue
		}
		err := s.shared.cleanUp(ctx)
		s.shared.target.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// A side is one of the servers that are compared.
type side struct {
	name    string
	open    func(context.Context) (*target, error) // a server for one phase
	results map[int]*result                        // by the index of the phase
	shared  *bench                                 // prepared for the phases of applications
}

// measure runs one phase.
func (s *side) measure(ctx context.Context, opts options, i int, p phase, prefix string) error {
	b := &bench{options: opts, phase: p, prefix: prefix}
	if s.shared != nil {
		b.target, b.prefix, b.names = s.shared.target, s.shared.prefix, s.shared.names
	} else {
		t, err := s.open(ctx)
		if err != nil {
			return err
		}
		b.target = t
	}
	run := b.run
	if p.application != "" {
		run = func(ctx context.Context) (result, error) {
			if s.shared == nil {
				if err := b.prepare(ctx); err != nil {
					return result{}, fmt.Errorf("preparing: %w", err)
				}
				s.shared = b
			}
			return b.measure(ctx)
		}
	}
	res, err := run(ctx)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, b.target.log())
	}
	if s.shared == nil || err != nil {
		b.target.close()
	}
	if err != nil {
		return err
	}
	if s.results == nil {
		s.results = map[int]*result{}
	}
	if s.results[i] == nil {
		s.results[i] = &result{}
	}
	s.results[i].add(res)
	fmt.Fprintf(os.Stderr, "%-8s %-14s %9.0f requests/s (%d responses; CPU %v)\n", s.name, p.name, res.rate(), len(res.times), res.cpu)
	return nil
}

func pidsOf(list string) (pids []int, err error) {
	for text := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("UNLEASH_PIDS: %w", err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func parse() (options, []phase, int, error) {
	seconds := flag.Float64("seconds", 4, "measured time of each phase")
	callers := flag.Int("callers", 16, "number of parallel callers")
	flags := flag.Int("flags", 1000, "number of flags in the project at the start of each phase")
	only := flag.String("only", "", "names of the phases to run, separated by commas (default: all); cold measures new instances only")
	coldFlags := flag.Int("cold", 10000, "number of flags for new instances")
	rounds := flag.Int("rounds", 3, "how often the phases of applications run")
	flag.Parse()
	opts := options{*callers, *flags, time.Duration(*seconds * float64(time.Second)), *rounds, fmt.Sprintf("%x", time.Now().UnixMilli())}
	if opts.callers < 1 || opts.flags < opts.callers || opts.spend <= 0 || opts.rounds < 1 || flag.NArg() > 0 {
		return opts, nil, 0, fmt.Errorf("-seconds must be above 0, -rounds and -callers at least 1, -flags at least -callers; there are no other arguments")
	}
	if *only == "cold" {
		return opts, nil, *coldFlags, nil
	}
	if *only != "" {
		*coldFlags = 0
	}
	phases, err := choose(*only)
	return opts, phases, *coldFlags, err
}
