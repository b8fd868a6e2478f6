package ministack

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"guidon/internal/printed"
)

// How long the emulator may take to serve, and to end.
const (
	startTimeout = time.Minute
	endTimeout   = 10 * time.Second
)

// Region is where everything is deployed.
const Region = "eu-central-1"

// An Emulator is a MiniStack that serves, with everything in memory. It does what the policies of the roles allow, and
// runs the functions as processes of its own.
type Emulator struct {
	Endpoint string // the address of every service of AWS
	Printed  printed.Output
	cmd      *exec.Cmd
	ended    chan struct{} // closed once it has ended
}

// Start runs the program of MiniStack on a free port of 127.0.0.1. The folder is for its temporary files.
func Start(program, dir, port string) (*Emulator, error) {
	e := &Emulator{Endpoint: "http://127.0.0.1:" + port, ended: make(chan struct{})}
	e.cmd = exec.Command(program)
	e.cmd.Dir = dir
	// The functions inherit these variables, so nothing of the developer's environment is among them.
	e.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir,
		"GATEWAY_PORT=" + port,
		"BIND_HOST=127.0.0.1",
		"MINISTACK_HOST=127.0.0.1",       // in the address that a custom resource answers to
		"AWS_ENDPOINT_URL=" + e.Endpoint, // for the functions
		"MINISTACK_REGION=" + Region,
		"AUTH=true",                            // the policies of the roles decide
		"LAMBDA_EXECUTOR=local",                // functions are processes, without Docker
		"IOT_MTLS_ENABLED=0", "SFTP_ENABLED=0", // no other listeners
	}
	e.cmd.Stdout, e.cmd.Stderr = &e.Printed, &e.Printed
	// A process group of its own, so that the functions can be ended with it. If this process is killed, the kernel ends
	// the emulator, and the functions end because their Runtime API is gone.
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = e.cmd.Wait() // Stop asks only whether it has ended
		close(e.ended)
	}()
	if err := e.awaitReady(); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

func (e *Emulator) awaitReady() error {
	late := time.After(startTimeout)
	for {
		if resp, err := http.Get(e.Endpoint + "/_ministack/ready"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-e.ended:
			return fmt.Errorf("MiniStack ended at once; it printed\n%s", e.Printed.End())
		case <-late:
			return fmt.Errorf("MiniStack does not serve after %s; it printed\n%s", startTimeout, e.Printed.End())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop ends the emulator and every function that it runs.
func (e *Emulator) Stop() error {
	_ = e.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
	select {
	case <-e.ended:
	case <-time.After(endTimeout):
	}
	group := e.cmd.Process.Pid
	if err := syscall.Kill(-group, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	<-e.ended
	for deadline := time.Now().Add(endTimeout); ; time.Sleep(10 * time.Millisecond) {
		left := groupMembers(group)
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the processes %v of MiniStack have not ended", left)
		}
	}
}

// groupMembers are the processes of a group that have not ended. Those that have ended and wait for their parent do not
// count: the functions' new parent is the system's own.
func groupMembers(group int) []int {
	var members []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		// PID (name) state parent group …; the name may hold anything
		var state string
		var parent, itsGroup int
		after := raw[bytes.LastIndexByte(raw, ')')+1:]
		if _, err := fmt.Sscan(string(after), &state, &parent, &itsGroup); err != nil || itsGroup != group || state == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		members = append(members, pid)
	}
	return members
}
