// Command guidon runs Guidon on this machine, and works with the flags and tokens of any Guidon or Unleash. `guidon help`
// lists its commands; docs/reference/command.md has the same text.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"guidon/internal/adminapi"
	"guidon/pkg/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, stop, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes; exitCodes in root.go documents them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitUnavailable = 4
	exitInterrupted = 130 // as shells have it: 128 and the number of SIGINT
)

// run executes a command line and returns the exit code. It calls stopping when the first Ctrl-C has been handled, so
// that a second one ends the process at once.
func run(ctx context.Context, stopping func(), args []string, getenv func(string) string, in io.Reader, out, messages io.Writer) int {
	a := &app{stopping: stopping, getenv: getenv, in: in, out: out, messages: messages}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started { // cobra refused the command line
		err = &usageError{err}
	}
	code := exitCode(ctx, err)
	switch {
	case code == exitOK, errors.Is(err, errReported):
	case code == exitInterrupted:
		_, _ = fmt.Fprintln(messages, "guidon: interrupted; run the same command again to continue")
	case code == exitUsage && !a.started:
		_, _ = fmt.Fprintf(messages, "guidon: %v; see %s --help\n", err, cmd.CommandPath())
	default:
		_, _ = fmt.Fprintln(messages, "guidon:", err)
	}
	return code
}

// A usageError is a mistake in the command line or in a setting.
type usageError struct{ error }

// A codeError ends the command with a code of its own.
type codeError struct {
	code int
	error
}

func (e codeError) Unwrap() error { return e.error }

// errReported ends a command that has already printed what failed.
var errReported = errors.New("failed")

func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if coded, ok := errors.AsType[codeError](err); ok {
		return coded.code
	}
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*server.SettingError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*adminapi.UnreachableError](err); ok {
		return exitUnavailable
	}
	if refusal, ok := errors.AsType[*adminapi.Refusal](err); ok {
		if refusal.Status >= http.StatusInternalServerError || refusal.Status == http.StatusTooManyRequests {
			return exitUnavailable
		}
		return exitRefused
	}
	return exitFailed
}
