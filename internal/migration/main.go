// Command migration shows that a team can move in from Unleash, and out again, with the real thing: `make test-migration`.
//
// It starts Unleash with a PostgreSQL of its own, fills it through its interface with the flags of
// @unleash/client-specification and with others that have what those lack, and moves everything with the command
// `guidon migrate` into an empty Guidon: dry, for good, once more, and once with the command killed on its way. Then it moves
// everything from Guidon into a second, empty Unleash. What the three of them have is read and compared here, by none of the
// command's own code, and so is what Guidon's audit log tells. A difference that expected.go does not know is a failure, and
// so is one that it knows and that is not there.
//
// All that it starts it ends, and its data is in a temporary folder.
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
)

func main() {
	many := flag.Int("flags", 0, "measure with so many flags instead, by one import and by the command")
	version := flag.String("unleash", unleashVersion, "the version of Unleash; the differences are known for the default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *version, *many)
	if ctx.Err() != nil {
		err = errors.New("stopped")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "migration:", err)
		os.Exit(1)
	}
}

// A stage is where the play is: the programs, the folder for their data, and what was started.
type stage struct {
	root, folder string
	command      string // the program guidon
	version      string // of Unleash
	postgres     *postgres
	mu           sync.Mutex
	closers      []func()
	began        time.Time
	faults       []string
}

func run(ctx context.Context, version string, many int) (err error) {
	s := &stage{version: version, began: time.Now()}
	defer s.close()
	if err := s.open(ctx); err != nil {
		return err
	}
	if many > 0 {
		return s.measure(ctx, many)
	}
	if err := s.play(ctx); err != nil {
		return err
	}
	if len(s.faults) > 0 {
		return fmt.Errorf("%d faults:\n%s", len(s.faults), strings.Join(s.faults, "\n"))
	}
	s.say("all is as it should be")
	return nil
}

// say prints what has been done, with the seconds that have passed.
func (s *stage) say(format string, args ...any) {
	fmt.Printf("%4.0fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// fault notes what is wrong; the play goes on, so that one run shows everything.
func (s *stage) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.faults = append(s.faults, text)
	s.say("FAULT: %s", text)
}

// open builds the programs and starts PostgreSQL.
func (s *stage) open(ctx context.Context) (err error) {
	if s.root, err = engine.Root(); err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "guidon-migration-"); err != nil {
		return err
	}
	s.atEnd(func() { _ = os.RemoveAll(s.folder) })
	s.command = filepath.Join(s.folder, "guidon")
	build := exec.CommandContext(ctx, "go", "build", "-o", s.command, "./cmd/guidon")
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building ./cmd/guidon: %w\n%s", err, out)
	}
	s.postgres, err = s.startPostgres(ctx)
	return err
}

// atEnd has something undone when all is over, the last first.
func (s *stage) atEnd(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, do)
}

func (s *stage) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}
