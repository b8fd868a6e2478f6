package main

import (
	"fmt"
	"regexp"
	"strings"
)

// function matches the head of a function in template.yaml.
var function = regexp.MustCompile(`(?m)^  ([A-Za-z]+)Function:.*\n    Type: AWS::Serverless::Function\n    Metadata: \{BuildMethod: makefile\}\n    Properties:\n`)

// packagedTemplate returns template.yaml for the functions of a release, of which there are so many: each has its archive as CodeUri,
// none is built, and Architecture has only the value that they were built for. It edits lines, so that comments and short forms such as
// !Ref stay as they are. An edit that does not fit is an error.
func packagedTemplate(source, version, architecture string, functions int) (string, error) {
	heads := function.FindAllStringIndex(source, -1)
	if all := strings.Count(source, "Type: AWS::Serverless::Function\n"); len(heads) != functions || all != functions {
		return "", fmt.Errorf("it has %d functions, %d in the form that internal/release knows, and there are %d programs", all, len(heads), functions)
	}
	source = function.ReplaceAllStringFunc(source, func(head string) string {
		name := strings.ToLower(function.FindStringSubmatch(head)[1])
		return strings.Replace(head, "    Metadata: {BuildMethod: makefile}\n", "", 1) + "      CodeUri: functions/" + name + ".zip\n"
	})
	for _, edit := range [][2]string{
		{"\n    CodeUri: .\n", "\n"},
		{"\nDescription: Guidon, ", "\nDescription: Guidon " + version + ", "},
		{"They must have been built for it; `make deploy` builds for the one in samconfig.toml.",
			"Those of this archive are built for " + architecture + " only."},
		{", Default: arm64, AllowedValues: [arm64, x86_64]}\n", ", Default: " + architecture + ", AllowedValues: [" + architecture + "]}\n"},
	} {
		if n := strings.Count(source, edit[0]); n != 1 {
			return "", fmt.Errorf("%q occurs %d times, and must occur once: internal/release replaces it", edit[0], n)
		}
		source = strings.Replace(source, edit[0], edit[1], 1)
	}
	return source, nil
}

// buildSection matches a table of samconfig.toml with the settings of `sam build`.
var buildSection = regexp.MustCompile(`\[[a-z]+\.build\.parameters\]\n(?:[^\n]+\n)*\n`)

const samconfigHead = `# The stages of Guidon @VERSION@ for @ARCHITECTURE@: sam deploy --config-env dev|staging|prod. README.md is about it.
#
# A parameter of the template that is not in parameter_overrides keeps the value that the stack has. To take one back, write
# its default; for an empty one Name="", because the SAM CLI ignores Name= without a message.
version = `

// packagedConfig returns samconfig.toml for a release: without the settings of the build, and with the architecture.
func packagedConfig(source, version, architecture string) (string, error) {
	_, tables, found := strings.Cut(source, "\nversion = ")
	if !found || !strings.Contains(tables, "Architecture=arm64 ") {
		return "", fmt.Errorf("it has no \"version = \", or no stage with Architecture=arm64")
	}
	tables = strings.ReplaceAll(buildSection.ReplaceAllString(tables, ""), "Architecture=arm64 ", "Architecture="+architecture+" ")
	return filled(samconfigHead, version, architecture) + tables, nil
}
