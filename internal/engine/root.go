package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Root is the folder of the repository: the nearest one upwards of the working directory that holds go.mod. Tests run
// in their package's folder and the gateway wherever it was called, and all share what was fetched once.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run this inside the repository: no folder upwards of the working directory has a go.mod")
		}
		dir = parent
	}
}

// LocalDir is where everything goes that is fetched or kept on this machine: GUIDON_LOCAL, or .local in Root.
func LocalDir() (string, error) {
	if dir := os.Getenv("GUIDON_LOCAL"); dir != "" {
		return filepath.Abs(dir)
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, ".local"), nil
}
