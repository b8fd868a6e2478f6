package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fence matches a fenced block of a page: shell commands, or their output.
var fence = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// TestTasks runs the commands of each page of docs/tasks, with another port, against a new server. Every command must succeed
// and print what the page shows.
func TestTasks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "tasks", "*.md"))
	if err != nil || len(pages) < 6 {
		t.Fatalf("docs/tasks has %d pages (%v), want six or more", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			g := start(t)
			script, shown := task(t, page, g.port)
			out, err := bash(t, script)
			if err != nil {
				t.Fatalf("%v; it printed\n%s", err, out)
			}
			printed := strings.Split(out, endOfBlock)
			for i, text := range shown {
				for line := range strings.Lines(text) {
					if line = strings.TrimSuffix(line, "\n"); !shownLine(line).MatchString(printed[i]) {
						t.Errorf("it shows\n%s\nbut the commands above that print\n%s", line, printed[i])
					}
				}
			}
		})
	}
}

// endOfBlock is printed after each block of commands.
const endOfBlock = "\n=== the end of a block ===\n"

// task returns the shell blocks of a page as one script for a port, and the output that the page shows after some of them.
func task(t *testing.T, page, port string) (script string, shown map[int]string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var commands strings.Builder
	shown = map[int]string{}
	blocks := 0
	for _, m := range fence.FindAllStringSubmatch(string(raw), -1) {
		if kind, text := m[1], m[2]; kind == "sh" {
			fmt.Fprintf(&commands, "%s\nprintf %%s '%s'\n", text, endOfBlock)
			blocks++
		} else {
			shown[blocks-1] += text
		}
	}
	script = commands.String()
	if strings.Count(script, "curl ") < 5 || !strings.Contains(script, "127.0.0.1:4242") || len(shown) == 0 {
		t.Fatalf("%s has %d blocks of sh and shows %d answers; want five curl calls or more, to 127.0.0.1:4242, and an answer", page, blocks, len(shown))
	}
	return strings.ReplaceAll(script, "127.0.0.1:4242", address(port)), shown
}

// shownLine matches a line of output in a page, with … for any text.
func shownLine(line string) *regexp.Regexp {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
	if len(line) == len("404") {
		pattern += "$"
	}
	return regexp.MustCompile("(?m)" + pattern)
}

// link matches a link of a page to another file of the repository.
var link = regexp.MustCompile(`\]\(([^):#]+)(#[^)]*)?\)`)

// TestLinks checks that the files that pages link to exist, and that every page under docs is linked.
func TestLinks(t *testing.T) {
	pages := map[string]bool{filepath.Join(root, "README.md"): true}
	for _, pattern := range []string{"SECURITY.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range found {
			pages[page] = false
		}
	}
	for page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			target := filepath.Join(filepath.Dir(page), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
			if _, ok := pages[target]; ok && target != page {
				pages[target] = true
			}
		}
	}
	for page, linked := range pages {
		if !linked {
			t.Errorf("nothing links to %s", page)
		}
	}
}
