package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// functionID matches the first line of a function in template.yaml.
var functionID = regexp.MustCompile(`^  ([A-Za-z]+)Function:`)

// packagedTemplate returns template.yaml for the functions of a release: each has its archive as CodeUri, none is built, and
// Architecture has only the value that they were built for. functions are the names of the programs.
//
// It edits lines, so that comments and short forms such as !Ref stay as they are. An edit that does not fit is an error.
func packagedTemplate(source, version, architecture string, functions []string) (string, error) {
	var edited strings.Builder
	found := []string{}
	name := "" // of the resource, if it is a function
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "  ") && line[2] != ' ' && line[2] != '#' {
			name = ""
			if id := functionID.FindStringSubmatch(line); id != nil {
				name = strings.ToLower(id[1])
			}
		}
		if name != "" && (line == "    Metadata: {BuildMethod: makefile}\n") {
			continue
		}
		edited.WriteString(line)
		if name != "" && line == "    Properties:\n" {
			fmt.Fprintf(&edited, "      CodeUri: functions/%s.zip\n", name)
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, functions) {
		return "", fmt.Errorf("template.yaml has the functions %v, and the programs are %v: delete the folder of the programs, and build again", found, functions)
	}
	result, err := replaceOnce(edited.String(), [][2]string{
		{"\n    CodeUri: .\n", "\n"},
		{"\nDescription: Guidon, ", "\nDescription: Guidon " + version + ", "},
		{"They must have been built for it; `make deploy` builds for the one in samconfig.toml.",
			"Those of this archive are built for " + architecture + " only."},
		{", Default: arm64, AllowedValues: [arm64, x86_64]}\n", ", Default: " + architecture + ", AllowedValues: [" + architecture + "]}\n"},
	})
	if err != nil {
		return "", fmt.Errorf("template.yaml: %w", err)
	}
	if strings.Contains(result, "BuildMethod") || strings.Count(result, "\n      CodeUri: functions/") != strings.Count(result, "Type: AWS::Serverless::Function\n") {
		return "", fmt.Errorf("template.yaml has a function in a form that internal/release does not know: compare it with the others")
	}
	return result, nil
}

// buildSection matches a table of samconfig.toml with the settings of `sam build`.
var buildSection = regexp.MustCompile(`\[[a-z]+\.build\.parameters\]\n(?:[^\n]+\n)*\n`)

const samconfigHead = `# The stages of Guidon %s for %s: sam deploy --config-env dev|staging|prod. README.md is about it.
#
# A parameter of the template that is not in parameter_overrides keeps the value that the stack has. To take one back, write
# its default; for an empty one Name="", because the SAM CLI ignores Name= without a message.
`

// packagedConfig returns samconfig.toml for a release: without the settings of the build, and with the architecture.
func packagedConfig(source, version, architecture string) (string, error) {
	_, tables, found := strings.Cut(source, "\nversion = ")
	if !found || !strings.Contains(tables, "Architecture=arm64 ") {
		return "", fmt.Errorf("samconfig.toml has no \"version = \", or no stage with Architecture=arm64")
	}
	tables = buildSection.ReplaceAllString(tables, "")
	tables = strings.ReplaceAll(tables, "Architecture=arm64 ", "Architecture="+architecture+" ")
	return fmt.Sprintf(samconfigHead, version, architecture) + "version = " + tables, nil
}

// replaceOnce replaces texts that must occur exactly once.
func replaceOnce(text string, replacements [][2]string) (string, error) {
	for _, r := range replacements {
		if n := strings.Count(text, r[0]); n != 1 {
			return "", fmt.Errorf("%q occurs %d times, and must occur once: internal/release replaces it", r[0], n)
		}
		text = strings.Replace(text, r[0], r[1], 1)
	}
	return text, nil
}
