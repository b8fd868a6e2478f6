package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"guidon/internal/child"
)

// How long something may take to start, which may have to be fetched first, and to end.
const (
	startTimeout = 3 * time.Minute
	endTimeout   = 20 * time.Second
)

// A process is one that was started here.
type process struct {
	name  string
	cmd   *exec.Cmd
	said  child.Output
	ended chan struct{}
}

// start starts a process, which is ended when all is over. It is in a group of its own, so that a Ctrl-C at the terminal
// reaches this program alone, which then ends the others in their order.
func (s *stage) start(name string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	cmd.WaitDelay = endTimeout // for whatever holds its output
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in its state
		close(p.ended)
	}()
	s.atEnd(func() { p.end(syscall.SIGINT) })
	return p, nil
}

// end ends a process, by force if it does not listen, and waits for that.
func (p *process) end(by syscall.Signal) {
	_ = p.cmd.Process.Signal(by) // fails when it has ended
	select {
	case <-p.ended:
		return
	case <-time.After(endTimeout):
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// await returns once ready says so.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended at once:\n%s", p.name, p.said.End())
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w\n%s", p.name, err, p.said.End())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// freePort is one that nobody listens on, none of those that systems give to outgoing connections.
func freePort() (string, error) {
	for range 100 {
		port := strconv.Itoa(20000 + rand.IntN(10000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", fmt.Errorf("no free port in 100 tries")
}
