package edge

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/edge.md from the settings")

const referenceFile = "../../docs/reference/edge.md"

const referenceHead = `# Settings of Edge

This page lists the settings of [Guidon Edge](../edge.md). Each is an environment variable, and a flag of the same name in lower
case with hyphens: ` + "`UPSTREAM_URL` is `--upstream-url`" + `. A flag takes precedence. The flags
of ` + "`edge`, `extension` and `offline`" + ` also stand before the command, where ` + "`-p` is `PORT` and `-b` is `BASE_PATH`" + `. Durations are in seconds, or have a unit: ` + "`24h`" + `.

The variables of the [extension for AWS Lambda](../how-to/edge-lambda.md) begin with ` + "`GUIDON_EDGE_`" + `, because it shares its environment
with a function: ` + "`GUIDON_EDGE_UPSTREAM_URL`" + `. It listens on 127.0.0.1:2475, and logs JSON.

It is generated from the code: ` + "`go test ./pkg/edge -run TestReference -update`" + ` writes it.
`

// reference is the page with all settings.
func reference() string {
	var page strings.Builder
	page.WriteString(referenceHead)
	for _, group := range [][2]string{{"edge", "`edge` and `extension`"}, {"extension", "`extension`"}, {"offline", "`offline`"}, {"", "`edge`, `extension` and `offline`"}, {"health ready", "`health` and `ready`"}} {
		fmt.Fprintf(&page, "\n## Settings of %s\n\n| Variable | Short flag | Effect | Default |\n|---|---|---|---|\n", group[1])
		for _, s := range settings {
			if s.commands == group[0] {
				short := ""
				if s.short != "" {
					short = "`-" + s.short + "`"
				}
				fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", s.name, short, s.usage, cmp.Or(s.fallback, map[bool]string{true: "false"}[s.isSwitch]))
			}
		}
	}
	page.WriteString("\n## Settings of Unleash Edge that it does not have\n\nSetting one of these is an error. Use this instead:\n\n| Variable | Instead |\n|---|---|\n")
	names := map[string][]string{} // by what to use instead
	for _, name := range slices.Sorted(maps.Keys(unsupported)) {
		names[unsupported[name]] = append(names[unsupported[name]], "`"+name+"`")
	}
	for _, instead := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&page, "| %s | %s |\n", strings.Join(names[instead], ", "), instead)
	}
	page.WriteString("\nOther variables are ignored, such as `RUST_LOG`, `NO_COLOR` and `DELTA_DIFF`, and so is one with a typing error. Another unknown flag, such as\n`-w` or `--markdown-help`, is an error.\n\nThese have no effect, because Edge has none of the endpoints that they disable: `" + strings.Join(inert, "`, `") + "`.\n")
	return page.String()
}

func TestReference(t *testing.T) {
	want := reference()
	if *update {
		if err := os.WriteFile(referenceFile, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/reference/edge.md does not have the settings of the code; run go test ./pkg/edge -run TestReference -update")
	}
}
