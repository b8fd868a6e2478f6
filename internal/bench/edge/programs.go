package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"guidon/internal/child"
)

// A program is a process that is measured.
type program struct {
	*child.Process
	url, tls string
}

func (p *program) stop() { p.Stop(syscall.SIGKILL, time.Second) }

// spent is the processor time of the process so far; resident is its memory in MB.
func (p *program) spent() time.Duration {
	stat, _ := p.proc().Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

func (p *program) resident() float64 {
	status, _ := p.proc().NewStatus()
	return float64(status.VmRSS) / (1 << 20)
}

func (p *program) proc() procfs.Proc {
	proc, err := procfs.NewProc(p.PID())
	if err != nil {
		panic(err) // the process is running
	}
	return proc
}

// startEdge starts Edge, and waits until it is ready.
func (b *bench) startEdge(env ...string) (*program, error) {
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	secure, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.edge, "offline")
	cmd.Env = append(os.Environ(), "BOOTSTRAP_FILE="+b.file, "CLIENT_TOKENS="+client, "FRONTEND_TOKENS="+frontend, "INTERFACE=127.0.0.1", "PORT="+port,
		"TLS_ENABLE=true", "TLS_SERVER_CERT="+b.cert, "TLS_SERVER_KEY="+b.key, "TLS_SERVER_PORT="+secure, "MAX_STREAMS=100000")
	cmd.Env = append(cmd.Env, env...)
	p := &program{url: "http://127.0.0.1:" + port, tls: "127.0.0.1:" + secure}
	return p, p.run(cmd, "/ready")
}

// startHello starts the handler that writes a file.
func (b *bench) startHello(file string) (*program, error) {
	port, err := child.FreePort()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-hello", file)
	cmd.Env = append(os.Environ(), "ADDRESS=127.0.0.1:"+port)
	p := &program{url: "http://127.0.0.1:" + port}
	return p, p.run(cmd, "/")
}

// run starts the process, and waits until it serves a path.
func (p *program) run(cmd *exec.Cmd, path string) (err error) {
	if p.Process, err = child.Start(cmd); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return p.Await(ctx, child.Serves(p.url+path, http.StatusOK))
}

// start measures the start with many flags.
func (b *bench) start(flags int) error {
	if err := b.write(flags, 0); err != nil {
		return err
	}
	var times []float64
	memory := 0.0
	for range 5 {
		began := time.Now()
		edge, err := b.startEdge()
		if err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		memory = max(memory, edge.resident())
		edge.stop()
	}
	slices.Sort(times)
	row(fmt.Sprintf("start from disk with %d flags", flags), "0.5 s; 300 MB", "%.2f s (%.2f to %.2f); %.0f MB", times[2], times[0], times[4], memory)
	return nil
}
