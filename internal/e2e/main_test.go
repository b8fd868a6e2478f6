package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"guidon/internal/engine"
)

// binary is the path of guidon, built once for all tests of this package; root is the repository.
var binary, root string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "guidon-e2e-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests need a gateway:", err)
		return 1
	}
	return m.Run()
}

func build(dir string) (err error) {
	if root, err = engine.Root(); err != nil {
		return err
	}
	binary = filepath.Join(dir, "guidon")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/guidon")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
