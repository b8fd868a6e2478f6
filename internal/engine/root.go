package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Root returns the folder of the repository: the nearest parent of the working directory with Guidon's go.mod. Tests run in
// the folder of their package, and all share the downloads.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		file, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(file, []byte("module guidon\n")) {
			return dir, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run this inside the repository of Guidon: no folder upwards of the working directory has its go.mod")
		}
		dir = parent
	}
}

// LocalDir returns the folder for downloads and data on this machine: GUIDON_LOCAL, or .local in the repository, or the
// user's configuration folder for a `guidon serve` outside of the repository.
func LocalDir() (string, error) {
	if dir := os.Getenv("GUIDON_LOCAL"); dir != "" {
		return filepath.Abs(dir)
	}
	if root, err := Root(); err == nil {
		return filepath.Join(root, ".local"), nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("set GUIDON_LOCAL to a folder for downloads and data, because this user has no folder for configurations: %w", err)
	}
	return filepath.Join(dir, "guidon"), nil
}
