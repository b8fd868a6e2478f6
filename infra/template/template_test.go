// Package template has the tests of template.yaml and samconfig.toml. The rules in rules/ check what the template becomes
// after its transforms (`make template`); these tests check what only the source shows.
package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPaused checks that the parameter Paused stops every function that callers reach, and no other.
func TestPaused(t *testing.T) {
	const reserved, paused = "    ReservedConcurrentExecutions: ", "    ReservedConcurrentExecutions: !If [IsPaused, 0, !If [Reserves"
	source := readSource(t, "template.yaml")
	globals, resources, _ := strings.Cut(source, "\nResources:")
	if !strings.Contains(globals, "\n"+paused) {
		t.Error("Paused does not stop the functions that have no reservation of their own")
	}
	stopped, others := 0, 0
	for _, f := range function.FindAllStringSubmatch(resources, -1) {
		reached := strings.Contains(source, "/functions/${"+f[1]+"Function.Arn}:live/invocations")
		if stops := !strings.Contains(f[0], reserved) || strings.Contains(f[0], paused); stops != reached {
			t.Errorf("%s is reached by callers: %t; stopped by Paused: %t", f[1], reached, stops)
		}
		if reached {
			stopped++
		} else {
			others++
		}
	}
	if stopped < 10 || others < 4 {
		t.Errorf("found %d functions that callers reach and %d others; expected at least 10 and 4", stopped, others)
	}
}

// TestStages checks that every stage of samconfig.toml repeats the settings of default, because the SAM CLI does not merge
// them, and that no parameter has an empty value in the form that the SAM CLI ignores.
func TestStages(t *testing.T) {
	source := readSource(t, "samconfig.toml")
	if got := stageProblems(source); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
	for _, fault := range [][2]string{
		{"[dev.build.parameters]\nbuild_in_source = true\n", "[dev.build.parameters]\n"},
		{"[prod.validate.parameters]\n", "[prod.others.parameters]\n"},
		{`Alarms=""`, `Alarms=`},
		{"LogRetentionDays=7", "LogRetentionsDays=7"},
		{"Architecture=arm64 Deployment", "Deployment"}, {"Architecture=arm64 Alarms", "Architecture=arm64 FrontendConcurrency=1 Alarms"},
	} {
		if !strings.Contains(source, fault[0]) {
			t.Errorf("samconfig.toml does not contain %q, so the fault cannot be tested", fault[0])
		}
		if len(stageProblems(strings.Replace(source, fault[0], fault[1], 1))) == 0 {
			t.Errorf("%q instead of %q is not found", fault[1], fault[0])
		}
	}
}

var (
	section    = regexp.MustCompile(`^\[(\w+)\.(.+)\]`)
	setting    = regexp.MustCompile(`^\w+ = [^#]*[^# ]`)
	override   = regexp.MustCompile(`([A-Za-z]+)=("[^"]*"|[^ "']*)`)
	parameters = regexp.MustCompile(`(?m)^  ([A-Z]\w+):(?:\n    | \{)Description:`)
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
				problems = append(problems, stage+" does not set Architecture, which make deploy builds for")
			}
			for _, m := range override.FindAllStringSubmatch(overrides, -1) {
				if m[2] == "" {
					problems = append(problems, stage+": the SAM CLI ignores "+m[1]+"= without a value")
				}
				if strings.HasSuffix(m[1], "Concurrency") {
					problems = append(problems, stage+" reserves concurrency, of which a new account has none")
				}
				if !slices.Contains(templateParameters(), m[1]) {
					problems = append(problems, stage+": there is no template parameter "+m[1])
				}
			}
		}
	}
	for other, has := range stages {
		for _, want := range stages["default"] {
			if !slices.Contains(has, want) {
				problems = append(problems, other+" lacks "+want)
			}
		}
	}
	if len(stages) < 4 {
		problems = append(problems, "expected at least 4 stages")
	}
	return problems
}

