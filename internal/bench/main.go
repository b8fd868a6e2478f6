// Command bench measures what a request costs Guidon, beside a real Unleash in the same run: `make bench`. It prints tables:
// the own processor time of the programs, which is what a serverless user pays for, the throughput of the whole with its
// database, the time that Lambda bills (billed.go), and the start-up of all functions.
//
// There are three servers: `guidon serve`, the built functions as processes behind Lambda's Runtime API (internal/gateway),
// whose processor time is what Lambda bills, and Unleash, if PostgreSQL and Node.js are installed. A round starts each
// Guidon with an empty table, creates 1,000 flags on all servers, and runs one phase for each operation (phases.go), the
// servers in turn, so that all meet the same state of the machine. The tables show the median of the rounds. A response with
// an unexpected status ends the run.
//
// vegeta and similar load generators send at a constant rate. Here a fixed number of callers wait for their responses.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"guidon/internal/engine"
	"guidon/internal/unleash"
)

// adminToken is the admin token of all servers.
const adminToken = "*:*.unleash-insecure-admin-api-token"

type options struct {
	callers, flags, rounds int
	spend                  time.Duration // measured time of each phase
	phases                 []phase
	billed                 int // events of each phase, see measureBilled; 0 for none
	starts                 int // of each function; 0 for none
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
	opts, err := parse()
	if err != nil {
		return err
	}
	programs, err := build(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(programs.dir) }()
	fmt.Printf("%s, %s/%s, %d cores, %s; %d callers, %d flags, %d rounds of %s\n\n", time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), runtime.Version(), opts.callers, opts.flags, opts.rounds, opts.spend)
	if err := comparePhases(ctx, opts, programs); err != nil {
		return err
	}
	if err := measureBilled(ctx, opts, programs); err != nil {
		return err
	}
	return measureStarts(ctx, programs, opts.starts)
}

func parse() (options, error) {
	var opts options
	flag.DurationVar(&opts.spend, "time", 2*time.Second, "measured time of each phase")
	flag.IntVar(&opts.callers, "callers", 8, "number of parallel callers")
	flag.IntVar(&opts.flags, "flags", 1000, "number of flags in the project")
	flag.IntVar(&opts.rounds, "rounds", 3, "how often each phase runs")
	flag.IntVar(&opts.billed, "billed", 400, "how many events of each phase are sent to functions with a store that takes 4 ms a call")
	flag.IntVar(&opts.starts, "starts", 21, "how often each function starts")
	only := flag.String("only", "", "names of the phases to run, separated by commas (default: all)")
	flag.Parse()
	if opts.callers < 1 || opts.flags < 1 || opts.flags%opts.callers != 0 || opts.spend <= 0 || opts.rounds < 0 || flag.NArg() > 0 {
		return opts, errors.New("-time must be above 0, -callers at least 1, -flags a multiple of -callers; there are no other arguments")
	}
	opts.phases = phases
	if *only != "" {
		names := strings.Split(*only, ",")
		opts.phases = slices.DeleteFunc(slices.Clone(phases), func(p phase) bool { return !slices.Contains(names, p.name) })
		if len(opts.phases) != len(names) {
			return opts, fmt.Errorf("-only %s: some of these phases are unknown", *only)
		}
	}
	return opts, nil
}

// comparePhases runs all rounds and prints the tables.
func comparePhases(ctx context.Context, opts options, programs *programs) error {
	// A new Unleash would still be compiling its JavaScript while it is measured, so one runs during all rounds.
	var other *server
	if err := unleash.Missing(); err != nil {
		fmt.Fprintf(os.Stderr, "Unleash is not measured: %v\n", err)
	} else if other, err = startUnleash(ctx, programs.dir); err != nil {
		return err
	} else {
		defer other.stop()
	}
	measured := map[string][]figure{} // by server and phase
	for round := range opts.rounds {
		if err := compareOnce(ctx, opts, programs, other, round, measured); err != nil {
			return err
		}
	}
	if opts.rounds > 0 {
		return printPhases(os.Stdout, opts.phases, measured)
	}
	return nil
}

