package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write docs/reference/command.md from the help of the commands")

const referenceFile = "../../docs/reference/command.md"

const referenceHead = `# The command guidon

You can run Guidon with it, and work with the flags and tokens of any Guidon or Unleash, in a terminal or in scripts.

` + "`make guidon`" + ` builds it into ` + "`.local/bin`" + `, as one static file. ` + "`GOOS=darwin GOARCH=arm64 make guidon OUT=guidon`" + ` builds it for
another system. Add the folder to your path:

` + "```sh" + `
make guidon
export PATH="$PWD/.local/bin:$PATH"
` + "```" + `

This page is generated from the help of the commands: ` + "`go test ./cmd/guidon -run TestReference -update`" + ` writes it.
`

// reference is the page: the help of every command.
func reference(root *cobra.Command) string {
	var page strings.Builder
	page.WriteString(referenceHead)
	page.WriteString("\n## Commands\n\n")
	var sections func(*cobra.Command)
	index := func(cmd *cobra.Command) {
		anchor := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		fmt.Fprintf(&page, "- [`%s`](#%s): %s\n", cmd.CommandPath(), anchor, cmd.Short)
	}
	var walk func(*cobra.Command, func(*cobra.Command))
	walk = func(cmd *cobra.Command, visit func(*cobra.Command)) {
		for _, sub := range cmd.Commands() {
			if sub.Name() == "help" || sub.Hidden {
				continue
			}
			visit(sub)
			walk(sub, visit)
		}
	}
	sections = func(cmd *cobra.Command) {
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(cmd.Long))
		if cmd.HasSubCommands() && cmd.HasParent() {
			return
		}
		if cmd.HasParent() {
			fmt.Fprintf(&page, "\n```text\n%s\n```\n", cmd.UseLine())
		}
		if cmd.Example != "" {
			fmt.Fprintf(&page, "\n```sh\n%s\n```\n", unindent(cmd.Example))
		}
		if flags := cmd.NonInheritedFlags().FlagUsages(); flags != "" && cmd.HasParent() {
			fmt.Fprintf(&page, "\n```text\n%s```\n", flags)
		}
	}
	walk(root, index)
	sections(root)
	walk(root, sections)
	return page.String()
}

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

func TestReference(t *testing.T) {
	root := (&app{getenv: func(string) string { return "" }}).root()
	root.InitDefaultCompletionCmd()
	want := reference(root)
	if *update {
		if err := os.WriteFile(referenceFile, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/command.md is not the current help; run go test ./cmd/guidon -run TestReference -update (-want +got):\n%s", diff)
	}
}

// TestHelp checks that the help of every command teaches: what it does, and an example that this command line accepts.
func TestHelp(t *testing.T) {
	root := (&app{getenv: func(string) string { return "" }}).root()
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		path := cmd.CommandPath()
		if cmd.Name() == "help" || strings.HasPrefix(path, "guidon completion") {
			return // cobra's own
		}
		if cmd.Long == "" || cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s has no description or no example", path)
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 110 {
				t.Errorf("%s: a line of the help is too long: %s", path, line)
			}
		}
		for line := range strings.Lines(cmd.Example) {
			_, call, found := strings.Cut(line, "guidon ")
			if !found {
				continue
			}
			call, _, _ = strings.Cut(strings.TrimSpace(call), " | ")
			call, _, _ = strings.Cut(call, " > ")
			args := strings.Fields(strings.TrimSuffix(call, ")"))
			fresh := (&app{getenv: func(string) string { return "" }}).root()
			target, rest, err := fresh.Find(args)
			if err == nil {
				err = target.ParseFlags(rest)
			}
			if err == nil {
				err = target.ValidateArgs(target.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: the example %q is refused: %v", path, call, err)
			}
		}
	}
	check(root)
}

// TestSettingsPage compares the settings in the help of `guidon serve` with those of docs/reference/settings.md.
func TestSettingsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern, text string) (names []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}
	documented := slices.DeleteFunc(names("(?m)^\\| `([A-Z_…]+)`", string(page)), func(name string) bool {
		return strings.HasPrefix(name, "OIDC_") && name != "OIDC_…" // the help has them in one line
	})
	if diff := cmp.Diff(documented, names(`(?m)^  ([A-Z_…]+) `, serveSettings)); diff != "" {
		t.Errorf("the settings of the page (-) and of the help (+) differ:\n%s", diff)
	}
}
