// Command bench measures what a request costs Guidon, beside a real Unleash in the same run: `make bench`. It keeps three
// figures apart: the own processor time of the program, the processor time of its database, and the throughput of the whole.
// A serverless user pays for the first; the local DynamoDB engine and PostgreSQL only stand in for a database service.
//
// A run is a list of phases, one for each operation (phases.go). Each phase runs several times, the servers in turn, so that
// all meet the same state of the machine; the pages show the median with the lowest and the highest run. There are three
// sides: `guidon serve`, `guidon serve` with the built functions as processes behind Lambda's Runtime API, whose
// processor time is what Lambda bills, and Unleash, if PostgreSQL and Node.js are installed. Each phase starts with a
// project of 1,000 flags. For Guidon it also starts a server with an empty data folder, because the local engine slows down
// as recent transactions pile up; phases that change nothing share a server. A response with an unexpected status ends
// the run.
//
// Then it measures the start-up of all functions (starts.go), and new instances of the functions for applications over 10,000
// flags (cold.go). With -out, it writes the figures, the tables of the pages and the charts into a folder.
//
//	go run ./internal/bench [-seconds 2] [-callers 8] [-flags 1000] [-rounds 3] [-cold 10000] [-only "create,read one"] [-out docs/performance]
//	go run ./internal/bench -render -out docs/performance
//	go run ./internal/bench -only scale [-sizes 100,1000,10000,100000]
//
// A load generator such as vegeta is not used: it sends at a constant rate, while these phases have a fixed number of callers and
// undo their changes between passes with the clock stopped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"guidon/internal/engine"
	"guidon/internal/unleash"
)

// defaultToken is the admin token of both servers.
const defaultToken = "*:*.unleash-insecure-admin-api-token"

type options struct {
	callers int           // concurrent requests
	flags   int           // in the project at the start of a phase
	spend   time.Duration // measured time of a run of a phase
	rounds  int           // how often each phase runs
	run     string        // part of every flag name, because names are never free again
	cold    int           // flags for new instances; 0 measures no instances and starts
	sizes   []int         // measure operations in projects with so many flags, and nothing else
	out     string        // the folder of the pages; empty to print only
	render  bool          // whether to write the pages from stored figures only
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
	opts, phases, err := parse()
	if err != nil {
		return err
	}
	if opts.render {
		return render(ctx, opts.out)
	}
	guidon, err := newGuidon(ctx)
	if err != nil {
		return err
	}
	defer guidon.close()
	if len(opts.sizes) > 0 {
		return measureScale(ctx, guidon, opts.sizes, os.Stdout)
	}
	res := newResults(ctx, guidon.root, opts)
	if err := comparePhases(ctx, opts, phases, guidon, res); err != nil {
		return err
	}
	if opts.cold > 0 {
		if res.Starts, err = measureStarts(ctx, guidon); err != nil {
			return err
		}
		if res.Cold, err = measureCold(ctx, guidon, opts.cold); err != nil {
			return err
		}
	}
	res.print()
	if opts.out == "" {
		return nil
	}
	return res.save(ctx, guidon.root, opts.out)
}

// render writes the pages and charts again, after a change of their tables.
func render(ctx context.Context, folder string) error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	res, err := readResults(folder)
	if err != nil {
		return err
	}
	return res.save(ctx, root, folder)
}

// comparePhases runs the phases on all sides.
func comparePhases(ctx context.Context, opts options, phases []phase, guidon *guidon, res *results) error {
	if len(phases) == 0 {
		return nil
	}
	sides := []*side{{name: guidonSide, open: guidon.open}, {name: functionsSide, open: guidon.openFunctions}}
	if err := unleash.Missing(); err != nil {
		fmt.Fprintf(os.Stderr, "Unleash is not measured: %v\n", err)
	} else {
		u, err := startUnleash(ctx, guidon.dir)
		if err != nil {
			return err
		}
		defer u.close()
		if err := res.Machine.describe(ctx, u); err != nil {
			return err
		}
		sides = append(sides, &side{name: unleashSide, open: u.open})
	}
	err := measureAll(ctx, opts, phases, sides)
	for i, p := range phases {
		figures := phaseFigures{Name: p.name, Goal: p.goal, Runs: map[string][]figure{}}
		for _, s := range sides {
			figures.Runs[s.name] = s.runs[i]
		}
		res.Phases = append(res.Phases, figures)
	}
	res.Memory = guidon.peaks
	return err
}

