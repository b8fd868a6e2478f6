package template

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBuildShipsTheCurrentCode builds a function as `sam build` does, which calls make, changes one line of a package
// that it links, and builds it again. The builds share only Go's cache.
func TestBuildShipsTheCurrentCode(t *testing.T) {
	root, source := t.TempDir(), filepath.Join("..", "..")
	for _, name := range []string{"Makefile", "go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join("functions", "aggregate"), "infra", "pkg"} {
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join(source, name))); err != nil {
			t.Fatal(err)
		}
	}
	first, again := build(t, root), build(t, root)
	if !bytes.Equal(first, again) {
		t.Errorf("the same code builds a different binary, so every deployment would publish new versions")
	}
	changed := filepath.Join(root, "pkg", "aggregate", "aggregate.go")
	code, err := os.ReadFile(changed)
	if err != nil {
		t.Fatal(err)
	}
	code = append(code, "\nfunc init() { println(\"changed\") }\n"...)
	if err := os.WriteFile(changed, code, 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, build(t, root)) {
		t.Errorf("a change in pkg/ does not change the binary, so the old code would be deployed")
	}
}

// build builds the function Aggregate and checks that Lambda can run it.
func build(t *testing.T, root string) []byte {
	t.Helper()
	artifacts := t.TempDir()
	cmd := exec.Command("make", "build-AggregateFunction", "ARCH=arm64", "ARTIFACTS_DIR="+artifacts)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s", err, out)
	}
	built := filepath.Join(artifacts, "bootstrap")
	file, err := elf.Open(built)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Machine != elf.EM_AARCH64 || file.Section(".symtab") != nil || file.Section(".interp") != nil {
		t.Errorf("machine %s, symbols: %t, dynamic linker: %t; expected a stripped, static binary for arm64",
			file.Machine, file.Section(".symtab") != nil, file.Section(".interp") != nil)
	}
	content, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
