// Package version has the version of this build: for `guidon version`, the header of /health and the API description.
package version

import "runtime/debug"

// number follows https://semver.org. A release changes it here and in CHANGELOG.md; a build may set another one with
// -ldflags "-X guidon/pkg/version.number=1.2.3".
var number = "0.1.0-dev"

// Number is the version without the commit, such as 1.2.3.
func Number() string { return number }

// String is the version with the commit that it was built from, such as 1.2.3+0a1b2c3d4e5f. A build without version
// control information (-buildvcs=false, as for the Lambda functions) has the number only.
func String() string {
	info, _ := debug.ReadBuildInfo() // nil if the program was built without modules
	return withCommit(number, info)
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