// TestSettings changes each parameter: the version of each function that reads it must get another description, because SAM
// publishes none for a parameter's new value, and another configuration, because Lambda refuses a version without a change. The
// description must fit into 256 characters without the addresses. docs/deploying.md says how many characters of these fit.
func TestSettings(t *testing.T) {
	source := readSource(t, "template.yaml")
	if problems := settingsProblems(source); len(problems) > 0 {
		t.Error(strings.Join(problems, "\n"))
	}
	for _, fault := range [][2]string{
		{" ${RestoredTable}", ""}, {" ${Limits}", ""}, {" ${CorsOrigins}", ""}, {"${PublicUrl}", ""}, {" ${DomainName}", ""}, {"${OpenId}", ""}, {"${PlanAlarms}", ""},
		{" ${WebhookPrivateNetworks}", ""}, {" ${SecondPublishRegion}", ""}, {"${Tracing}", ""}, {"        SETTINGS: !Sub ${Settings.Value}", "        OTHER: x"},
		{"        TABLE_NAME:", "        KEY: !Ref KeyArn\n        TABLE_NAME:"}, {"${LogLevel}${Tracing}", strings.Repeat("x", 100) + "${LogLevel}${Tracing}"},
	} {
		if !strings.Contains(source, fault[0]) || len(settingsProblems(strings.Replace(source, fault[0], fault[1], 1))) == 0 {
			t.Errorf("%q instead of %q is not found", fault[1], fault[0])
		}
	}
}

var (
	settingsText  = regexp.MustCompile(`(?s)\n      Value: !Sub "(\$\{LogLevel\}.*?|x+\$\{LogLevel\}.*?)"\n`)
	ofParameter   = regexp.MustCompile(`\$\{(\w+)\}`)
	readParameter = regexp.MustCompile(`!Ref (\w+)|\$\{(\w+)\}|(?:!If \[|!Condition |!If\n +- )(\w+)`)
	function      = regexp.MustCompile(`(?ms)^  (\w+)Function:[^\n]*\n    Type: AWS::Serverless::Function\n.*?\n\n`)
	description   = regexp.MustCompile(`\n      VersionDescription: (.*)`)
	condition     = regexp.MustCompile(`(?m)^  (\w+): (!.*)$`)
	longestValues = map[string]int{"LogLevel": 5, "Tracing": 11, "Metrics": 4, "RestoredTable": 90, "FrontSecretHash": 64, "ClientMaxAge": 4, "SessionHours": 3, "OpenId": 3, "PlanAlarms": 3, "Limits": 60} // as their patterns allow
	addresses     = []string{"PublicUrl", "DomainName", "CorsOrigins", "FrontendOrigins", "WebhookPrivateNetworks"}                                                                                          // these have no limit of their own
	noSettings    = []string{"Architecture", "Deployment", "Paused", "ReservedConcurrency", "ApplicationsConcurrency", "FrontendConcurrency"}                                                                // another build is new code, and the others are of all versions
)

func settingsProblems(source string) (problems []string) {
	m := settingsText.FindStringSubmatch(source)
	if m == nil {
		return []string{"the template has no Settings text"}
	}
	text := regexp.MustCompile(`\\\n +`).ReplaceAllString(m[1], "")
	length := len(ofParameter.ReplaceAllString(text, ""))
	for _, parameter := range ofParameter.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(addresses, parameter[1]) {
			length += longestValues[parameter[1]]
		}
	}
	if length > 256 {
		problems = append(problems, fmt.Sprintf("the settings can take %d characters; a description has at most 256", length))
	}
	_, conditionText, _ := strings.Cut(source, "\nConditions:")
	conditions := map[string]string{}
	for _, m := range condition.FindAllStringSubmatch(conditionText, -1) {
		conditions[m[1]] = m[2]
	}
	_, globals, _ := strings.Cut(source, "\nGlobals:")
	globals, _, _ = strings.Cut(globals, "\nResources:")
	if !strings.Contains(globals, "\n        SETTINGS: !Sub ${Settings.Value} ") {
		problems = append(problems, "the functions have no variable SETTINGS, so Lambda refuses a version in which nothing else changes")
	}
	functions := function.FindAllStringSubmatch(source, -1)
	if len(functions) != 14 {
		problems = append(problems, fmt.Sprintf("found %d functions, want 14", len(functions)))
	}
	for _, f := range functions {
		d := description.FindStringSubmatch(f[0])
		if d == nil || !strings.Contains(d[1], "Settings.Value") {
			problems = append(problems, f[1]+" has versions without the settings in their description")
			continue
		}
		published := reads(text+d[1], conditions)
		for parameter := range reads(globals+f[0], conditions) {
			if slices.Contains(templateParameters(), parameter) && !published[parameter] && !slices.Contains(noSettings, parameter) {
				problems = append(problems, f[1]+" reads the parameter "+parameter+", and its versions do not change with it")
			}
		}
	}
	return problems
}

