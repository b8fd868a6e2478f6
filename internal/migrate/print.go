package migrate

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

	"guidon/internal/adminapi"
)

// A printer prints what was done and what differs to out, and the progress to messages: a bar on a terminal, else a line
// every few seconds.
type printer struct {
	out, messages io.Writer
	terminal      bool
	mu            sync.Mutex
	barShown      bool
	held          []string // lines that wait for the end of the bar, which they would break
}

func newPrinter(out, messages io.Writer) *printer {
	file, ok := messages.(*os.File)
	return &printer{out: out, messages: messages, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

func (p *printer) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf(format+"\n", args...)
	if p.barShown {
		p.held = append(p.held, line)
		return
	}
	_, _ = io.WriteString(p.out, line)
}

// setBar notes whether a bar is shown. When it ends, the held lines are printed.
func (p *printer) setBar(shown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.barShown = shown; !shown {
		_, _ = io.WriteString(p.out, strings.Join(p.held, ""))
		p.held = nil
	}
}

func (p *printer) instance(c *adminapi.Client, in *instance) {
	active, archived := in.flagCount()
	types := slices.DeleteFunc(slices.Clone(in.strategyTypes), func(t strategyType) bool { return !t.Editable })
	p.line("%s, %s: %d projects, %d environments, %d flags (and %d archived), %d segments, %d context fields, %d tag types, %d custom strategy types",
		c.Name, c.Base, len(in.projects), len(in.environments), active, archived, len(in.segments), len(in.contextFields), len(in.tagTypes), len(types))
}

func (p *printer) would(create bool, what string) {
	does := "update"
	if create {
		does = "create"
	}
	p.line("would %s %s", does, what)
}

func (p *printer) copied(what string)                  { p.line("copied %s", what) }
func (p *printer) notCopied(what string, reason error) { p.line("could not copy %s: %v", what, reason) }
func (p *printer) differences(flag string, list []string) {
	for _, difference := range list {
		p.line("differs: %s: %s", flag, difference)
	}
}

func (p *printer) summary(equal, different, archived, failed int) {
	skipped := fmt.Sprintf("%d archived flags were not copied", archived)
	if archived == 1 {
		skipped = "1 archived flag was not copied"
	}
	p.line("%d flags are the same on both sides, %d differ; %s", equal, different, skipped)
	if failed > 0 {
		p.line("%d other objects could not be copied; see above", failed)
	}
}

// A bar shows how many flags are done.
type bar interface {
	add(n int)
	finish()
}

// bar starts to show the progress over total flags.
func (p *printer) bar(what string, total int) bar {
	if p.terminal {
		p.setBar(true)
		return terminalBar{p, progressbar.NewOptions(total, progressbar.OptionSetWriter(p.messages), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))}
	}
	return &lineBar{printer: p, what: what, total: total, printed: time.Now()}
}

type terminalBar struct {
	printer *printer
	bar     *progressbar.ProgressBar
}

func (b terminalBar) add(n int) { _ = b.bar.Add(n) }

func (b terminalBar) finish() {
	_ = b.bar.Finish()
	b.printer.setBar(false)
}

// A lineBar prints a line every few seconds, and one at the end.
type lineBar struct {
	printer     *printer
	what        string
	done, total int
	printed     time.Time
}

const betweenLines = 5 * time.Second

func (b *lineBar) add(n int) {
	if b.done += n; time.Since(b.printed) >= betweenLines {
		b.printed = time.Now()
		b.print()
	}
}

func (b *lineBar) finish() { b.print() }

func (b *lineBar) print() {
	_, _ = fmt.Fprintf(b.printer.messages, "%s: %d of %d flags\n", b.what, b.done, b.total)
}
