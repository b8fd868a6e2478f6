package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// maxVersion is the largest length of a version. It is part of the name of each file.
const maxVersion = 64

// check refuses a release that could not be completed, before anything is built.
func check(o options) error {
	version, err := parseVersion(o.version)
	if err != nil {
		return err
	}
	if _, err := changes(o.source, version); err != nil {
		return err
	}
	if version.Prerelease() != "" {
		return nil
	}
	return checkCommitted(o.source)
}

// parseVersion reads the version of a release. It has no build metadata, which would be a part of file names and URLs.
func parseVersion(text string) (*semver.Version, error) {
	const example = "use make release VERSION=1.2.3, or VERSION=1.2.3-rc.1 for a pre-release"
	if text == "" {
		return nil, errors.New("VERSION is missing on the command line of make: " + example)
	}
	version, err := semver.StrictNewVersion(text)
	if err != nil || version.Metadata() != "" || len(text) > maxVersion {
		return nil, fmt.Errorf("VERSION is %.80q, which is not a semantic version without build metadata of at most %d characters: %s", text, maxVersion, example)
	}
	return version, nil
}

// checkCommitted refuses a release of changes that are not in Git, because no one else could build it again. A folder
// without Git, such as the archive of a tag, is not checked.
func checkCommitted(source string) error {
	status, err := exec.Command("git", "-C", source, "status", "--porcelain").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release: note: this is no Git work tree, so it is not checked for changes")
		return nil //nolint:nilerr // see above
	}
	return uncommitted(string(status))
}

// uncommitted returns an error that names the first files in the output of `git status --porcelain`, if there are any.
func uncommitted(status string) error {
	if status == "" {
		return nil
	}
	const shown = 5
	files := strings.Split(strings.TrimSuffix(status, "\n"), "\n")
	return fmt.Errorf("the work tree has changes that are not committed, so others could not build the same release:\n%s\n"+
		"commit or remove them, or build a pre-release such as VERSION=1.2.3-rc.1", strings.Join(files[:min(shown, len(files))], "\n"))
}

// changes returns the section of CHANGELOG.md for a version. A pre-release without a section has that of Unreleased, which may
// be empty.
func changes(source string, version *semver.Version) (string, error) {
	content, err := os.ReadFile(filepath.Join(source, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	section, found := sectionOf(string(content), version.String())
	if !found && version.Prerelease() != "" {
		section, found = sectionOf(string(content), "Unreleased")
	}
	if !found {
		return "", fmt.Errorf("CHANGELOG.md has no section \"## [%s]\": rename \"## [Unreleased]\" to \"## [%[1]s] - <date>\", "+
			"and add an empty \"## [Unreleased]\" above it", version)
	}
	if section == "" && version.Prerelease() != "" {
		section = "No changes are listed."
	}
	if section == "" {
		return "", fmt.Errorf("the section of %s in CHANGELOG.md is empty: write what has changed", version)
	}
	return fmt.Sprintf("# Guidon %s\n\n%s\n", version, section), nil
}

// sectionOf returns the text below the heading "## [name]", which may have a date, up to the next one.
func sectionOf(changelog, name string) (string, bool) {
	var section strings.Builder
	found := false
	for line := range strings.Lines(changelog) {
		if strings.HasPrefix(line, "## ") {
			if found {
				break
			}
			found = strings.HasPrefix(line, "## ["+name+"]")
			continue
		}
		if found {
			section.WriteString(line)
		}
	}
	return strings.TrimSpace(section.String()), found
}
