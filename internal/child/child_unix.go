//go:build !windows

package child

import (
	"os"
	"syscall"
)

func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
