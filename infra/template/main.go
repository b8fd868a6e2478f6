// Command template checks what template.yaml becomes, after its transforms, for what the tools of AWS do not see. It
// reads what transform.py prints for the parameters' defaults, and for a deployment that sets everything. Then it puts a
// fault of each kind into them, to see that it would be found.
//
//	go run ./infra/template DEFAULTS.json EVERYTHING.json
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(files []string) error {
	if len(files) != 2 {
		return errors.New("usage: template DEFAULTS.json EVERYTHING.json")
	}
	stacks, err := read(files)
	if err != nil {
		return err
	}
	failed := 0
	for i, s := range stacks {
		for _, check := range checks {
			for _, problem := range check.find(s) {
				failed++
				fmt.Fprintf(os.Stderr, "%s: %s: %s\n", files[i], check.name, problem)
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("the template has %d problems", failed)
	}
	for _, fault := range faults {
		if stacks, err = read(files); err != nil {
			return err
		}
		seen := false
		for _, s := range stacks {
			fault.put(s)
			seen = seen || finds(fault.check, s)
		}
		if !seen {
			failed++
			fmt.Fprintf(os.Stderr, "the check %q does not find this fault: %s\n", fault.check, fault.name)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d faults would not be found", failed)
	}
	fmt.Printf("%d resources pass %d checks, which find each of %d faults\n", len(stacks[1].Resources), len(checks), len(faults))
	return nil
}

// read reads the two stacks.
func read(files []string) (stacks []*stack, err error) {
	for i, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // the file that the caller names
		if err != nil {
			return nil, err
		}
		s := &stack{everything: i == 1}
		if err := json.Unmarshal(raw, s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		stacks = append(stacks, s)
	}
	return stacks, nil
}

// finds tells whether the check of a name finds anything.
func finds(name string, s *stack) bool {
	for _, check := range checks {
		if check.name == name {
			return len(check.find(s)) > 0
		}
	}
	return false
}
