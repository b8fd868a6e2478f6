package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

var (
	block  = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")
	export = regexp.MustCompile(`\*:\*\.your-admin-token-of-(unleash|guidon)`)
)

// doPage runs the commands of docs/moving.md with another empty Guidon. Only addresses and tokens are replaced. The commands
// must print each line of output that the page shows below them.
func (t *test) doPage(ctx context.Context, from *server) error {
	page, err := os.ReadFile(filepath.Join(t.root, "docs", "moving.md"))
	if err != nil {
		return err
	}
	here, err := t.guidon(ctx, "page")
	if err != nil {
		return err
	}
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
			cmd := exec.CommandContext(ctx, "bash", "-c", commands)
			cmd.Dir, cmd.SysProcAttr = t.root, &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("the commands of docs/moving.md failed: %w\n%s", err, out)
			}
			printed, commands = string(out), strings.TrimSuffix(commands, m[2])
			continue
		}
		for line := range strings.Lines(m[2]) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*")
			if shown++; !regexp.MustCompile(pattern).MatchString(printed) {
				t.errorf("docs/moving.md shows %q, but its commands printed\n%s", line, printed)
			}
		}
	}
	if shown < 5 {
		t.errorf("docs/moving.md shows %d lines of output, expected at least 5", shown)
	}
	t.logf("ran the commands of docs/moving.md; they printed its %d lines of output", shown)
	here.stop()
	return nil
}
