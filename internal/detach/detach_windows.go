// Package detach starts processes that the console's Ctrl-C does not reach: whoever started them ends them, when it is
// time.
package detach

import (
	"os"
	"syscall"
)

// Attributes are for exec.Cmd's SysProcAttr.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Interrupt ends a process: Windows cannot ask one of another group.
func Interrupt(p *os.Process) error { return p.Kill() }
