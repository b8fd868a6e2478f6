package seal

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestConcurrentFromFile simulates several processes that start in a directory without a key file.
func TestConcurrentFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "token.key")
	sealed := make([]string, 8)
	var wg sync.WaitGroup
	for i := range sealed {
		wg.Go(func() {
			b, err := FromFile(path)
			if err != nil {
				t.Error(err)
				return
			}
			sealed[i] = b.Seal(secret, hash)
		})
	}
	wg.Wait()
	b, err := FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sealed {
		if got, err := b.Open(s, hash); got != secret {
			t.Errorf("opened %q, %v; want every process to have the same key", got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("mode %o, want 600", mode)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v; want only the key file", left, err)
	}
}

func TestInvalidKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token.key")
	if err := os.WriteFile(path, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(path); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "sesame") {
		t.Errorf("error %v, want one with the path but not the content of the file", err)
	}
	if _, err := FromFile(filepath.Dir(path)); err == nil {
		t.Error("a directory was accepted as a key file")
	}
}
