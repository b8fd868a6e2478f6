package child

import "syscall"

func ownGroup(a *syscall.SysProcAttr) { a.Setpgid, a.Pdeathsig = true, syscall.SIGKILL }