// compareOnce runs one round.
func compareOnce(ctx context.Context, opts options, programs *programs, other *server, round int, measured map[string][]figure) error {
	var servers []*server
	for _, functions := range []bool{false, true} {
		s, err := programs.startGuidon(ctx, functions)
		if err != nil {
			return err
		}
		defer s.stop()
		servers = append(servers, s)
	}
	if other != nil {
		servers = append(servers, other)
	}
	prefix := fmt.Sprintf("bench-%x-%d-", time.Now().UnixMilli(), round)
	loads := make([]*load, len(servers))
	for i, s := range servers {
		loads[i] = &load{options: opts, server: s, prefix: prefix}
		if err := loads[i].prepare(ctx); err != nil {
			return fmt.Errorf("%s, preparing: %w\n%s", s.name, err, s.log())
		}
	}
	for _, p := range opts.phases {
		for _, l := range loads {
			f, err := l.measure(ctx, p)
			if err != nil {
				return fmt.Errorf("%s, %s: %w\n%s", l.server.name, p.name, err, l.server.log())
			}
			fmt.Fprintf(os.Stderr, "%-10s %-14s %7.0f responses/s, own CPU %.3f ms\n", l.server.name, p.name, f.rate, f.own)
			measured[l.server.name+p.name] = append(measured[l.server.name+p.name], f)
		}
	}
	if other != nil {
		return loads[len(loads)-1].cleanUp(ctx)
	}
	return nil
}

// programs are the built guidon, all functions, and the function that does nothing (internal/bench/hello).
type programs struct {
	root, dir string
	names     []string // of the functions
}

const hello = "hello"

// build builds the programs, the functions as `make build` does.
func build(ctx context.Context) (*programs, error) {
	root, err := engine.Root()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "guidon-bench-")
	if err != nil {
		return nil, err
	}
	p := &programs{root: root, dir: dir}
	fmt.Fprintln(os.Stderr, "building the programs")
	err = errors.Join(p.build(ctx, dir+"/", "./cmd/guidon", "./internal/gateway/run"),
		p.build(ctx, dir+"/built/", "./functions/...", "./internal/bench/hello"))
	built, readErr := os.ReadDir(filepath.Join(dir, "built"))
	if err := errors.Join(err, readErr); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	for _, program := range built { // into the layout that gateway.Options needs
		name := program.Name()
		p.names = append(p.names, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(p.function(name)), 0o700), os.Rename(filepath.Join(dir, "built", name), p.function(name)))
	}
	return p, err
}

func (p *programs) build(ctx context.Context, out string, packages ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", out}, packages...)...)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %q: %w\n%s", packages, err, text)
	}
	return nil
}

// function is the path of a built function.
func (p *programs) function(name string) string {
	return filepath.Join(p.dir, "functions", name, functionProcess)
}

// printPhases prints the medians. Ratios compare the same round, whose runs met the same state of the machine.
func printPhases(out *os.File, phases []phase, measured map[string][]figure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(w, "Own CPU, ms\tGuidon\tFunction\tUnleash\tUnleash/Guidon\tUnleash/Function\t")
	for _, p := range phases {
		ours, functions, theirs := measured[guidonName+p.name], measured[functionsName+p.name], measured[unleashName+p.name]
		ratio := func(of []figure) float64 {
			var ratios []float64
			for i, f := range theirs {
				ratios = append(ratios, f.own/of[i].own)
			}
			return median(ratios)
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.1f\t%.1f\t\n", p.name, medianOf(ours, own), medianOf(functions, own), medianOf(theirs, own), ratio(ours), ratio(functions))
	}
	fmt.Fprintln(w, "\t\t\t\t\t\t\nResponses a second\tGuidon\tUnleash\tGuidon p99, ms\tUnleash p99, ms\tGuidon bytes\tUnleash bytes\t")
	for _, p := range phases {
		ours, theirs := measured[guidonName+p.name], measured[unleashName+p.name]
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t\n", p.name, medianOf(ours, rate), medianOf(theirs, rate), medianOf(ours, p99), medianOf(theirs, p99),
			medianOf(ours, bytes), medianOf(theirs, bytes))
	}
	return w.Flush()
}

// A figure is what a phase measured on one server in one round, for one response.
type figure struct{ own, rate, p99, bytes float64 }

func own(f figure) float64   { return f.own }
func rate(f figure) float64  { return f.rate }
func p99(f figure) float64   { return f.p99 }
func bytes(f figure) float64 { return f.bytes }

func medianOf(figures []figure, of func(figure) float64) float64 {
	var values []float64
	for _, f := range figures {
		values = append(values, of(f))
	}
	return median(values)
}

// median returns the middle value, the lower one of two; 0 if there is none.
func median(values []float64) float64 { return percentile(values, 50) }

// percentile returns the value that p percent of the values do not exceed (nearest rank); 0 if there is none.
func percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}
