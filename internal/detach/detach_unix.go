//go:build !windows

// Package detach starts processes that the terminal's Ctrl-C does not reach: whoever started them ends them, when it is
// time.
package detach

import (
	"os"
	"syscall"
)

// Attributes are for exec.Cmd's SysProcAttr.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Interrupt asks a process to end, as Ctrl-C would.
func Interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
