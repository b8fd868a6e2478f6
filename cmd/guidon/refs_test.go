package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"guidon/internal/coderefs"
)

// TestRefs reports the references of a checkout, and fails with --check for names that are archived or unknown.
func TestRefs(t *testing.T) {
	create(t, "/api/admin/projects", `{"id":"refs","name":"Refs"}`)
	for _, name := range []string{"refs-kept", "refs-unused", "refs-archived"} {
		createFlag(t, "refs", name)
	}
	send(t, "DELETE", "/api/admin/projects/refs/features/refs-archived", "")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if _, err := coderefs.Git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet", "--initial-branch", "main")
	git("remote", "add", "origin", "git@github.com:example/shop.git")
	write("if c.IsEnabled(\"refs-kept\") {\n")
	git("add", ".")
	git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "a")

	const table = "FLAG       PATH  LINE  COUNT\nrefs-kept  a.go  1     1\n"
	if got := must(t, "refs "+dir+" --project refs --dry-run --check"); got != table {
		t.Errorf("dry run: %s", got)
	}
	if got := call(t, nil, "GET", "/api/admin/projects/refs/code-references", ""); got != `{"repositories":[]}` {
		t.Errorf("a dry run reports %s", got)
	}
	for range 2 { // it can be repeated
		if r := guidon(t, "refs "+dir+" --project refs"); r.code != 0 || r.out != table || r.messages != "Reported 1 references of example/shop to 2 flags of project refs.\n" {
			t.Errorf("%+v", r)
		}
	}
	for _, want := range []string{`"branch":"main"`, `"path":"a.go"`, `"url":"https://github.com/example/shop/blob/`, `/a.go#L1"`, `"The code names it: example/shop."`} {
		if got := call(t, nil, "GET", "/api/admin/projects/refs/archivable/refs-kept", ""); !strings.Contains(got, want) {
			t.Errorf("the flag has %s, want %s", got, want)
		}
	}
	if got := must(t, "flag stale --project refs"); !strings.Contains(got, "refs-unused  false            It is off only since") || strings.Contains(got, "refs-archived") {
		t.Errorf("flag stale prints\n%s", got)
	}

	write("c.IsEnabled(\"refs-archived\")\nc.IsEnabled(\"refs-typo\")\n")
	if r := guidon(t, "refs "+dir+" --project refs --dry-run --check"); r.code != exitReferences || r.messages != "a.go:1: flag \"refs-archived\" is archived.\na.go:2: there is no flag \"refs-typo\".\n" {
		t.Errorf("%+v", r)
	}

	growthBook := filepath.Join(t.TempDir(), "refs.json")
	if err := os.WriteFile(growthBook, []byte(`{"branch":"main","repoName":"other","refs":[{"filePath":"b.js","startingLineNumber":4,"flagKey":"refs-kept"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := guidon(t, "refs "+dir+" --project refs --growthbook "+growthBook); r.code != 0 || !strings.Contains(r.messages, "1 references of other to 2 flags") {
		t.Errorf("%+v", r)
	}
	if r := guidon(t, "refs "+t.TempDir()+" --project refs"); r.code == 0 || !strings.Contains(r.messages, "not a git repository") {
		t.Errorf("without a checkout: %+v", r)
	}
}
