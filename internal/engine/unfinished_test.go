package engine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBegin checks that a start deletes unfinished data only. Finished data, and data without a marker, is kept.
func TestBegin(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data.db")
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	again := func(want bool, when string) {
		t.Helper()
		if err := begin(data); err != nil {
			t.Fatal(err)
		}
		if exists(data) != want {
			t.Errorf("%s: the data exists: %v, want %v", when, !want, want)
		}
	}
	write(data)
	again(true, "data without a marker")
	if exists(markerOf(data)) {
		t.Error("existing data got a marker")
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	again(false, "new data")
	write(data)
	write(data + "-wal")
	again(false, "data that was never finished")
	if exists(data + "-wal") {
		t.Error("its log exists, want it deleted too")
	}
	write(data)
	if err := (&Engine{data: data}).Finish(); err != nil {
		t.Fatal(err)
	}
	again(true, "finished data")
	if err := (&Engine{data: data}).Finish(); err != nil {
		t.Errorf("finished twice: %v", err)
	}
}
