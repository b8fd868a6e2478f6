package main

import (
	"os"
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// A usage is the processor time so far of the processes of a server: user and system time of all threads. The system
// counts it in hundredths of a second.
type usage struct {
	own    time.Duration // of the program that is compared
	engine time.Duration // of its database: the local DynamoDB engine, or all processes of PostgreSQL
}

func (u usage) minus(before usage) usage { return usage{u.own - before.own, u.engine - before.engine} }

func (u usage) plus(other usage) usage { return usage{u.own + other.own, u.engine + other.engine} }

// functionProcess is the name of the processes of functions that the local server runs.
const functionProcess = "bootstrap"

// engineProcess is the name of the local engine, which is a child of this program.
const engineProcess = "dynoxide"

// serverUsage is the usage of `guidon serve`, and of its engine.
func serverUsage(pid int) usage {
	u := usage{engine: engineUsage()}
	eachProcess(pid, func(p procfs.Proc, stat procfs.ProcStat) {
		if p.PID == pid {
			u.own += seconds(stat.CPUTime())
		}
	})
	return u
}

func engineUsage() (spent time.Duration) {
	eachProcess(os.Getpid(), func(_ procfs.Proc, stat procfs.ProcStat) {
		if stat.Comm == engineProcess {
			spent += seconds(stat.CPUTime())
		}
	})
	return spent
}

// functionsUsage is the usage of the functions that `guidon serve` runs as processes. Its own process, which does the work of
// the gateway and of Lambda, is left out.
func functionsUsage(pid int) usage {
	u := usage{engine: engineUsage()}
	eachProcess(pid, func(_ procfs.Proc, stat procfs.ProcStat) {
		if stat.Comm == functionProcess {
			u.own += seconds(stat.CPUTime())
		}
	})
	return u
}

// unleashUsage is the usage of Unleash and of PostgreSQL. The time of connections that PostgreSQL has closed is part of what
// the system counts for its first process.
func unleashUsage(unleash, postgres int) usage {
	var u usage
	eachProcess(unleash, func(p procfs.Proc, stat procfs.ProcStat) {
		if p.PID == unleash {
			u.own = seconds(stat.CPUTime())
		}
	})
	eachProcess(postgres, func(p procfs.Proc, stat procfs.ProcStat) {
		u.engine += seconds(stat.CPUTime())
		if p.PID == postgres {
			u.engine += seconds(float64(stat.CUTime+stat.CSTime) / ticks)
		}
	})
	return u
}

// ticks is the number of the system's units of processor time in a second, on Linux.
const ticks = 100

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// eachProcess calls do with a process and its children, where the system has /proc.
func eachProcess(pid int, do func(p procfs.Proc, stat procfs.ProcStat)) {
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && slices.Contains([]int{p.PID, stat.PPID}, pid) {
			do(p, stat)
		}
	}
}

// server is the name of Guidon's own process.
const server = "guidon serve"

// notePeaks records the highest memory use so far of a server and of its engine.
func notePeaks(peaks map[string]uint64, pid int) {
	note := func(name string, p procfs.Proc) {
		if status, err := p.NewStatus(); err == nil {
			peaks[name] = max(peaks[name], status.VmHWM)
		}
	}
	eachProcess(pid, func(p procfs.Proc, _ procfs.ProcStat) {
		if p.PID == pid {
			note(server, p)
		}
	})
	eachProcess(os.Getpid(), func(p procfs.Proc, stat procfs.ProcStat) {
		if stat.Comm == engineProcess {
			note("its "+engineProcess, p)
		}
	})
}
