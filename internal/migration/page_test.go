//go:build migration

package migration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	block  = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")
	export = regexp.MustCompile(`\*:\*\.your-admin-token-of-(unleash|guidon)`)
)

// doPage runs the commands of docs/moving.md with another empty Guidon. Only addresses and tokens are replaced. The commands
// must print each line of output that the page shows below them.
func (t *test) doPage(from *server) {
	page, err := os.ReadFile(filepath.Join(t.root, "docs", "moving.md"))
	t.must(err)
	here := t.guidon("page")
	text := strings.NewReplacer("https://unleash.example.com", from.Base, "https://guidon.example.com", here.Base).Replace(string(page))
	text = export.ReplaceAllLiteralString(text, adminToken)
	commands, printed, shown := "set -e\n", "", 0
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if m[1] == "sh" {
			commands += m[2]
			printed = ""
			if !strings.Contains(m[2], "guidon migrate") {
				continue // variables for later commands
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", commands)
			cmd.Dir = t.root
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("the commands of docs/moving.md failed: %v\n%s", err, out)
			}
			printed, commands = string(out), strings.TrimSuffix(commands, m[2])
			continue
		}
		for line := range strings.Lines(m[2]) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*")
			if shown++; !regexp.MustCompile(pattern).MatchString(printed) {
				t.Errorf("docs/moving.md shows %q, but its commands printed\n%s", line, printed)
			}
		}
	}
	if shown < 5 {
		t.Errorf("docs/moving.md shows %d lines of output, expected at least 5", shown)
	}
	t.Logf("ran the commands of docs/moving.md; they printed its %d lines of output", shown)
	here.stop()
}
