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

// endTimeout is how long a server may take to end. It is long because of busy machines.
const endTimeout = 30 * time.Second

// A process is a server that was started, whether it serves or not.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr child.Output
	ended          chan struct{} // closed once it has ended
}

// launch starts the server with only the settings in env, such as "PORT=4242". A failing test shows its output.
func launch(t *testing.T, env ...string) *process {
	t.Helper()
	cmd := exec.Command(binary, "serve")
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), env...)
	return follow(t, cmd, env)
}

// follow starts a server with a command and ends it with the test. The settings are for the log.
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
			t.Logf("the server with %s printed:\n%s%s", strings.Join(settings, " "), p.stdout.End(), p.stderr.End())
		}
	})
	return p
}

// isSetting reports whether a variable is a setting of the server, so that the developer's own settings do not affect
// the tests. ENGINE and GUIDON_LOCAL do: they select the engine and its folder.
func isSetting(variable string) bool {
	for _, prefix := range []string{"HOST=", "PORT=", "DATA_DIR=", "TOKEN_KEY_FILE=", "TABLE_NAME=", "AUTH_TYPE=", "LOG_LEVEL=", "LIMITS=", "INIT_", "AWS_",
		"CORS_ORIGINS=", "FRONTEND_ORIGINS=", "CLIENT_MAX_AGE=", "PUBLIC_URL=", "PRINT_SECRETS=", "SESSION_HOURS=", "OIDC_", "WEBHOOK_PRIVATE_NETWORKS="} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}

// wait waits for the end of a process and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(endTimeout):
		t.Fatalf("the server has not ended after %s", endTimeout)
	}
	return p.cmd.ProcessState.ExitCode()
}

// signal sends a signal to the server only, which must be running.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// refuses runs a server that must not start: it prints one line with all the words to stderr, and exits with
// the code.
func refuses(t *testing.T, code int, words []string, env ...string) *process {
	t.Helper()
	p := launch(t, env...)
	if got := p.wait(t); got != code {
		t.Errorf("exit code is %d, want %d", got, code)
	}
	got := strings.TrimSpace(p.stderr.String())
	for _, want := range append(words, "guidon: ") {
		if !strings.Contains(got, want) {
			t.Errorf("it printed %q, want it to contain %q", got, want)
		}
	}
	if strings.Contains(got, "\n") || p.stdout.String() != "" {
		t.Errorf("it printed\n%s\nto stderr and\n%s\nto stdout, want one line on stderr", got, p.stdout.String())
	}
	return p
}
