package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A module is a Go module or an npm package that programs of the release contain.
type module struct {
	kind, name, version string   // the kind is golang or npm
	license             string   // its SPDX identifier, if the system names it
	sum                 string   // its checksum, as the system writes it: h1:… or sha512-…
	in                  []string // the programs: command, edge or functions
}

// url returns the name of a module in all systems: https://github.com/package-url/purl-spec.
func (m module) url() string {
	return "pkg:" + m.kind + "/" + strings.NewReplacer("@", "%40", "+", "%2B").Replace(m.name) + "@" + strings.ReplaceAll(m.version, "+", "%2B")
}

// standardLibrary is the name of Go's own packages, as vulnerability databases have it.
const standardLibrary = "std"

// modules returns the modules of the release by URL. Those of Go are read from the programs, so they are those that were linked.
func (r release) modules() (map[string]module, error) {
	found := map[string]module{}
	add := func(m module, in string) {
		if known, is := found[m.url()]; is {
			m = known
		}
		if !slices.Contains(m.in, in) {
			m.in = slices.Sorted(slices.Values(append(m.in, in)))
		}
		found[m.url()] = m
	}
	for in, pattern := range map[string]string{
		"command": r.path("guidon", "*-*"), "edge": r.path("guidon-edge", "*-*"), "functions": filepath.Join(r.functions, "*", "*", "bootstrap"),
	} {
		programs, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range programs {
			if ext := filepath.Ext(path); ext == ".zip" || ext == ".gz" {
				continue
			}
			info, err := buildinfo.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			add(module{kind: "golang", name: standardLibrary, version: strings.TrimPrefix(info.GoVersion, "go")}, in)
			for _, dep := range info.Deps {
				if dep.Replace != nil {
					dep = dep.Replace
				}
				add(module{kind: "golang", name: dep.Path, version: dep.Version, sum: dep.Sum}, in)
			}
		}
	}
	packages, err := consolePackages()
	for _, p := range packages {
		add(p, "command")
		add(p, "functions")
	}
	return found, err
}

// consolePackages returns the npm packages that the console and the page of the API can contain: those that are not for development only.
func consolePackages() ([]module, error) {
	const name = "console/package-lock.json"
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version, License, Integrity string
			Dev                         bool
		}
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	packages := []module{{kind: "npm", name: "rapidoc", version: rapidoc, license: "MIT"}}
	for path, p := range lock.Packages {
		if path != "" && !p.Dev { // "" is the console itself
			path = path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
			packages = append(packages, module{kind: "npm", name: path, version: p.Version, license: p.License, sum: p.Integrity})
		}
	}
	return packages, nil
}

// rapidoc is the version in pkg/docs/assets.
const rapidoc = "9.3.8"

// writeComponents writes the list of all modules in the programs, the SBOM, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).
// The serial number and the time are left out: both are optional, and would differ in each build.
func (r release) writeComponents() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	type object = map[string]any
	licensed := func(id string) []object { return []object{{"license": object{"id": id}}} }
	components := []object{}
	for _, url := range slices.Sorted(maps.Keys(modules)) {
		m := modules[url]
		c := object{
			"bom-ref": url, "type": "library", "name": m.name, "version": m.version, "purl": url,
			"properties": []object{{"name": "guidon:part", "value": strings.Join(m.in, ", ")}},
		}
		if m.license != "" {
			c["licenses"] = licensed(m.license)
		}
		if m.sum != "" {
			algorithm, sum, err := hashOf(m.sum)
			if err != nil {
				return fmt.Errorf("%s: %w", url, err)
			}
			c["hashes"] = []object{{"alg": algorithm, "content": sum}}
		}
		components = append(components, c)
	}
	guidon := "guidon@" + r.version
	content, err := json.MarshalIndent(object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     object{"component": object{"bom-ref": guidon, "type": "application", "name": "guidon", "version": r.version, "licenses": licensed("Apache-2.0")}},
		"components":   components,
		"dependencies": []object{{"ref": guidon, "dependsOn": slices.Sorted(maps.Keys(modules))}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("guidon", "sbom.cdx.json"), append(content, '\n'), 0o644)
}

// hashOf converts the checksum of a module. That of Go is a SHA-256 of the checksums of all its files.
func hashOf(sum string) (algorithm, content string, err error) {
	for prefix, algorithm := range map[string]string{"h1:": "SHA-256", "sha512-": "SHA-512"} {
		if encoded, ok := strings.CutPrefix(sum, prefix); ok {
			raw, err := base64.StdEncoding.DecodeString(encoded)
			return algorithm, hex.EncodeToString(raw), err
		}
	}
	return "", "", errors.New("its checksum is of an unknown kind: " + sum)
}
