//go:build !windows

package stage

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"guidon/internal/child"
)

const (
	region       = "eu-central-1"   // of the emulator
	startTimeout = 2 * time.Minute  // until it serves
	endTimeout   = 30 * time.Second // until it has ended
)

// An Emulator is a running MiniStack, an emulator of AWS, with its data in memory. It enforces the policies of roles, and runs the functions as
// its own child processes.
type Emulator struct {
	*child.Process
	Endpoint string // the address of every AWS service
}

// startEmulator runs the program of MiniStack on a port of 127.0.0.1. The folder is for its temporary files.
func startEmulator(ctx context.Context, program, dir, port string) (*Emulator, error) {
	e := &Emulator{Endpoint: "http://127.0.0.1:" + port}
	cmd := exec.Command(program)
	cmd.Dir = dir
	// The functions inherit these variables, so they contain nothing of the developer's environment.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir,
		"GATEWAY_PORT=" + port,
		"BIND_HOST=127.0.0.1",
		"MINISTACK_HOST=127.0.0.1",       // in the address that custom resources answer to
		"AWS_ENDPOINT_URL=" + e.Endpoint, // for the functions
		"MINISTACK_REGION=" + region,
		"AUTH=true",                            // enforce IAM policies
		"LAMBDA_EXECUTOR=local",                // run functions as processes, without Docker
		"IOT_MTLS_ENABLED=0", "SFTP_ENABLED=0", // no other listeners
	}
	var err error
	if e.Process, err = child.Start(cmd); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := e.Await(ctx, child.Serves(e.Endpoint+"/_ministack/ready", http.StatusOK)); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// Stop ends the emulator and every function that it runs. The functions are in the emulator's process group.
func (e *Emulator) Stop() error {
	e.Process.Stop(syscall.SIGTERM, endTimeout)
	if err := syscall.Kill(-e.PID(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
