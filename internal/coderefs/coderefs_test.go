package coderefs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/internal/coderefs"
)

// checkout returns a git checkout with these files, of which nothing is committed.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := coderefs.Git(t.Context(), dir, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestScan(t *testing.T) {
	t.Parallel()
	dir := checkout(t, map[string]string{
		".gitignore":      "build/\n*.log\n",
		"build/a.js":      `"new-checkout"`,
		"x.log":           `"new-checkout"`,
		"src/a.go":        "package a\n\nif c.IsEnabled(\"new-checkout\") || c.IsEnabled(\"new-checkout\") {}\n// new-checkout, and not new-checkout-2 or my-new-checkout.\n",
		"src/b.py":        "client.is_enabled('checkout')\ncheckout = checkout\nflag = old.banner.\nclient.is_enabled( 'typo' )\nclient.get_boolean_value(\"typo2\", False)\n",
		"src/c.go":        "v, _ := client.BooleanValue(ctx, `new-checkout`, false, evalCtx)\nx := wrapperspb.StringValue(\"unrelated\")",
		"src/d.tsx":       "const on = useFlag(name)\nconst x = useVariant(\"typo3\")",
		"values.yaml":     "flag: new-checkout\n",
		"logo.png":        "\x89PNG\x00\"new-checkout\"",
		"vendor/x.js":     "'new-checkout'",
		"huge.json":       strings.Repeat(" ", 16<<20+1) + `"new-checkout"`,
		"without/newline": `"new-checkout"`,
		"Ünï cöde.js":     `"new-checkout"`,
	})
	if err := os.Symlink("src/a.go", filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	if _, err := coderefs.Git(t.Context(), dir, "add", "src/d.tsx"); err != nil { // tracked and untracked files alike
		t.Fatal(err)
	}
	names := map[string]bool{"new-checkout": true, "checkout": true, "old.banner": true, "unused-flag": true}
	got, err := coderefs.Of(t.Context(), dir, names, []string{"vendor"})
	if err != nil {
		t.Fatal(err)
	}
	want := &coderefs.Scan{
		Files:   8,
		Partial: []string{`"huge.json" is larger than 16 MiB, or has a path that cannot be stored`},
		Found: []coderefs.Reference{
			{"new-checkout", "src/a.go", 3, 2}, {"checkout", "src/b.py", 1, 1}, {"old.banner", "src/b.py", 3, 1}, {"new-checkout", "src/c.go", 1, 1},
			{"new-checkout", "values.yaml", 1, 1}, {"new-checkout", "without/newline", 1, 1}, {"new-checkout", "Ünï cöde.js", 1, 1},
		},
		Asked: []coderefs.Reference{
			{"new-checkout", "src/a.go", 3, 2}, {"checkout", "src/b.py", 1, 1}, {"typo", "src/b.py", 4, 1}, {"typo2", "src/b.py", 5, 1},
			{"new-checkout", "src/c.go", 1, 1}, {"typo3", "src/d.tsx", 2, 1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestScanOfManyReferences stops at 10,000 references, and says so.
func TestScanOfManyReferences(t *testing.T) {
	t.Parallel()
	files, names := map[string]string{}, map[string]bool{}
	var all strings.Builder
	for i := range 101 {
		names[fmt.Sprintf("flag-%d", i)] = true
		_, _ = fmt.Fprintf(&all, "\"flag-%d\"\n", i)
	}
	for i := range 100 {
		files[fmt.Sprintf("f%d", i)] = all.String()
	}
	got, err := coderefs.Of(t.Context(), checkout(t, files), names, nil)
	if err != nil || len(got.Found) != 10_000 || len(got.Partial) != 1 {
		t.Errorf("%d references, %v, %v", len(got.Found), got.Partial, err)
	}
}

// TestGrowthBook reads the form that gb-find-code-refs writes, in which later references in a file have no path.
func TestGrowthBook(t *testing.T) {
	t.Parallel()
	repository, branch, found, err := coderefs.GrowthBook([]byte(`{"branch":"main","repoName":"shop","refs":[
		{"filePath":"a.go","startingLineNumber":3,"lines":"if on(\"a\")","flagKey":"a","contentHash":"x"},{"filePath":"","startingLineNumber":9,"flagKey":"a"},
		{"filePath":"b.go","startingLineNumber":0,"flagKey":"a"},{"filePath":"b.go","startingLineNumber":7,"flagKey":"a"},{"filePath":"b.go","startingLineNumber":7,"flagKey":"other"}]}`),
		map[string]bool{"a": true})
	want := []coderefs.Reference{{"a", "a.go", 3, 1}, {"a", "b.go", 1, 2}}
	if diff := cmp.Diff(want, found); diff != "" || repository != "shop" || branch != "main" || err != nil {
		t.Errorf("%s %s %v\n%s", repository, branch, err, diff)
	}
	for _, other := range []string{`[]`, `null`, `{}`, `{"x":1}`, ""} {
		if _, _, _, err := coderefs.GrowthBook([]byte(other), nil); err == nil {
			t.Errorf("%q is accepted", other)
		}
	}
}

// TestSparse checks that a checkout from which git has left out files is no full scan.
func TestSparse(t *testing.T) {
	t.Parallel()
	dir := checkout(t, map[string]string{"a.go": `"a"`, "b/b.go": `"a"`})
	for _, args := range [][]string{{"add", "."}, {"update-index", "--skip-worktree", "b/b.go"}} {
		if _, err := coderefs.Git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	got, err := coderefs.Of(t.Context(), dir, map[string]bool{"a": true}, nil)
	if err != nil || len(got.Partial) != 1 || !strings.Contains(got.Partial[0], "sparse") {
		t.Errorf("%+v, %v, want a partial scan", got, err)
	}
}
