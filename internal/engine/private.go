package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// privateFolder creates the folder of the data, or takes the group's and others' access to it away.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 { // such as /tmp: other users need it
		return fmt.Errorf("%s is a folder that users share, and the data is secret: choose a folder of your own in DATA_DIR", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("other users can read %s, and the data is secret: choose a folder of your own in DATA_DIR: %w", dir, err)
	}
	return nil
}

// privateFiles makes the files whose names begin with that of the data readable by this user only: the data, SQLite's
// log and shared memory, the lock.
func privateFiles(data string) error {
	dir, name := filepath.Split(data)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), name) {
			continue
		}
		mode := fs.FileMode(0o600)
		if entry.IsDir() {
			mode = 0o700
		}
		if err := os.Chmod(filepath.Join(dir, entry.Name()), mode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// createFile creates an empty data file for this user only. SQLite gives the files that it creates beside it the same mode.
func createFile(data string) error {
	f, err := os.OpenFile(data, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