// measureAll runs the phases, the servers in turn.
func measureAll(ctx context.Context, opts options, phases []phase, sides []*side) error {
	for _, g := range []group{writes, reads, applications} {
		err := measureGroup(ctx, opts, g, phases, sides)
		for _, s := range sides {
			if s.shared != nil {
				s.shared.target.close()
				s.shared = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// measureGroup runs the phases of a group.
func measureGroup(ctx context.Context, opts options, g group, phases []phase, sides []*side) error {
	for round := range opts.rounds {
		for i, p := range phases {
			if p.group() != g {
				continue
			}
			for _, s := range sides {
				prefix := fmt.Sprintf("%s%s-%s-%d-%d-", ours, opts.run, strings.ToLower(s.name), i, round)
				if err := s.measure(ctx, opts, i, p, prefix); err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, p.name, err)
				}
			}
		}
	}
	return nil
}

// A side is one of the servers that are compared.
type side struct {
	name   string
	open   func(context.Context) (*target, error) // a server for one phase
	runs   map[int][]figure                       // by the index of the phase
	shared *bench                                 // prepared for the phases of a group that changes nothing
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
	if p.group() != writes {
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
	if s.shared == nil { // it may be prepared by now
		b.target.close()
	}
	if err != nil {
		return err
	}
	if s.runs == nil {
		s.runs = map[int][]figure{}
	}
	f := res.figure()
	s.runs[i] = append(s.runs[i], f)
	fmt.Fprintf(os.Stderr, "%-10s %-14s %7.0f responses/s, own CPU %.3f ms, database %.3f ms\n", s.name, p.name, f.Rate, f.Own, f.Engine)
	return nil
}

func parse() (options, []phase, error) {
	var opts options
	seconds := flag.Float64("seconds", 2, "measured time of each run of a phase")
	flag.IntVar(&opts.callers, "callers", 8, "number of parallel callers")
	flag.IntVar(&opts.flags, "flags", 1000, "number of flags in the project at the start of each phase")
	only := flag.String("only", "", "names of the phases to run, separated by commas (default: all); cold measures starts and new instances only, scale measures operations by the number of flags")
	flag.IntVar(&opts.cold, "cold", 10000, "number of flags for new instances")
	sizes := flag.String("sizes", scaleSizes, "numbers of flags for -only scale, separated by commas")
	flag.IntVar(&opts.rounds, "rounds", 3, "how often each phase runs")
	flag.StringVar(&opts.out, "out", "", "the `folder` of the pages to update")
	flag.BoolVar(&opts.render, "render", false, "write the pages of -out from the figures that are stored there, without measuring")
	flag.Parse()
	opts.spend, opts.run = time.Duration(*seconds*float64(time.Second)), fmt.Sprintf("%x", time.Now().UnixMilli())
	if opts.callers < 1 || opts.flags < opts.callers || opts.spend <= 0 || opts.rounds < 1 || flag.NArg() > 0 {
		return opts, nil, errors.New("-seconds must be above 0, -rounds and -callers at least 1, -flags at least -callers; there are no other arguments")
	}
	if opts.render && opts.out == "" {
		return opts, nil, errors.New("-render needs -out")
	}
	if *only != "" && opts.out != "" {
		return opts, nil, errors.New("-out needs a run of all phases, without -only")
	}
	if *only == "scale" {
		var err error
		opts.sizes, err = numbersIn(*sizes)
		return opts, nil, err
	}
	if *only == "cold" {
		return opts, nil, nil
	}
	if *only != "" {
		opts.cold = 0
	}
	phases, err := choose(*only)
	return opts, phases, err
}

// numbersIn reads numbers between commas.
func numbersIn(list string) (numbers []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sizes must be positive numbers with commas between them, not %q", list)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
