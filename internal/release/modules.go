package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A module is a Go module or an npm package that programs of the release contain.
type module struct {
	system  string // go or npm
	name    string
	version string
	license string // its SPDX identifier, if the system names it
	sum     string // its checksum, as the system writes it: h1:… or sha512-…
	in      []string
}

// standardLibrary is the name of Go's own packages, as vulnerability databases have it.
const standardLibrary = "std"

// modules returns the modules of the release, sorted. Those of Go are read from the programs, so they are those that were linked.
func (r *release) modules() ([]module, error) {
	found := map[string]module{}
	for part, paths := range r.programs.all() {
		for _, path := range paths {
			info, err := buildinfo.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			add(found, part, module{system: "go", name: standardLibrary, version: strings.TrimPrefix(info.GoVersion, "go")})
			for _, dep := range info.Deps {
				if dep.Replace != nil {
					dep = dep.Replace
				}
				add(found, part, module{system: "go", name: dep.Path, version: dep.Version, sum: dep.Sum})
			}
		}
	}
	packages, err := r.consolePackages()
	if err != nil {
		return nil, err
	}
	packages = append(packages, module{system: "npm", name: "swagger-ui-dist", version: r.swaggerUI, license: "Apache-2.0"})
	for _, p := range packages { // the command and the function site contain them
		add(found, "command", p)
		add(found, "functions", p)
	}
	sorted := []module{}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		sorted = append(sorted, found[key])
	}
	return sorted, nil
}

// add notes that a part of the release contains a module.
func add(found map[string]module, part string, m module) {
	key := m.system + " " + m.name + "@" + m.version
	if known, ok := found[key]; ok {
		m = known
	}
	if !slices.Contains(m.in, part) {
		m.in = append(m.in, part)
		slices.Sort(m.in)
	}
	found[key] = m
}

// consolePackages returns the npm packages that the console can contain: those that are not for development only.
func (r *release) consolePackages() ([]module, error) {
	const name = "console/package-lock.json"
	content, err := r.read(name)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			License   string `json:"license"`
			Integrity string `json:"integrity"`
			Dev       bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	packages := []module{}
	for path, p := range lock.Packages {
		if path == "" || p.Dev { // "" is the console itself
			continue
		}
		path = path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		packages = append(packages, module{system: "npm", name: path, version: p.Version, license: p.License, sum: p.Integrity})
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("%s has no packages that are not for development", name)
	}
	return packages, nil
}
