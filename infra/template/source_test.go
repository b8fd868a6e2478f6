package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// TestSubstitutions sees that what is to be substituted is: transform.py leaves ${…} in both, a text and a !Sub, so a !Sub
// that is missing could not be seen in what it makes.
func TestSubstitutions(t *testing.T) {
	source := readSource(t, "template.yaml")
	if got := plainSubstitutions(t, source); len(got) > 0 {
		t.Errorf("these are no !Sub, and would stay as they are: %q", got)
	}
	for _, fault := range [][2]string{
		{`LogGroupName: !Sub /aws`, `LogGroupName: /aws`},
		{`Value: !Sub "${AWS::StackName}-${Name}"`, `Value: "${AWS::StackName}-${Name}"`},
		{`DashboardBody: !Sub`, `DashboardBody:`},
		{`- !Sub ${Table.Arn}/index/log`, `- ${Table.Arn}/index/log`},
	} {
		if !strings.Contains(source, fault[0]) {
			t.Errorf("the template has no %q to put a fault into", fault[0])
		}
		if len(plainSubstitutions(t, strings.Replace(source, fault[0], fault[1], 1))) == 0 {
			t.Errorf("%q is not found", fault[1])
		}
	}
}

// TestPaused: while the parameter Paused is on, no function that callers reach may run. The others run.
func TestPaused(t *testing.T) {
	const paused = "\n      ReservedConcurrentExecutions: !If [IsPaused, 0, !If [Reserves, !Ref ReservedConcurrency, !Ref AWS::NoValue]]\n"
	stopped, others := 0, 0
	for _, resource := range strings.Split(readSource(t, "template.yaml"), "\n\n") {
		if !strings.Contains(resource, "Type: AWS::Serverless::Function") {
			continue
		}
		reached := strings.Contains(resource, "Type: HttpApi")
		if strings.Contains(resource, paused) != reached {
			t.Errorf("callers reach this function: %t, and Paused stops it: %t\n%s", reached, !reached, resource[:200])
		}
		if reached {
			stopped++
		} else {
			others++
		}
	}
	if stopped < 13 || others < 2 {
		t.Errorf("callers reach %d functions, and not %d; want to have found more", stopped, others)
	}
}

// plainSubstitutions are the texts with ${…} that are no argument of Fn::Sub. Keys may have one: those of Fn::ForEach.
func plainSubstitutions(t *testing.T, source string) []string {
	t.Helper()
	file, err := parser.ParseBytes([]byte(source), 0)
	if err != nil {
		t.Fatal(err)
	}
	found := &substitutions{}
	ast.Walk(found, file.Docs[0].Body)
	return found.plain
}

type substitutions struct{ plain []string }

// Visit looks at a node, and says whether to go on below it.
func (s *substitutions) Visit(node ast.Node) ast.Visitor {
	switch node := node.(type) {
	case *ast.TagNode:
		if node.Start.Value != "!Sub" {
			return s
		}
		if list, is := node.Value.(*ast.SequenceNode); is { // the text, and what its names stand for
			for _, value := range list.Values[1:] {
				ast.Walk(s, value)
			}
		}
		return nil
	case *ast.MappingValueNode:
		if node.Key.String() != "Fn::Sub" {
			ast.Walk(s, node.Value)
		}
		return nil
	case *ast.StringNode:
		s.note(node.Value)
	case *ast.LiteralNode:
		s.note(node.Value.Value)
	}
	return s
}

func (s *substitutions) note(text string) {
	if strings.Contains(text, "${") {
		s.plain = append(s.plain, text)
	}
}

// TestStages sees that every stage of samconfig.toml has what default has, because the SAM CLI merges none of it, and that
// no parameter is set to nothing in the way that the SAM CLI passes over.
func TestStages(t *testing.T) {
	source := readSource(t, "samconfig.toml")
	if got := stageProblems(source); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
	for _, fault := range [][2]string{
		{"[dev.build.parameters]\nbuild_in_source = true\n", "[dev.build.parameters]\n"},
		{"[prod.validate.parameters]\n", "[prod.others.parameters]\n"},
		{"[staging.global.parameters]\nlanguage_extensions = true\n", "[staging.global.parameters]\n"},
		{`AlarmTopicArn=""`, `AlarmTopicArn=`},
		{"LogRetentionDays=7", "LogRetentionsDays=7"},
		{"Architecture=arm64 Deployment", "Deployment"},
	} {
		if !strings.Contains(source, fault[0]) {
			t.Errorf("samconfig.toml has no %q to put a fault into", fault[0])
		}
		if len(stageProblems(strings.Replace(source, fault[0], fault[1], 1))) == 0 {
			t.Errorf("%q in the place of %q is not found", fault[1], fault[0])
		}
	}
}

var (
	section    = regexp.MustCompile(`^\[(\w+)\.(.+)\]`)
	setting    = regexp.MustCompile(`^\w+ = [^#]*[^# ]`)
	override   = regexp.MustCompile(`([A-Za-z]+)=("[^"]*"|[^ "']*)`)
	parameters = regexp.MustCompile(`(?m)^  ([A-Z]\w+):\n    Description:`)
)

