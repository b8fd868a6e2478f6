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

// doPage does what docs/moving.md says, word for word but for addresses and tokens, with another empty Guidon. Each line
// that the page shows must be printed by the commands above it.
func (s *stage) doPage(ctx context.Context, from *client) error {
	page, err := os.ReadFile(filepath.Join(s.root, "docs", "moving.md"))
	if err != nil {
		return err
	}
	here, err := s.guidon(ctx, "page")
	if err != nil {
		return err
	}
	text := strings.NewReplacer("https://unleash.example.com", from.url, "https://guidon.example.com", here.url).Replace(string(page))
	text = export.ReplaceAllLiteralString(text, adminToken)
	commands, printed, shown := "set -e\n", "", 0
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if m[1] == "sh" {
			commands += m[2]
			printed = ""
			if !strings.Contains(m[2], "guidon migrate") {
				continue // settings of those that follow
			}
			cmd := exec.CommandContext(ctx, "bash", "-c", commands)
			cmd.Dir, cmd.SysProcAttr = s.root, &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("docs/moving.md: %w; it printed\n%s", err, out)
			}
			printed, commands = string(out), strings.TrimSuffix(commands, m[2])
			continue
		}
		for line := range strings.Lines(m[2]) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*")
			if shown++; !regexp.MustCompile(pattern).MatchString(printed) {
				s.fault("docs/moving.md shows %q, but its commands print\n%s", line, printed)
			}
		}
	}
	if shown < 5 {
		s.fault("docs/moving.md shows %d lines, want 5 or more", shown)
	}
	s.say("did what docs/moving.md says; the %d lines that it shows were printed", shown)
	here.end(syscall.SIGINT)
	return nil
}
