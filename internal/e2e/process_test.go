package e2e

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/internal/child"
)

// endTimeout is how long a gateway may take to end. It is far more than any needs, for busy machines.
const endTimeout = 30 * time.Second

// A process is a gateway that was launched, whether it serves or not.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr child.Output
	ended          chan struct{} // closed once it has ended
}

// launch runs the gateway with the settings of env, such as "PORT=4242", and no others. A test that fails shows what
// it printed.
func launch(t *testing.T, env ...string) *process {
	t.Helper()
	cmd := exec.Command(binary, "serve")
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), env...)
	return follow(t, cmd, env)
}

// follow starts a gateway by any command, with those settings among others, and looks after it.
func follow(t *testing.T, cmd *exec.Cmd, settings []string) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // fails when it has ended, as it should have
		<-p.ended
		if t.Failed() {
			t.Logf("the gateway with %s printed:\n%s%s", strings.Join(settings, " "), p.stdout.End(), p.stderr.End())
		}
	})
	return p
}

// isSetting tells whether a variable of the environment is one that the gateway reads, so that the developer's own
// settings do not reach the tests. ENGINE and GUIDON_LOCAL stay: they say which engine, and where it is.
func isSetting(variable string) bool {
	for _, prefix := range []string{"PORT=", "DATA_DIR=", "FUNCTIONS=", "TOKEN_KEY_FILE=", "TABLE_NAME=", "AUTH_TYPE=", "LOG_LEVEL=", "LIMIT_", "INIT_", "AWS_"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}

// wait gives the exit code of a process that is to end by itself or was told to.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(endTimeout):
		t.Fatalf("the gateway has not ended after %s", endTimeout)
	}
	return p.cmd.ProcessState.ExitCode()
}

// signal sends a signal to the gateway alone, which must run.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// refuses runs a gateway that must not start: it says why on stderr, in one line that has all the words, and exits 1.
func refuses(t *testing.T, words []string, env ...string) *process {
	t.Helper()
	p := launch(t, env...)
	if got := p.wait(t); got != 1 {
		t.Errorf("exit code is %d, want 1", got)
	}
	got := strings.TrimSpace(p.stderr.String())
	for _, want := range append(words, "guidon: ") {
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, want it to mention %q", got, want)
		}
	}
	if strings.Contains(got, "\n") || p.stdout.String() != "" {
		t.Errorf("it says\n%s\nand prints\n%s\nwant one line on stderr", got, p.stdout.String())
	}
	return p
}
