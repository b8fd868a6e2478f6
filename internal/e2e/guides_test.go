package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

// fence matches a fenced block of a page: shell commands, or their output.
var fence = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// TestGuides runs the commands of the tutorial and of each page of docs/how-to on one server. Every command must succeed and print
// exactly what the page shows. The long form runs them again in another order: each page can be repeated, and none depends on another.
func TestGuides(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "how-to", "*.md"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("docs/how-to has %d pages (%v), want 15 or more", len(pages), err)
	}
	pages = slices.DeleteFunc(pages, func(page string) bool { return slices.Contains(pagesElsewhere, filepath.Base(page)) })
	pages = append(pages, filepath.Join(root, "docs", "tutorial.md"))
	g := start(t, "WEBHOOK_PRIVATE_NETWORKS=127.0.0.0/8") // for webhooks.md
	for _, run := range []string{"first", "again"}[:dynamotest.Times(1, 2)] {
		for _, page := range pages {
			t.Run(run+"/"+strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) { followGuide(t, page, g.port) })
		}
		// Each half backwards: no page runs twice in the same second, since the names that it uses contain the time.
		slices.Reverse(pages[:len(pages)/2])
		slices.Reverse(pages[len(pages)/2:])
	}
}

// pagesElsewhere lists the pages whose steps are in a browser, at a provider, or on a platform for applications. The tests of the console
// do the first of them. TestLambdaExamples and make template check the files that the others deploy.
var pagesElsewhere = []string{"console.md", "sign-in.md", "edge-lambda.md", "edge-containers.md"}

// followGuide runs the commands of a page with another port, and compares what each block prints with what the page shows.
func followGuide(t *testing.T, page, port string) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Fatal("the commands of the documentation need jq: install it, and curl 7.82 or newer")
	}
	script, shown := guideScript(t, page, port)
	out, err := bash(t, script)
	if err != nil {
		t.Fatalf("%v; it printed\n%s", err, out)
	}
	printed := strings.Split(out, endOfBlock)
	for i, text := range shown {
		if got := strings.TrimSpace(printed[i]); !shownText(text).MatchString(got) {
			t.Errorf("the page shows\n%s\nbut the commands above that print\n%s", text, got)
		}
	}
}

// endOfBlock is printed after each block of commands.
const endOfBlock = "\n=== the end of a block ===\n"

// guideScript returns the shell blocks of a page as one script for a port, and the output that the page shows, by the number of
// the block that prints it.
func guideScript(t *testing.T, page, port string) (script string, shown map[int]string) {
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
	if strings.Count(script, "curl ")+strings.Count(script, "guidon ") < 5 || !strings.Contains(script, "127.0.0.1:4242") || len(shown) < 3 {
		t.Fatalf("%s has %d blocks of sh and shows %d answers; want five commands or more, to 127.0.0.1:4242, and three answers", page, blocks, len(shown))
	}
	return strings.ReplaceAll(script, "127.0.0.1:4242", address(port)), shown
}

// shownText matches the output that a page shows, with … for any text within a line.
func shownText(text string) *regexp.Regexp {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(text)), "…", ".*")
	return regexp.MustCompile("^" + pattern + "$")
}

// link matches a link of a page to another file of the repository.
var link = regexp.MustCompile(`\]\(([^):#]+)(#[^)]*)?\)`)

// TestLinks checks that the files that pages link to exist, and that every page under docs is linked.
func TestLinks(t *testing.T) {
	pages := map[string]bool{filepath.Join(root, "README.md"): true}
	for _, pattern := range []string{"SECURITY.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md"} {
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
