package engine

import "syscall"

// detached keeps the engine out of the terminal's signals and has the kernel end it when its parent's thread ends.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
