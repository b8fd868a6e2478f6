//go:build !linux && !windows

package engine

import "syscall"

// detached keeps the engine out of the terminal's signals. These systems do not end a child with its parent: the lock
// file does (see takeLock).
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
