// Package clientspec downloads @unleash/client-specification: sets of flags with all strategies, constraints, segments and
// variants, which every SDK of Unleash evaluates in its tests.
package clientspec

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"guidon/internal/engine"
)

const (
	name    = "@unleash/client-specification"
	version = "6.1.0"
)

// A Suite is one file of the specification.
type Suite struct {
	Name string // of the file, without .json
	JSON []byte
}

// Load returns the suites in the order of the specification. npm downloads it once, and reports that to log.
func Load(ctx context.Context, log io.Writer) ([]Suite, error) {
	dir, err := engine.NPM(ctx, name, version, log)
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w", name, err)
	}
	dir = filepath.Join(dir, "specifications")
	index, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil, err
	}
	var files []string
	if err := json.Unmarshal(index, &files); err != nil {
		return nil, fmt.Errorf("the index of %s: %w", name, err)
	}
	suites := make([]Suite, len(files))
	for i, file := range files {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		suites[i] = Suite{strings.TrimSuffix(file, ".json"), raw}
	}
	return suites, nil
}