func stageProblems(source string) (problems []string) {
	stages := map[string][]string{} // "build.parameters build_in_source = true"
	stage, name := "", ""
	for line := range strings.Lines(source) {
		if m := section.FindStringSubmatch(line); m != nil {
			stage, name = m[1], m[2]
			continue
		}
		s := setting.FindString(strings.TrimSpace(line))
		if s == "" || stage == "" {
			continue
		}
		stages[stage] = append(stages[stage], name+" "+s)
		if overrides, is := strings.CutPrefix(s, "parameter_overrides = "); is {
			if !strings.Contains(overrides, "Architecture=") {
				problems = append(problems, stage+" does not say which architecture make deploy builds for")
			}
			for _, m := range override.FindAllStringSubmatch(overrides, -1) {
				if m[2] == "" {
					problems = append(problems, stage+": the SAM CLI passes over "+m[1]+"= without a value")
				}
				if !slices.Contains(templateParameters(), m[1]) {
					problems = append(problems, stage+": the template has no parameter "+m[1])
				}
			}
		}
	}
	for other, has := range stages {
		for _, want := range stages["default"] {
			if !slices.Contains(has, want) {
				problems = append(problems, other+" has no "+want)
			}
		}
	}
	if len(stages) < 4 {
		problems = append(problems, "stages are missing")
	}
	return problems
}

// TestSettings checks that the description of a version has the value of each parameter that the functions' variables have,
// and fits in the 256 characters that it may have. SAM may make no version for a parameter's new value; CloudFormation
// replaces a version whose description is new.
func TestSettings(t *testing.T) {
	source := readSource(t, "template.yaml")
	for _, fault := range []string{"", " table=${RestoredTable}", "/${LimitTags}"} {
		problems := settingsProblems(strings.Replace(source, fault, "", 1))
		if fault == "" && len(problems) > 0 {
			t.Error(strings.Join(problems, "\n"))
		}
		if fault != "" && len(problems) == 0 {
			t.Errorf("the settings without %q are found good", fault)
		}
	}
}

var (
	settingsText  = regexp.MustCompile(`(?s)\n      Value: !Sub "(\$\{LogLevel\}.*?)"\n`)
	ofParameter   = regexp.MustCompile(`\$\{(\w+)\}`)
	variableRef   = regexp.MustCompile(`\n        [A-Z_0-9]+: !Ref (\w+)`)
	longestValues = map[string]int{"LogLevel": 5, "Tracing": 11, "Metrics": 4, "RestoredTable": 90, "FrontSecretHash": 64} // a limit has 6 digits
)

func settingsProblems(source string) (problems []string) {
	m := settingsText.FindStringSubmatch(source)
	if m == nil {
		return []string{"there is no text of the settings"}
	}
	text := regexp.MustCompile(`\\\n +`).ReplaceAllString(m[1], "")
	length := len(ofParameter.ReplaceAllString(text, ""))
	for _, parameter := range ofParameter.FindAllStringSubmatch(text, -1) {
		length += cmp.Or(longestValues[parameter[1]], 6)
	}
	if length > 256 {
		problems = append(problems, fmt.Sprintf("the settings take up to %d characters", length))
	}
	_, globals, _ := strings.Cut(source, "\nGlobals:")
	globals, _, _ = strings.Cut(globals, "\nResources:")
	for _, variable := range variableRef.FindAllStringSubmatch(globals, -1) {
		if name := variable[1]; name != "ReservedConcurrency" && name != "Paused" && name != "AWS" && !strings.Contains(text, "${"+name+"}") { // its value is no setting of theirs
			problems = append(problems, "the settings do not have "+name)
		}
	}
	if !strings.Contains(text, "${RestoredTable}") {
		problems = append(problems, "the settings do not have the table")
	}
	return problems
}

// TestDeployingPage sees that the page about deploying has every parameter, and no other.
func TestDeployingPage(t *testing.T) {
	page := readSource(t, filepath.Join("docs", "deploying.md"))
	for _, parameter := range templateParameters() {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + parameter + "`[^|]*\\|").MatchString(page) {
			t.Errorf("docs/deploying.md has no row with the parameter %s", parameter)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[A-Z][^|]*) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Split(m[1], ", ") {
			if !slices.Contains(templateParameters(), strings.Trim(name, "`")) {
				t.Errorf("docs/deploying.md has the parameter %s, which the template has not", name)
			}
		}
	}
}

// templateParameters are the names of the template's parameters.
func templateParameters() (names []string) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "template.yaml"))
	if err != nil {
		panic(err)
	}
	declared, _, _ := strings.Cut(string(raw), "\nRules:")
	for _, m := range parameters.FindAllStringSubmatch(declared, -1) {
		names = append(names, m[1])
	}
	return names
}

func readSource(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
