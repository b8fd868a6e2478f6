package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// programs are the paths of the built programs.
type programs struct {
	guidon    map[string]string            // by platform, such as linux-amd64 and windows-amd64.exe
	functions map[string]map[string]string // by architecture of the template, then by name, such as features
}

// readPrograms finds the programs that the Makefile has built.
func readPrograms(folder string) (programs, error) {
	found := programs{guidon: map[string]string{}, functions: map[string]map[string]string{}}
	commands, err := filepath.Glob(filepath.Join(folder, "guidon", "guidon-*"))
	if err != nil {
		return found, err
	}
	for _, path := range commands {
		found.guidon[strings.TrimPrefix(filepath.Base(path), "guidon-")] = path
	}
	functions, err := filepath.Glob(filepath.Join(folder, "functions", "*", "*", "bootstrap"))
	if err != nil {
		return found, err
	}
	for _, path := range functions {
		name, architecture := filepath.Base(filepath.Dir(path)), filepath.Base(filepath.Dir(filepath.Dir(path)))
		if found.functions[architecture] == nil {
			found.functions[architecture] = map[string]string{}
		}
		found.functions[architecture][name] = path
	}
	if len(found.guidon) == 0 || len(found.functions) == 0 {
		return found, fmt.Errorf("%s has no programs: use make release, which builds them", folder)
	}
	return found, nil
}

// all returns the paths of all programs of a part: the command or the functions.
func (p programs) all() map[string][]string {
	parts := map[string][]string{}
	for _, path := range p.guidon {
		parts["command"] = append(parts["command"], path)
	}
	for _, functions := range p.functions {
		for _, path := range functions {
			parts["functions"] = append(parts["functions"], path)
		}
	}
	return parts
}
