package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A teller says what goes on: what was done and what differs to out, how far it is to progress, with a bar where that is
// a terminal and a plain line from time to time where it is not.
type teller struct {
	out, progress io.Writer
	terminal      bool
	mu            sync.Mutex
	showing       bool     // a bar, on a terminal
	held          []string // lines that wait for its end: they would stand in the middle of it
}

func newTeller(out, progress io.Writer) *teller {
	file, ok := progress.(*os.File)
	return &teller{out: out, progress: progress, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

func (t *teller) line(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := fmt.Sprintf(format+"\n", args...)
	if t.showing {
		t.held = append(t.held, line)
		return
	}
	_, _ = io.WriteString(t.out, line)
}

// shown says that a bar is shown, or no longer.
func (t *teller) shown(now bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.showing = now; !now {
		_, _ = io.WriteString(t.out, strings.Join(t.held, ""))
		t.held = nil
	}
}

func (t *teller) read(s *server, in *instance) {
	active, archived := in.flagCount()
	types := slices.DeleteFunc(slices.Clone(in.strategyTypes), func(t strategyType) bool { return !t.Editable })
	t.line("%s, %s: %d projects, %d environments, %d flags (and %d archived), %d segments, %d context fields, %d tag types, %d strategy types of its own",
		s.name, s.base, len(in.projects), len(in.environments), active, archived, len(in.segments), len(in.contextFields), len(in.tagTypes), len(types))
}

func (t *teller) would(what string)          { t.line("would bring %s", what) }
func (t *teller) did(what string)            { t.line("brought %s", what) }
func (t *teller) not(what string, err error) { t.line("could not bring %s: %v", what, err) }

// differs lists what is different about one flag.
func (t *teller) differs(name string, found []string) {
	for _, difference := range found {
		t.line("differs: %s: %s", name, difference)
	}
}

func (t *teller) end(equal, remaining, archived, failed int) {
	left := fmt.Sprintf("%d archived flags were left where they are", archived)
	if archived == 1 {
		left = "1 archived flag was left where it is"
	}
	t.line("%d flags are the same on both sides, %d are not; %s", equal, remaining, left)
	if failed > 0 {
		t.line("%d other things could not be brought: see above", failed)
	}
}

// A bar shows how much of something is done.
type bar interface {
	add(n int)
	finish()
}

// bar begins to show progress over total things.
func (t *teller) bar(what string, total int) bar {
	if t.terminal {
		t.shown(true)
		return terminalBar{t, progressbar.NewOptions(total, progressbar.OptionSetWriter(t.progress), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))}
	}
	return &plainBar{teller: t, what: what, total: total, said: time.Now()}
}

type terminalBar struct {
	teller *teller
	bar    *progressbar.ProgressBar
}

func (b terminalBar) add(n int) { _ = b.bar.Add(n) }

func (b terminalBar) finish() {
	_ = b.bar.Finish()
	b.teller.shown(false)
}

// A plainBar says a line every few seconds, and one at the end.
type plainBar struct {
	teller      *teller
	what        string
	done, total int
	said        time.Time
}

const betweenLines = 5 * time.Second

func (b *plainBar) add(n int) {
	if b.done += n; time.Since(b.said) >= betweenLines {
		b.said = time.Now()
		b.say()
	}
}

func (b *plainBar) finish() { b.say() }

func (b *plainBar) say() {
	_, _ = fmt.Fprintf(b.teller.progress, "%s: %d of %d flags\n", b.what, b.done, b.total)
}
