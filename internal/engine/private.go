package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// privateFolder creates the folder of the data, or removes the access of the group and of others.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the folder of the data cannot be created, DATA_DIR sets another one: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 { // such as /tmp: other users need it
		return fmt.Errorf("%s is shared with other users, and the data is secret: set DATA_DIR to a folder of your own", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("other users can read %s, and the data is secret: set DATA_DIR to a folder of your own, or start the server as "+
			"the owner of the folder: %w", dir, err)
	}
	return nil
}

// privateFiles removes the access of other users to the files whose names begin with that of the data: the data, SQLite's
// log and shared memory, and the lock.
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

// createFile creates an empty data file that only this user can read. SQLite creates its other files with the same mode.
func createFile(data string) error {
	f, err := os.OpenFile(data, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
