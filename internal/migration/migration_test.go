//go:build migration

// Package migration tests that a team can move from Unleash to Guidon and back, with a real Unleash: `make test-migration`.
//
// It starts Unleash with its own PostgreSQL and fills it through its API with the flags of @unleash/client-specification, and
// with more flags for what those lack (extras_test.go). `guidon migrate` then moves everything into an empty Guidon: as a dry run,
// for real, once more, and once killed halfway. Then it moves everything from Guidon into a second, empty Unleash. The test reads
// and compares the contents of all servers without using the command's own code, and that Guidon's log has an event for each change. A difference that
// expected_test.go does not list is an error, and so is a listed difference that is missing.
package migration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"guidon/internal/engine"
	"guidon/internal/unleash"
)

// A test has the programs and servers of a run.
type test struct {
	*testing.T
	root, folder string // of the repository, and for data
	guidonPath   string // the program
	postgres     *unleash.Postgres
}

// newTest builds the program and starts PostgreSQL.
func newTest(tt *testing.T) *test {
	t := &test{T: tt}
	root, err := engine.Root()
	t.must(err)
	folder, err := os.MkdirTemp("", "guidon-migration-") // not t.TempDir, whose parent is closed to PostgreSQL's user
	t.must(err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	t.root, t.folder, t.guidonPath = root, folder, filepath.Join(folder, "guidon")
	build := exec.Command("go", "build", "-o", t.guidonPath, "./cmd/guidon")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building ./cmd/guidon: %v\n%s", err, out)
	}
	t.postgres, err = unleash.StartPostgres(t.Context(), folder)
	t.must(err)
	t.Cleanup(t.postgres.Stop)
	return t
}

func (t *test) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
