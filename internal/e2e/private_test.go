//go:build !windows

package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestDataIsPrivate starts a server with umask 0 over a data folder that others may read and write. Afterwards only the
// owner has access to the folder, to new files and to those of an earlier version.
func TestDataIsPrivate(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first := startOn(t, freePort(t), data)
	first.kill(t) // SQLite's log and shared memory stay
	loosen(t, data)

	g := startWithoutUmask(t, data)
	g.do(t, 201, "POST", project+"/features", `{"name":"private"}`, nil)
	private(t, data, "guidon.db", "guidon.db-wal", "guidon.db-shm", "guidon.db.lock", "guidon.db.engine", "token.key")
	g.stop(t)

	// New data in an open folder.
	fresh := filepath.Join(t.TempDir(), "fresh")
	if err := os.Mkdir(fresh, 0o700); err != nil {
		t.Fatal(err)
	}
	loosen(t, fresh)
	g = startWithoutUmask(t, fresh)
	private(t, fresh, "guidon.db", "guidon.db-wal", "guidon.db-shm", "guidon.db.lock", "guidon.db.engine", "token.key")
	g.stop(t)
}

func startWithoutUmask(t *testing.T, data string) *gateway {
	t.Helper()
	port := freePort(t)
	settings := []string{"PORT=" + port, "DATA_DIR=" + data}
	cmd := exec.Command("sh", "-c", `umask 0; exec "$0" serve`, binary)
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), settings...)
	return serving(t, follow(t, cmd, settings), port, data, nil)
}

// loosen lets all users read and write a folder and its files.
func loosen(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o666)
		if entry.IsDir() {
			mode = 0o777
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// private checks that only the owner has access to a folder and its files, which include these.
func private(t *testing.T, dir string, names ...string) {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[entry.Name()] = true
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !found[name] {
			t.Errorf("%s is missing: found %v", name, found)
		}
	}
}
