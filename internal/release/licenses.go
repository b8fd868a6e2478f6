package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	modules "golang.org/x/mod/module"
)

// licensesFile contains the licenses and notices of all modules in the programs, which most of them require.
const licensesFile = "THIRD_PARTY_LICENSES.txt"

// writeLicenses writes the licenses of Go modules, of RapiDoc and of the console's packages.
func (r release) writeLicenses() error {
	found, err := r.modules()
	if err != nil {
		return err
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	all := "The programs of Guidon " + r.version + " contain these modules.\n"
	add := func(name, folder string) error {
		text, err := licensesIn(folder)
		all += "\n" + strings.Repeat("=", 80) + "\n" + name + "\n\n" + text + "\n"
		return err
	}
	for _, url := range slices.Sorted(maps.Keys(found)) {
		m := found[url]
		if m.kind != "golang" {
			continue
		}
		folder, err := moduleFolder(strings.TrimSpace(string(cache)), m, found)
		if err == nil {
			err = add(m.name+" "+m.version, folder)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", m.name, m.version, err)
		}
	}
	if err := add("RapiDoc "+rapidoc, "pkg/docs/assets"); err != nil {
		return err
	}
	console, err := os.ReadFile("console/dist/licences.txt")
	if err != nil {
		return fmt.Errorf("the console is not built: %w", err)
	}
	all += "\n" + strings.Repeat("=", 80) + "\nThe web console\n\n" + strings.TrimSpace(string(console)) + "\n"
	return os.WriteFile(filepath.Join(r.folder, licensesFile), []byte(all), 0o644)
}

// moduleFolder returns the folder of a module in the module cache. Go's own packages have the license of the modules golang.org/x, and
// not every installation of Go has the file.
func moduleFolder(cache string, m module, all map[string]module) (string, error) {
	if m.name == standardLibrary {
		for _, other := range all {
			if other.name == "golang.org/x/sys" {
				m = other
			}
		}
	}
	path, err := modules.EscapePath(m.name)
	if err != nil {
		return "", err
	}
	version, err := modules.EscapeVersion(m.version)
	return filepath.Join(cache, path+"@"+version), err
}

// licenseName matches the files of a module with its license and its notices.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

// licensesIn returns the license and the notices in a folder.
func licensesIn(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, entry := range entries { // sorted
		if entry.Type().IsRegular() && licenseName.MatchString(entry.Name()) {
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return "", err
			}
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	if len(texts) == 0 {
		return "", errors.New("it has no file with a license: find out whether it may be part of a release")
	}
	return strings.Join(texts, "\n\n"), nil
}
