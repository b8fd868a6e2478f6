package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"guidon/internal/unleash"
)

// The sides of a comparison, by which their figures are stored.
const (
	guidonSide    = "Guidon"
	functionsSide = "Functions"
	unleashSide   = "Unleash"
)

// results are all figures of a run: docs/performance/results.json.
type results struct {
	Date    string            `json:"date"`
	Commit  string            `json:"commit"`
	Machine machine           `json:"machine"`
	Callers int               `json:"callers"`
	Flags   int               `json:"flags"`
	Rounds  int               `json:"rounds"`  // runs of each phase
	Seconds float64           `json:"seconds"` // of each run of a phase
	Phases  []phaseFigures    `json:"phases"`
	Memory  map[string]uint64 `json:"peak_memory_bytes"`
	Starts  []startFigures    `json:"starts,omitempty"`
	Cold    *coldFigures      `json:"new_instances,omitempty"`
}

// phaseFigures are the runs of a phase by side, in the order in which they ran.
type phaseFigures struct {
	Name string              `json:"name"`
	Goal float64             `json:"goal,omitempty"`
	Runs map[string][]figure `json:"runs"`
}

// A machine is what the figures depend on.
type machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Memory   int    `json:"memory_gb"`
	System   string `json:"system"`
	Go       string `json:"go"`
	Node     string `json:"node,omitempty"`
	Postgres string `json:"postgresql,omitempty"`
	Unleash  string `json:"unleash,omitempty"`
}

// newResults describes the run.
func newResults(ctx context.Context, root string, opts options) *results {
	return &results{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: output(ctx, root, "git", "rev-parse", "--short", "HEAD"),
		Machine: machine{
			CPU: fieldOf("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Memory: memory(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		},
		Callers: opts.callers, Flags: opts.flags, Rounds: opts.rounds, Seconds: opts.spend.Seconds(),
	}
}

// describe adds the versions of Unleash and of what it runs on.
func (m *machine) describe(ctx context.Context, u *incumbent) (err error) {
	m.Node = output(ctx, "", "node", "--version")
	if m.Postgres, err = unleash.PostgresVersion(ctx); err != nil {
		return err
	}
	m.Unleash, err = u.version(ctx)
	return err
}

// fieldOf returns the value of the first line "name: value" of a file; "" if there is none.
func fieldOf(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// memory returns the memory of the machine in GB; 0 if it is not known.
func memory() int {
	var kB int
	_, _ = fmt.Sscanf(fieldOf("/proc/meminfo", "MemTotal"), "%d kB", &kB)
	return (kB + 1<<19) >> 20
}

// output returns the first line that a command prints; "" if it fails.
func output(ctx context.Context, dir, program string, args ...string) string {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, _ := cmd.Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// resultsFile is the name of the file with the figures, beside the pages.
const resultsFile = "results.json"

func readResults(folder string) (*results, error) {
	raw, err := os.ReadFile(filepath.Join(folder, resultsFile))
	if err != nil {
		return nil, err
	}
	res := &results{}
	return res, json.Unmarshal(raw, res)
}

// save writes the figures, and the pages and charts that show them.
func (r *results) save(ctx context.Context, root, folder string) error {
	raw, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, resultsFile), append(raw, '\n'), 0o644); err != nil {
		return err
	}
	if err := r.writePages(folder); err != nil {
		return err
	}
	return r.draw(ctx, root, folder)
}

// A spread is the median of the runs of a phase, with the lowest and the highest.
type spread struct{ median, low, high float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return spread{median, sorted[0], sorted[len(sorted)-1]}
}

// of returns the spread of one figure of a side.
func (p phaseFigures) of(side string, value func(figure) float64) spread {
	var values []float64
	for _, f := range p.Runs[side] {
		values = append(values, value(f))
	}
	return spreadOf(values)
}

// ratios returns how many times larger a figure of Unleash is than that of a side. Runs in the same round are compared, since
// they met the same state of the machine.
func (p phaseFigures) ratios(side string, value func(figure) float64) spread {
	var ratios []float64
	for i, theirs := range p.Runs[unleashSide] {
		if ours := p.Runs[side]; i < len(ours) && value(ours[i]) > 0 {
			ratios = append(ratios, value(theirs)/value(ours[i]))
		}
	}
	return spreadOf(ratios)
}

func own(f figure) float64        { return f.Own }
func engineTime(f figure) float64 { return f.Engine }
func rate(f figure) float64       { return f.Rate }

// print prints all tables.
func (r *results) print() {
	if len(r.Phases) > 0 {
		for _, text := range []string{r.machineText(), r.ownTable(), r.functionTable(), r.restTable(), r.memoryText()} {
			fmt.Println(text)
		}
	}
	if len(r.Starts) > 0 {
		fmt.Printf("%s\n%s\n", r.startTable(), r.coldTable())
	}
}
