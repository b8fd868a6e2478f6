package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// peak is the most resident memory that a process ever had, in kB.
type peak struct {
	process string
	kB      int
}

// peaksOf reads the peak of a process, under the given name, and of its
// children, under their own. It gives nothing where there is no /proc.
func peaksOf(pid int, name string) []peak {
	own := procStatus(strconv.Itoa(pid))
	if own == nil {
		return nil
	}
	peaks := []peak{{name, kilobytes(own)}}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		child := procStatus(filepath.Base(dir))
		if child["PPid"] == strconv.Itoa(pid) {
			peaks = append(peaks, peak{fmt.Sprintf("its %s", child["Name"]), kilobytes(child)})
		}
	}
	return peaks
}

// procStatus reads /proc/<pid>/status; nil when the process is gone.
func procStatus(pid string) map[string]string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return nil
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	return fields
}

func kilobytes(status map[string]string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(status["VmHWM"], " kB"))
	return n
}

// highest joins two lists, keeping the larger peak of each process.
func highest(a, b []peak) []peak {
	for _, p := range b {
		known := false
		for i := range a {
			if a[i].process == p.process {
				a[i].kB, known = max(a[i].kB, p.kB), true
			}
		}
		if !known {
			a = append(a, p)
		}
	}
	return a
}
