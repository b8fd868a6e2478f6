package infra_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// nightly are the steps that .ci/changed decides about in these tests.
var nightly = []string{"test-sam", "test-image", "test-deploy", "test-release", "test-migration", "test-upgrade", "test-clients-more"}

// A repository is a Git repository of its own, with .ci/changed and one commit.
type repository struct{ folder string }

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.folder, ".ci"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.folder, ".ci/changed"), []byte(read(t, "../.ci/changed")), 0o755); err != nil {
		t.Fatal(err)
	}
	r.git(t, "init", "--quiet", "--initial-branch=main")
	r.commit(t, "go.mod")
	return r
}

func (r repository) run(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Dir = r.folder
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t")
	var failure bytes.Buffer
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, failure.String())
	}
	return strings.TrimSpace(string(out))
}

func (r repository) git(t *testing.T, arguments ...string) string {
	t.Helper()
	return r.run(t, "git", arguments...)
}

// write changes a file.
func (r repository) write(t *testing.T, path, content string) {
	t.Helper()
	file := filepath.Join(r.folder, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// commit changes a file and commits it. It returns the commit.
func (r repository) commit(t *testing.T, path string) string {
	t.Helper()
	r.write(t, path, path)
	r.git(t, "add", ".")
	r.git(t, "commit", "--quiet", "--message", path)
	return r.git(t, "rev-parse", "HEAD")
}

// changed returns the steps that .ci/changed prints.
func (r repository) changed(t *testing.T) []string {
	t.Helper()
	return strings.Fields(r.run(t, "bash", append([]string{".ci/changed"}, nightly...)...))
}

// TestStepsOfChangedFiles checks which nightly steps .ci/run adds for a changed file.
func TestStepsOfChangedFiles(t *testing.T) {
	t.Setenv("BASE", "HEAD")
	r := newRepository(t)
	for path, want := range map[string]string{
		"README.md":                     "",
		"pkg/admin/features/change.go":  "",
		"console/src/main.tsx":          "",
		".ci/verified":                  "",
		"pkg/dynamo/send.go":            "test-upgrade",
		"Makefile":                      "test-sam test-image test-deploy test-release test-migration",
		".ci/run":                       "test-sam test-image test-deploy test-release test-migration",
		"template.yaml":                 "test-sam test-deploy test-release",
		"functions/features/main.go":    "test-sam test-deploy",
		"docs/operations/runbook.md":    "test-deploy",
		"pkg/server/http.go":            "test-image test-release",
		"cmd/guidon/migrate.go":         "test-migration",
		"pkg/edge/http.go":              "test-migration",
		"pkg/edge/bucket_test.go":       "test-deploy",
		"internal/clients/java/pom.xml": "test-clients-more",
		"console/package-lock.json":     "test-release",
	} {
		r.write(t, path, "changed")
		if got := r.changed(t); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: runs %v, want %s", path, got, want)
		}
		r.git(t, "clean", "--quiet", "-ffdx")
	}
}

// TestAreasExist checks that every pattern in .ci/changed matches a file, so that a folder that moves takes its area along.
func TestAreasExist(t *testing.T) {
	_, areas, _ := strings.Cut(read(t, "../.ci/changed"), "\narea() {\n")
	areas, _, _ = strings.Cut(areas, "\n}\n")
	patterns := regexp.MustCompile(`[\w.*-]+(?:/[\w.*-]+)+`).FindAllString(areas, -1)
	if len(patterns) < 40 {
		t.Fatalf("only these patterns were found in .ci/changed: %v", patterns)
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 && pattern != ".ci/verified" {
			t.Errorf(".ci/changed has %s, which matches no file", pattern)
		}
	}
}

// TestBaseOfChanges checks what .ci/changed compares with.
func TestBaseOfChanges(t *testing.T) {
	everything := strings.Join(nightly, " ")
	for name, test := range map[string]struct {
		prepare func(r repository)
		want    string
	}{
		"nothing to compare with": {func(repository) {}, everything},
		"verified": {func(r repository) {
			r.write(t, ".ci/verified", r.commit(t, "internal/e2e/image_test.go"))
			r.commit(t, "pkg/version/version.go")
		}, "test-release"},
		"verified in another history": {func(r repository) { r.write(t, ".ci/verified", strings.Repeat("0", 40)) }, everything},
		"a branch": {func(r repository) {
			r.git(t, "update-ref", "refs/remotes/origin/main", "HEAD")
			r.commit(t, "internal/e2e/image_test.go")
			r.commit(t, "README.md")
		}, "test-image"},
		"main itself": {func(r repository) {
			r.write(t, ".ci/verified", r.commit(t, "README.md"))
			r.commit(t, "internal/e2e/image_test.go")
			r.git(t, "update-ref", "refs/remotes/origin/main", "HEAD")
		}, "test-image"},
		"BASE, on a branch": {func(r repository) {
			r.git(t, "update-ref", "refs/remotes/origin/main", "HEAD")
			r.commit(t, "internal/e2e/image_test.go")
			t.Setenv("BASE", r.git(t, "rev-parse", "HEAD"))
			r.commit(t, "pkg/version/version.go")
		}, "test-release"},
		"BASE without a commit": {func(r repository) {
			t.Setenv("BASE", "missing")
			r.write(t, ".ci/verified", r.git(t, "rev-parse", "HEAD"))
		}, everything},
		"a deleted file": {func(r repository) {
			r.write(t, ".ci/verified", r.commit(t, "internal/e2e/image_test.go"))
			r.git(t, "rm", "--quiet", "internal/e2e/image_test.go")
		}, "test-image"},
		"no change": {func(r repository) { r.write(t, ".ci/verified", r.git(t, "rev-parse", "HEAD")) }, ""},
	} {
		t.Setenv("BASE", "")
		r := newRepository(t)
		test.prepare(r)
		if got := r.changed(t); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: runs %v, want %s", name, got, test.want)
		}
	}
	t.Setenv("BASE", "")
	r := newRepository(t)
	r.write(t, ".ci/verified", r.git(t, "rev-parse", "HEAD"))
	r.commit(t, "README.md")
	r.git(t, "clone", "--quiet", "--depth=1", "file://"+r.folder, "shallow")
	if got := (repository{filepath.Join(r.folder, "shallow")}).changed(t); !slices.Equal(got, nightly) {
		t.Errorf("a shallow clone: runs %v, want %s", got, everything)
	}
}
