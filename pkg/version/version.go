// Package version has the version of this build: for `guidon version`, the header of /health and the API description.
package version

import (
	"bytes"
	"runtime/debug"
)

// source is the version of the source, which infra/openapi.json has too. It follows https://semver.org.
const source = "0.1.0-dev"

// number is the version of this build. A release sets it with -ldflags "-X guidon/pkg/version.number=1.2.3": make release.
var number = source

// Number is the version without the commit, such as 1.2.3.
func Number() string { return number }

// String is the version with the commit that it was built from, such as 1.2.3+0a1b2c3d4e5f. A build without version
// control information (-buildvcs=false, as for the Lambda functions) has the number only.
func String() string {
	info, _ := debug.ReadBuildInfo() // nil if the program was built without modules
	return withCommit(number, info)
}

// InDescription returns the OpenAPI description infra/openapi.json with another version than that of the source.
func InDescription(description []byte, number string) []byte {
	return bytes.Replace(description, []byte(`"version": "`+source+`"`), []byte(`"version": "`+number+`"`), 1)
}

func withCommit(number string, info *debug.BuildInfo) string {
	if info == nil {
		return number
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return number
	}
	const short = 12
	commit = commit[:min(len(commit), short)]
	if settings["vcs.modified"] == "true" {
		commit += ".modified"
	}
	return number + "+" + commit
}
