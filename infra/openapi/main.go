// Command openapi generates infra/openapi.json, the OpenAPI description of the API: `make openapi`.
//
// Routes, permissions, statuses and schemas come from the operations and Go types of pkg/httpapi (api.go, document.go,
// schema.go). Descriptions, examples and limits are in words/, one YAML file for each area; a new operation or field needs an
// entry there. Tests check that no entry is missing or unused, and that infra/openapi.json is up to date.
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

// committed is the path of the description in the repository.
const committed = "infra/openapi.json"
