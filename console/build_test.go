package console

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// toy is a web project without packages. Its build counts itself and writes what its source says.
var toy = map[string]string{
	"infra/openapi.json": "{}",
	"console/package.json": `{"name":"toy","version":"0.0.0","scripts":{"licences":"echo none > \"$CONSOLE_DIST/licences.txt\"",
		"build":"sh build.sh"}}`,
	"console/package-lock.json": `{"name":"toy","version":"0.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"toy","version":"0.0.0"}}}`,
	"console/build.sh": `set -e
echo built >> ../builds
[ ! -f src/edited ] || mv src/edited src/name
name=index-$(cat src/name).js
mkdir "$CONSOLE_DIST/assets"
echo "$name" > "$CONSOLE_DIST/assets/$name"
gzip -k "$CONSOLE_DIST/assets/$name"
echo "$name" > "$CONSOLE_DIST/index.html"
[ ! -f src/broken ]
`,
	"console/src/name": "one",
}

// TestBuild runs the script behind make console in a project without packages.
func TestBuild(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range toy {
		write(name, content)
	}
	script, err := os.ReadFile("build")
	if err != nil {
		t.Fatal(err)
	}
	write("console/build", string(script))
	write("console/dist/.gitignore", "*")
	build := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(root, "console", "build")).CombinedOutput()
		return string(out), err
	}
	// want checks the files of the console, and how often it was built.
	want := func(builds int, asset string) {
		t.Helper()
		counted, _ := os.ReadFile(filepath.Join(root, "builds"))
		if got := strings.Count(string(counted), "built"); got != builds {
			t.Errorf("%d builds, want %d", got, builds)
		}
		assets, err := os.ReadDir(filepath.Join(root, "console", "dist", "assets"))
		if err != nil || len(assets) != 1 || assets[0].Name() != asset {
			t.Errorf("the assets are %v (%v), want only %s", assets, err, asset)
		}
		for _, left := range []string{"console/.lock", "console/.lock.stale", "console/.new", "console/.new.log"} {
			if _, err := os.Lstat(filepath.Join(root, left)); err == nil {
				t.Errorf("%s is left", left)
			}
		}
	}

	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if out, err := build(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	want(1, "index-one.js.gz")

	if out, err := build(); err != nil || out != "" {
		t.Errorf("without a change: %v, %s; want nothing to do", err, out)
	}
	want(1, "index-one.js.gz")

	write("console/src/name", "two")
	// What a build leaves that was killed: its lock, with a process that does not exist.
	if err := os.Symlink("99999999", filepath.Join(root, "console", ".lock")); err != nil {
		t.Fatal(err)
	}
	if out, err := build(); err != nil {
		t.Errorf("after a killed build: %v: %s", err, out)
	}
	want(2, "index-two.js.gz")

	// What is edited during a build, and then edited back, is built again.
	for range 2 {
		write("console/src/name", "two")
		write("console/src/edited", "three")
		if out, err := build(); err != nil {
			t.Errorf("an edit during the build: %v: %s", err, out)
		}
	}
	want(4, "index-three.js.gz")

	write("console/src/broken", "")
	if out, err := build(); err == nil || !strings.Contains(out, "the build of console failed") {
		t.Errorf("a failed build: %v: %s, want an error that says so", err, out)
	}
	want(5, "index-three.js.gz")
}
