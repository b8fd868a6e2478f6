package child

import (
	"os"
	"syscall"
)

func ownGroup(a *syscall.SysProcAttr) { a.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP }

func kill(p *os.Process) { _ = p.Kill() }
