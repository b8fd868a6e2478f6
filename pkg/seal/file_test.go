package seal

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestFromFileAtOnce is several processes that start over a folder without a key file.
func TestFromFileAtOnce(t *testing.T) {
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
		t.Errorf("files %v, %v; want the key alone", left, err)
	}
}

func TestFromFileThatCannotBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token.key")
	if err := os.WriteFile(path, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(path); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "sesame") {
		t.Errorf("error %v, want one that names the file and not what is in it", err)
	}
	if _, err := FromFile(filepath.Dir(path)); err == nil {
		t.Error("a folder was taken for a key file")
	}
}
