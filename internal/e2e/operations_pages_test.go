package e2e

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"guidon/pkg/flags"
)

var (
	namedByCommand = regexp.MustCompile(`\b(resource|output) ([A-Z]\w+)`)             // of the shell functions in docs/operations/README.md
	namedInPassing = regexp.MustCompile("`([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?:=[^`]*)?`") // `LogLevel`, `LogLevel=WARN`
	namedTarget    = regexp.MustCompile("`(?:[A-Z_]+=\\S+ )?make ([a-z][a-z-]*)[ `]") // `make run`, `PORT=1 make run`
	makeTarget     = regexp.MustCompile(`(?m)^([a-z][a-z-]*):(?:[^=]|$)`)             // a rule of the Makefile
	alarmName      = regexp.MustCompile(`AlarmName: !Sub "\$\{AWS::StackName\}-([\w-]+)"`)
	alarmMetric    = regexp.MustCompile(`(?m)^ +(?:Namespace|\{Id)\b.*MetricName: \w+`)                                                                                                                                                                           // not those of ClientUrl, in !If
	notOurs        = []string{"BatchGetItem", "TransactWriteItems", "AccessDeniedException", "ResourceNotFoundException", "UsePreviousValue", "TransactionConflict", "ThrottlingException", "ProvisionedThroughputExceededException", "SuccessfulRequestLatency"} // AWS's own words
)

// TestOperationsPages checks that the parameters, resources, outputs and make targets in the operations pages exist.
func TestOperationsPages(t *testing.T) {
	var template struct {
		Parameters map[string]any `yaml:"Parameters"`
		Resources  map[string]any `yaml:"Resources"`
		Outputs    map[string]any `yaml:"Outputs"`
	}
	if err := yaml.Unmarshal([]byte(readRoot(t, "template.yaml")), &template); err != nil {
		t.Fatal(err)
	}
	known := slices.Concat(notOurs, slices.Collect(maps.Keys(template.Parameters)),
		slices.Collect(maps.Keys(template.Resources)), slices.Collect(maps.Keys(template.Outputs)))
	for _, file := range []string{"infra/pipeline/roles.yaml", "docs/operations/front.yaml", "docs/operations/spending.yaml"} {
		var stack struct {
			Parameters map[string]any `yaml:"Parameters"`
			Resources  map[string]any `yaml:"Resources"`
		}
		if err := yaml.Unmarshal([]byte(readRoot(t, file)), &stack); err != nil {
			t.Fatal(err)
		}
		known = slices.Concat(known, slices.Collect(maps.Keys(stack.Parameters)), slices.Collect(maps.Keys(stack.Resources)))
	}
	var targets []string
	for _, m := range makeTarget.FindAllStringSubmatch(readRoot(t, "Makefile"), -1) {
		targets = append(targets, m[1])
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "operations", "*.md"))
	if err != nil || len(pages) < 9 {
		t.Fatalf("%d pages, %v; want the operations pages", len(pages), err)
	}
	named := 0
	for _, page := range append(pages, filepath.Join(root, "docs", "local-aws.md")) {
		name, _ := filepath.Rel(root, page)
		text := readRoot(t, name)
		check := func(what, word string, there bool) {
			t.Helper()
			named++
			if !there {
				t.Errorf("%s names the %s %q, which does not exist", name, what, word)
			}
		}
		for _, m := range namedByCommand.FindAllStringSubmatch(text, -1) {
			_, isResource := template.Resources[m[2]]
			_, isOutput := template.Outputs[m[2]]
			isResource = isResource || m[2] == "ServerlessDeploymentApplication" // created by SAM
			check(m[1], m[2], m[1] == "resource" && isResource || m[1] == "output" && isOutput)
		}
		for _, m := range namedInPassing.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(m[1], "Test") { // one of Go's
				continue
			}
			check("parameter, resource or output", m[1], slices.Contains(known, m[1]))
		}
		for _, m := range namedTarget.FindAllStringSubmatch(text, -1) {
			check("make target", m[1], slices.Contains(targets, m[1]))
		}
	}
	for _, limit := range reflect.VisibleFields(reflect.TypeFor[flags.Limits]()) {
		name := strings.ToLower(limit.Name[:1]) + limit.Name[1:]
		if _, err := flags.ParseLimits(name + "=1"); err != nil || !strings.Contains(readRoot(t, "docs/operations/limits.md"), "`"+name+"`") {
			t.Errorf("docs/operations/limits.md does not have the limit %s (%v)", name, err)
		}
	}
	if named < 50 {
		t.Errorf("the pages name %d things, want to have found more", named)
	}
}

// TestRunbook checks that every alarm of the template has a section in the runbook.
func TestRunbook(t *testing.T) {
	runbook := readRoot(t, "docs/operations/runbook.md")
	alarms := alarmName.FindAllStringSubmatch(readRoot(t, "template.yaml"), -1)
	if len(alarms) < 16 {
		t.Errorf("template.yaml has %d alarms, want to have found more", len(alarms))
	}
	for _, m := range alarms {
		if heading := "\n## `<stack>-" + m[1] + "`\n"; !strings.Contains(runbook, heading) {
			t.Errorf("the runbook has no section %q", strings.TrimSpace(heading))
		}
	}
}

// TestCostPage checks the sums of the first table, that its alarms are those of the template, and what an idle stage may cost.
func TestCostPage(t *testing.T) {
	alarms := 0.0 // 0.10 for each metric of an alarm that is always there
	for _, resource := range strings.Split(readRoot(t, "template.yaml"), "\n\n") {
		if strings.Contains(resource, "\n    Type: AWS::CloudWatch::Alarm\n    Condition: WithAlarms\n") {
			alarms += 0.10 * float64(len(alarmMetric.FindAllString(resource, -1)))
		}
	}
	var use, fixed, uses, all, got [4]float64
	for line := range strings.Lines(readRoot(t, "docs/operations/cost.md")) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), "*", ""), " | ")
		if len(cells) != 5 {
			continue
		}
		for i := range got {
			got[i], _ = strconv.ParseFloat(strings.TrimSuffix(cells[i+1], " |"), 64)
		}
		sum := &use
		switch name := strings.TrimPrefix(cells[0], "| "); name {
		case "what use costs":
			uses = got
			continue
		case "in all":
			all = got
			continue
		case "two secrets":
			sum = &fixed
		case "alarms":
			sum = &fixed
			if got[0] != math.Round(alarms*100)/100 {
				t.Errorf("alarms cost %.2f on the page, and %.2f by the template", got[0], alarms)
			}
		case "", "|", "requests":
			continue
		}
		if strings.HasPrefix(cells[0], "| the same with") {
			break
		}
		for i := range got {
			sum[i] += got[i]
		}
	}
	if all[0] > 3.00 {
		t.Errorf("an idle stage with alarms costs %.2f, and at most 3.00 is what it may", all[0])
	}
	for i := range got {
		if math.Abs(use[i]-uses[i]) > 0.03 || math.Abs(uses[i]+fixed[i]-all[i]) > 0.001 { // cents are rounded
			t.Errorf("column %d: %.2f of use are %.2f on the page, and with %.2f that is %.2f", i+1, use[i], uses[i], fixed[i], all[i])
		}
	}
}

func readRoot(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
