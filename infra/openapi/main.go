// Command openapi writes the description of the interface, infra/openapi.json, from the route tables and wire types of
// pkg/httpapi: `make openapi`.
//
// Routes, permissions, statuses and the shapes of bodies come from the code by reflection (document.go, schema.go). What
// code cannot say, words and examples, is in tables: operations*.go for the operations and members.go for the members of
// their bodies. Tests see that nothing is missing in them, that nothing in them is left over, and that the committed file
// is the one that this command would write. No function links any of it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"guidon/internal/engine"
)

//go:generate go run .

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	document, err := render()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(committed)), document, 0o644) //nolint:gosec // a file of the repository
}

// committed is where the description lies in the repository.
const committed = "infra/openapi.json"