// reads returns the parameters that a part of the template refers to, also by its conditions.
func reads(text string, conditions map[string]string) map[string]bool {
	found := map[string]bool{}
	for _, m := range readParameter.FindAllStringSubmatch(text, -1) {
		found[m[1]+m[2]] = true
		if inner, is := conditions[m[3]]; is {
			maps.Copy(found, reads(inner, conditions))
		}
	}
	return found
}

// TestVariables checks that the template sets the variables that the program of a function reads.
func TestVariables(t *testing.T) {
	source := readSource(t, "template.yaml")
	_, globals, _ := strings.Cut(source, "\nGlobals:")
	globals, _, _ = strings.Cut(globals, "\nResources:")
	read := regexp.MustCompile(`os\.Getenv\("(\w+)"\)`)
	for _, f := range function.FindAllStringSubmatch(source, -1) {
		for _, m := range read.FindAllStringSubmatch(readSource(t, filepath.Join("functions", strings.ToLower(f[1]), "main.go")), -1) {
			if variable := m[1] + ": "; !strings.HasPrefix(variable, "AWS_") && !strings.Contains(globals, variable) && !strings.Contains(f[0], variable) {
				t.Errorf("the function %s reads %s, which the template does not set", f[1], m[1])
			}
		}
	}
}

// TestDeployingPage checks that docs/deploying.md lists every parameter and no other.
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
				t.Errorf("docs/deploying.md lists %s, which is not a template parameter", name)
			}
		}
	}
}

// TestRestoredTable checks that the pages give a restored table a name that the boundary of a pipeline's roles allows.
func TestRestoredTable(t *testing.T) {
	if allowed := "table/${Stack}-Table-*"; strings.Count(readSource(t, filepath.Join("infra", "pipeline", "roles.yaml")), allowed) != 3 {
		t.Errorf("infra/pipeline/roles.yaml does not have %s in three places", allowed)
	}
	for page, stack := range map[string]string{"restore.md": `"$STACK`, "region.md": "guidon-west"} {
		text := readSource(t, filepath.Join("docs", "operations", page))
		named := strings.Count(text, "RESTORED="+stack+"-")
		if named == 0 || named != strings.Count(text, "RESTORED="+stack+"-Table-") {
			t.Errorf("%s names a restored table that is not %s-Table-…", page, stack)
		}
	}
}

// TestNumberOfFunctions checks the numbers of functions in the pages for operators.
func TestNumberOfFunctions(t *testing.T) {
	template := readSource(t, "template.yaml")
	all := strings.Count(template, "Type: AWS::Serverless::Function\n")
	for _, page := range []struct {
		path, before, after string
		want, times         int
	}{
		{"docs/deploying.md", "each of the ", " functions reserves", all, 1},
		{"docs/operations/limits.md", "of the ", " functions, taken", all, 1},
		{"docs/operations/limits.md", `\(`, " functions of", all, 1},
		{"docs/operations/cost.md", "two metrics in an alarm for each of ", " functions", strings.Count(template, "Principal: apigateway.amazonaws.com"), 1},
	} {
		found := regexp.MustCompile(page.before+`(\d+)`+page.after).FindAllStringSubmatch(readSource(t, filepath.FromSlash(page.path)), -1)
		if len(found) != page.times {
			t.Errorf("%s has %d numbers before %q; expected %d", page.path, len(found), page.after, page.times)
		}
		for _, m := range found {
			if m[1] != fmt.Sprint(page.want) {
				t.Errorf("%s says %q; the template has %d", page.path, m[0], page.want)
			}
		}
	}
}

