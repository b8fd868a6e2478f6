//go:build !windows

package engine

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

func interrupt(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// commandLine is what a process was started as, with its arguments; empty when there is none of that id.
func commandLine(pid int) string {
	if raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil {
		return strings.TrimSpace(strings.ReplaceAll(string(raw), "\x00", " "))
	}
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// showsArguments tells whether commandLine holds the arguments too.
const showsArguments = true

// lockFile takes the lock that goes with the open file: the system gives it free when this process ends, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
