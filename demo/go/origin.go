package main

import (
	"errors"
	"sync"
	"syscall"
)

// An origin is the process of Guidon, which can be paused: then it answers nobody.
type origin struct {
	pid int // 0 for none

	mu      sync.Mutex
	stopped bool
}

func (o *origin) state() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.pid == 0:
		return ""
	case o.stopped:
		return "stopped"
	}
	return "running"
}

// toggle pauses Guidon, or lets it go on.
func (o *origin) toggle() error {
	if o.pid == 0 {
		return errors.New("this dashboard cannot pause Guidon")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	signal := syscall.SIGSTOP
	if o.stopped {
		signal = syscall.SIGCONT
	}
	err := syscall.Kill(o.pid, signal)
	if err == nil {
		o.stopped = !o.stopped
	}
	return err
}

// resume lets a paused Guidon go on, so that it can end.
func (o *origin) resume() {
	if o.state() == "stopped" {
		_ = o.toggle() // fails if Guidon has ended
	}
}
