package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// memoryTarget is what the gateway should stay under, in kB.
const memoryTarget = 100 << 10

// result is what a phase measured.
type result struct {
	took  time.Duration // with the clock stopped during undo
	times []time.Duration
	bytes int64 // of all answers together
}

func (r *result) add(samples []sample) {
	for _, s := range samples {
		r.times = append(r.times, s.took)
		r.bytes += s.bytes
	}
}

func (r *result) answers() int { return len(r.times) }

// rate is in answers a second.
func (r *result) rate() float64 { return float64(r.answers()) / r.took.Seconds() }

// size is the mean answer in bytes.
func (r *result) size() int64 { return r.bytes / int64(max(1, r.answers())) }

// percentile gives the smallest time that p percent of the answers did not
// exceed (nearest rank), in milliseconds.
func (r *result) percentile(p int) float64 {
	if len(r.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.times))
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
}

// printTable has one row a phase: each server's figures, then, with two
// servers, how many times the second one's rate the first one reached.
func printTable(out io.Writer, opts options, phases []phase, sides []*side) {
	fmt.Fprintf(out, "\n%d parallel callers, %s a phase, %d flags in the project before each; times in ms, sizes in bytes an answer\n\n",
		opts.callers, opts.spend, opts.flags)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "phase\t")
	for _, s := range sides {
		fmt.Fprintf(w, "%s/s\tp50\tp99\tbytes\t", s.name)
	}
	if len(sides) == 2 {
		fmt.Fprint(w, "ratio\ttarget\t\t")
	}
	fmt.Fprintln(w)
	for i, p := range phases {
		fmt.Fprintf(w, "%s\t", p.name)
		for _, s := range sides {
			r := &s.results[i]
			fmt.Fprintf(w, "%.0f\t%.2f\t%.2f\t%d\t", r.rate(), r.percentile(50), r.percentile(99), r.size())
		}
		if len(sides) == 2 {
			fmt.Fprint(w, verdict(sides[0].results[i].rate()/sides[1].results[i].rate(), p.target))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // as with every print here: a lost table shows itself
}

// verdict is the last three cells of a row: ratio, target, reached or not.
func verdict(ratio, target float64) string {
	switch {
	case target == 0:
		return fmt.Sprintf("%.1f×\t\t\t", ratio)
	case ratio < target:
		return fmt.Sprintf("%.1f×\t%.0f×\tmissed\t", ratio, target)
	default:
		return fmt.Sprintf("%.1f×\t%.0f×\treached\t", ratio, target)
	}
}

// printMemory prints the highest peak over all phases of the gateway and of
// each process it started. There are none where the server was already
// running, or where the system does not tell.
func printMemory(out io.Writer, peaks []peak) {
	if len(peaks) == 0 {
		return
	}
	fmt.Fprintln(out)
	for i, p := range peaks {
		note := " (a child process)"
		if i == 0 {
			note = fmt.Sprintf(", to stay under %d MB", memoryTarget>>10)
		}
		fmt.Fprintf(out, "peak memory of %s: %.1f MB%s\n", p.process, float64(p.kB)/1024, note)
	}
}