// routesWithSettings lists the routes that have settings in the template, or had them in an earlier release, with the release that added the
// route. API Gateway refuses an update that removes such a route, and its rollback: UPDATE_ROLLBACK_FAILED. So no line may leave this list, and
// from 0.1.0 on, a route gets settings one release after it exists: going back from the release that adds both would remove it.
var routesWithSettings = map[string]string{
	"ANY /api/admin/projects/{projectId}/change-requests/config": "0.1.0",
	"ANY /api/admin/projects/{projectId}/overview":               "0.1.0",
	"ANY /api/admin/projects/{projectId}/{proxy+}":               "0.1.0",
	"ANY /api/client/delta":                                      "0.1.0",
	"ANY /api/client/features":                                   "0.1.0",
	"ANY /api/client/features/{featureName}":                     "0.1.0",
	"ANY /api/client/metrics":                                    "0.1.0",
	"ANY /api/client/metrics/{proxy+}":                           "0.1.0",
	"ANY /api/client/register":                                   "0.1.0",
	"ANY /api/frontend":                                          "0.1.0",
	"ANY /api/frontend/client/{proxy+}":                          "0.1.0",
	"ANY /docs/{proxy+}":                                         "0.1.0",
	"ANY /api/signals/{signalName}":                              "0.1.0",
	"ANY /edge/{proxy+}":                                         "0.1.0",
	"ANY /ofrep/v1/evaluate/flags":                               "0.1.0",
	"ANY /ofrep/v1/evaluate/flags/{key}":                         "0.1.0",
}

// TestRouteSettings checks that every route with settings is in that list, and that the list's routes stay in the template.
func TestRouteSettings(t *testing.T) {
	source := readSource(t, "template.yaml")
	if got := routeSettingsProblems(source, routesWithSettings); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
	early := maps.Clone(routesWithSettings)
	early["ANY /docs/{proxy+}"] = "99.0.0"
	if len(routeSettingsProblems(source, early)) != 1 {
		t.Error("a route that gets settings with the release that adds it is not found")
	}
	for _, fault := range [][2]string{
		{"          /api/client/delta: {", "          /api/client/deltas: {"}, // the route goes, and its settings stay
		{"        ANY /api/client/delta: {Throttling", "        ANY /api/admin/tags: {Throttling"},
	} {
		if !strings.Contains(source, fault[0]) || len(routeSettingsProblems(strings.Replace(source, fault[0], fault[1], 1), routesWithSettings)) == 0 {
			t.Errorf("%q instead of %q is not found", fault[1], fault[0])
		}
	}
}

func routeSettingsProblems(source string, since map[string]string) (problems []string) {
	for _, m := range regexp.MustCompile(`(?m)^        (ANY /\S+): \{Throttling`).FindAllStringSubmatch(source, -1) {
		if since[m[1]] == "" {
			problems = append(problems, m[1]+" has settings: add it to routesWithSettings, and both have to stay in every later release")
		}
	}
	changes, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	if err != nil {
		return append(problems, err.Error())
	}
	for route, release := range since {
		if release != "0.1.0" && !strings.Contains(string(changes), "\n## ["+release+"]") {
			problems = append(problems, fmt.Sprintf("the route %s is new in %s: it gets settings in a later release, because going back from this one would remove it", route, release))
		}
		if !strings.Contains(source, "\n          "+strings.TrimPrefix(route, "ANY ")+": {x-amazon-apigateway-any-method:") {
			problems = append(problems, "the route "+route+" is gone, which makes an update of a stage fail, and its rollback, too")
		}
	}
	return problems
}

// TestSize checks that the template stays one that a person reads. The rule size counts what it becomes after SAM's transform.
func TestSize(t *testing.T) {
	source := readSource(t, "template.yaml")
	if lines := strings.Count(source, "\n"); lines > 1330 {
		t.Errorf("template.yaml has %d lines, and at most 1,330 are to be read", lines)
	}
	if n := len(templateParameters()); n > 39 { // the right to read alarms is a stage's own decision
		t.Errorf("the template has %d parameters, and at most 39 are to be read", n)
	}
	for _, loop := range []string{"Fn::ForEach", "AWS::LanguageExtensions"} {
		if strings.Contains(source, loop) {
			t.Errorf("the template has %s", loop)
		}
	}
}

// templateParameters returns the names of the template's parameters.
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
