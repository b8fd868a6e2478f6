package main

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// programs are the paths of the built programs.
type programs struct {
	guidon    map[string]string            // by platform, such as linux-amd64 and windows-amd64.exe
	edge      map[string]string            // likewise
	images    map[string]string            // of Edge, by architecture, such as amd64
	functions map[string]map[string]string // by architecture of the template, then by name, such as features
}

// readPrograms finds the programs that the Makefile has built.
func readPrograms(folder string) (programs, error) {
	found := programs{guidon: map[string]string{}, edge: map[string]string{}, images: map[string]string{}, functions: map[string]map[string]string{}}
	for prefix, byName := range map[string]map[string]string{"guidon/guidon-": found.guidon, "edge/guidon-edge-": found.edge, "images/guidon-edge-": found.images} {
		paths, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(prefix)+"*"))
		if err != nil {
			return found, err
		}
		for _, at := range paths {
			byName[strings.TrimPrefix(filepath.Base(at), path.Base(prefix))] = at
		}
	}
	functions, err := filepath.Glob(filepath.Join(folder, "functions", "*", "*", "bootstrap"))
	if err != nil {
		return found, err
	}
	for _, at := range functions {
		name, architecture := filepath.Base(filepath.Dir(at)), filepath.Base(filepath.Dir(filepath.Dir(at)))
		if found.functions[architecture] == nil {
			found.functions[architecture] = map[string]string{}
		}
		found.functions[architecture][name] = at
	}
	if len(found.guidon) == 0 || len(found.edge) == 0 || len(found.images) == 0 || len(found.functions) == 0 {
		return found, fmt.Errorf("%s has no programs: use make release, which builds them", folder)
	}
	return found, nil
}

// all returns the paths of all programs of a part: the command, Edge or the functions.
func (p programs) all() map[string][]string {
	parts := map[string][]string{}
	for _, path := range p.guidon {
		parts["command"] = append(parts["command"], path)
	}
	for _, path := range p.edge {
		parts["edge"] = append(parts["edge"], path)
	}
	for _, functions := range p.functions {
		for _, path := range functions {
			parts["functions"] = append(parts["functions"], path)
		}
	}
	return parts
}
