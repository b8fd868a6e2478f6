//go:build !linux && !windows

package child

import "syscall"

// These systems cannot end a process with its parent.
func ownGroup(a *syscall.SysProcAttr) { a.Setpgid = true }
