package main

import (
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

// serverUsage is the usage of `guidon serve`: its own process, and its children.
func serverUsage(pid int) usage {
	var u usage
	eachProcess(pid, func(p procfs.Proc, stat procfs.ProcStat) {
		if p.PID == pid {
			u.own += seconds(stat.CPUTime())
		} else {
			u.engine += seconds(stat.CPUTime())
		}
	})
	return u
}

// functionsUsage is the usage of the functions that `guidon serve` runs as processes. Its own process, which does the work of
// the gateway and of Lambda, is left out.
func functionsUsage(pid int) usage {
	var u usage
	eachProcess(pid, func(p procfs.Proc, stat procfs.ProcStat) {
		switch {
		case p.PID == pid:
		case stat.Comm == functionProcess:
			u.own += seconds(stat.CPUTime())
		default:
			u.engine += seconds(stat.CPUTime())
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

// server is the name of Guidon's own process; its children have "its" before theirs.
const server = "guidon serve"

// notePeaks records the highest memory use so far of a process and its children.
func notePeaks(peaks map[string]uint64, pid int) {
	eachProcess(pid, func(p procfs.Proc, stat procfs.ProcStat) {
		name := server
		if p.PID != pid {
			name = "its " + stat.Comm
		}
		if status, err := p.NewStatus(); err == nil {
			peaks[name] = max(peaks[name], status.VmHWM)
		}
	})
}
