package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/prometheus/procfs"
)

const memoryTarget = 100 // MB that the server should stay below

// result is what a phase measured.
type result struct {
	took  time.Duration // without the time of undo
	times []time.Duration
	bytes int64                    // of all responses
	cpu   map[string]time.Duration // the processor time of the server's processes; empty if it is not known
}

// add adds what another run of the phase measured.
func (r *result) add(other result) {
	r.took, r.times, r.bytes = r.took+other.took, append(r.times, other.times...), r.bytes+other.bytes
	if r.cpu == nil {
		r.cpu = map[string]time.Duration{}
	}
	for name, spent := range other.cpu {
		r.cpu[name] += spent
	}
}

// cpuEach is the processor time of all processes of the server for one response.
func (r *result) cpuEach() (each time.Duration) {
	for _, spent := range r.cpu {
		each += spent / time.Duration(max(1, len(r.times)))
	}
	return each
}

// rate is in responses per second.
func (r *result) rate() float64 { return float64(len(r.times)) / r.took.Seconds() }

// percentile returns the time in milliseconds that p percent of the responses did not exceed (nearest rank).
func (r *result) percentile(p int) float64 {
	if len(r.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.times))
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
}

// printTable prints a row for each phase. With two servers, it adds the ratio of their rates.
func printTable(out io.Writer, opts options, phases []phase, sides []*side) {
	fmt.Fprintf(out, "\n%d parallel callers, %s for each phase, %d flags in the project; times in ms, CPU is the server's processor time for a response, mean response size in bytes\n\n",
		opts.callers, opts.spend, opts.flags)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "phase\t")
	for _, s := range sides {
		fmt.Fprintf(w, "%s/s\tp50\tp99\tCPU\tbytes\t", s.name)
	}
	if len(sides) == 2 {
		fmt.Fprint(w, "ratio\ttarget\t\t")
	}
	fmt.Fprintln(w)
	for i, p := range phases {
		fmt.Fprintf(w, "%s\t", p.name)
		for _, s := range sides {
			r := s.results[i]
			fmt.Fprintf(w, "%.0f\t%.2f\t%.2f\t%.2f\t%d\t", r.rate(), r.percentile(50), r.percentile(99),
				float64(r.cpuEach())/float64(time.Millisecond), r.bytes/int64(max(1, len(r.times))))
		}
		if len(sides) == 2 {
			fmt.Fprint(w, verdict(sides[0].results[i].rate()/sides[1].results[i].rate(), p.target))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
}

// verdict returns the last three cells of a row: ratio, target, and whether it was reached.
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

// server is the name of Guidon's own process; its children have "its" before theirs.
const server = "guidon serve"

// eachProcess calls do with processes and their children, where the system has /proc.
func eachProcess(pids []int, do func(p procfs.Proc, stat procfs.ProcStat)) {
	if len(pids) == 0 {
		return
	}
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && (slices.Contains(pids, p.PID) || slices.Contains(pids, stat.PPID)) {
			do(p, stat)
		}
	}
}

// notePeaks records the highest memory use so far of a process and its children.
func notePeaks(peaks map[string]uint64, pid int) {
	eachProcess([]int{pid}, func(p procfs.Proc, stat procfs.ProcStat) {
		name := server
		if p.PID != pid {
			name = "its " + stat.Comm
		}
		if status, err := p.NewStatus(); err == nil {
			peaks[name] = max(peaks[name], status.VmHWM)
		}
	})
}

// A processTime is the processor time so far of a process.
type processTime struct {
	name  string
	spent time.Duration
}

// processorTimes returns the processor time so far of processes and their children, by id.
func processorTimes(pids []int) map[int]processTime {
	times := map[int]processTime{}
	eachProcess(pids, func(p procfs.Proc, stat procfs.ProcStat) {
		times[p.PID] = processTime{stat.Comm, time.Duration(stat.CPUTime() * float64(time.Second))}
	})
	return times
}

func printMemory(out io.Writer, peaks map[string]uint64) {
	for _, name := range slices.Sorted(maps.Keys(peaks)) {
		note := ""
		if name == server {
			note = fmt.Sprintf(" (target: below %d MB)", memoryTarget)
		}
		fmt.Fprintf(out, "\npeak memory of %s: %.1f MB%s", name, float64(peaks[name])/(1<<20), note)
	}
	fmt.Fprintln(out)
}
