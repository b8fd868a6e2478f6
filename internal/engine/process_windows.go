package engine

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// detached keeps the engine out of the console's Ctrl-C.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt is not to be had here; the caller kills instead.
func interrupt(*os.Process) error { return fmt.Errorf("no such signal on Windows") }

// commandLine is what a process was started as, as far as Windows tells it in one call: the name of its program.
func commandLine(pid int) string {
	out, err := exec.Command("tasklist", "/FI", "PID eq "+strconv.Itoa(pid), "/FO", "CSV", "/NH").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// showsArguments tells whether commandLine holds the arguments too.
const showsArguments = false

// lockFile does nothing: Windows has no lock that the standard library can take. A second gateway over the same data
// ends the first one's engine instead of being refused.
func lockFile(*os.File) error { return nil }
