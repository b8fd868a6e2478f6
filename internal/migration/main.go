// Command migration tests that a team can move from Unleash to Guidon and back, with a real Unleash: `make test-migration`.
//
// It starts Unleash with its own PostgreSQL and fills it through its API with the flags of @unleash/client-specification, and
// with more flags for what those lack (extras.go). `guidon migrate` then moves everything into an empty Guidon: as a dry run, for
// real, once more, and once killed halfway. Then it moves everything from Guidon into a second, empty Unleash. The test reads and
// compares the contents of all servers without using the command's own code, and checks Guidon's event log. A difference that
// expected.go does not list is an error, and so is a listed difference that is missing.
//
// It stops everything that it started, and keeps its data in a temporary folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"guidon/internal/engine"
	"guidon/internal/unleash"
)

func main() {
	many := flag.Int("flags", 0, "measure with this number of flags instead: one import, and the command")
	version := flag.String("unleash", unleash.Version, "version of Unleash; expected.go is for the default")
	sdk := flag.String("sdk", "", "folder in which npm has installed the SDKs of internal/clients/node")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *version, *sdk, *many)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "migration:", err)
		os.Exit(1)
	}
}

// A test has the programs and servers of a run, and the errors that it found.
type test struct {
	root, folder string // of the repository, and for data
	guidonPath   string // the program
	version      string // of Unleash
	sdk          string // the folder with the SDKs
	postgres     *unleash.Postgres
	mu           sync.Mutex
	cleanups     []func()
	began        time.Time
	errors       []string
}

func run(ctx context.Context, version, sdk string, many int) error {
	t := &test{version: version, sdk: sdk, began: time.Now()}
	defer t.close()
	if err := t.open(ctx); err != nil {
		return err
	}
	if many > 0 {
		return t.measure(ctx, many)
	}
	if err := t.migrations(ctx); err != nil {
		return err
	}
	if len(t.errors) > 0 {
		return fmt.Errorf("%d errors:\n%s", len(t.errors), strings.Join(t.errors, "\n"))
	}
	t.logf("passed")
	return nil
}

// logf prints a line with the seconds since the start.
func (t *test) logf(format string, args ...any) {
	fmt.Printf("%4.0fs  %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, args...))
}

// errorf records an error. The test goes on, so that one run finds them all.
func (t *test) errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.errors = append(t.errors, text)
	t.logf("ERROR: %s", text)
}

// open builds the program and starts PostgreSQL.
func (t *test) open(ctx context.Context) (err error) {
	if t.root, err = engine.Root(); err != nil {
		return err
	}
	if t.folder, err = os.MkdirTemp("", "guidon-migration-"); err != nil {
		return err
	}
	t.cleanup(func() { _ = os.RemoveAll(t.folder) })
	t.guidonPath = filepath.Join(t.folder, "guidon")
	build := exec.CommandContext(ctx, "go", "build", "-o", t.guidonPath, "./cmd/guidon")
	build.Dir = t.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building ./cmd/guidon: %w\n%s", err, out)
	}
	if t.postgres, err = unleash.StartPostgres(ctx, t.folder); err != nil {
		return err
	}
	t.cleanup(t.postgres.Stop)
	return nil
}

// cleanup registers a function for close, which calls them in reverse order.
func (t *test) cleanup(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, do)
}

func (t *test) close() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
