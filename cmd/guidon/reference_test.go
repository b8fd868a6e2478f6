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

` + "`guidon completion bash --help`" + ` (or fish, powershell, zsh) says how to load the completion of your shell. This page is generated from the
help of the commands: ` + "`go test ./cmd/guidon -run TestReference -update`" + ` writes it.

## Common options

Most commands that call a server take these options; each command names its own:
`

// commonFlags are those that most commands have; the page describes them once.
var commonFlags = []string{"output", "project", "token", "url"}

// reference is the page: the help of every command, without that of completion, which is cobra's.
func reference(root *cobra.Command) string {
	var page strings.Builder
	page.WriteString(referenceHead)
	common, _, err := root.Find([]string{"flag", "list"})
	if err != nil {
		panic(err)
	}
	page.WriteString("\n```text\n" + common.NonInheritedFlags().FlagUsages() + "```\n")
	described := map[string]string{}
	for _, name := range commonFlags {
		described[name] = common.Flag(name).Usage
	}
	listed := slices.DeleteFunc(root.Commands(), func(cmd *cobra.Command) bool {
		return cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Hidden
	})
	usage := func(cmd *cobra.Command) string {
		text := cmd.UseLine()
		var shared []string
		for _, name := range commonFlags {
			if f := cmd.Flag(name); f != nil && f.Usage == described[name] {
				f.Hidden = true
				shared = append(shared, "--"+name)
			}
		}
		text += strings.TrimRight("\n"+cmd.NonInheritedFlags().FlagUsages(), "\n")
		if shared != nil {
			text += "\n      common options: " + strings.Join(shared, ", ")
		}
		return text
	}
	section := func(cmd *cobra.Command) {
		text, settings, _ := strings.Cut(strings.TrimSpace(cmd.Long), "\n\nSettings (environment):\n")
		if cmd.HasParent() {
			text += "\n\n" + usage(cmd)
		}
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s\n\n%s\n```\n", cmd.CommandPath(), text, unindent(cmd.Example))
		if settings != "" {
			page.WriteString("\n[Settings of the local server](settings.md) lists its environment variables.\n")
		}
	}
	section(root)
	for _, cmd := range listed {
		if !cmd.HasSubCommands() {
			section(cmd)
			continue
		}
		var parts []string
		for _, sub := range cmd.Commands() {
			about := strings.TrimSpace(sub.Long) + "\n\n" + unindent(sub.Example)
			parts = append(parts, usage(sub)+"\n\n"+indented.ReplaceAllString(about, "    $0"))
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(cmd.Long), strings.Join(parts, "\n\n"))
	}
	return page.String()
}

// indented matches the lines that are indented: all but empty ones.
var indented = regexp.MustCompile(`(?m)^.+`)

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
