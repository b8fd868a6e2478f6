//go:build release && linux

package e2e

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// buildTwice builds a release in the repository and one in a copy of it, compares them, and returns the folder of the second.
// The copy has no Git, no npm packages and no built console.
func buildTwice(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	first, second, source := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "a longer path", "source")
	makeRelease(t, root, first)

	copySource(t, source)
	env := []string{"GUIDON_LOCAL=" + filepath.Join(dir, "local"), "TZ=Pacific/Auckland"}
	if os.Getenv("TRUST") == "long" {
		env = append(env, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	makeRelease(t, source, second, env...)

	if sums, again := sumsOf(t, first), sumsOf(t, second); sums != again {
		t.Fatalf("two builds of the same source differ:\n%s\n%s", sums, again)
	}
	return second
}

// makeRelease runs `make release` in a folder with the source.
func makeRelease(t *testing.T, source, out string, settings ...string) {
	t.Helper()
	args := []string{"--no-print-directory", "release", "VERSION=" + releaseVersion, "OUT=" + out}
	if os.Getenv("TRUST") != "long" {
		args = append(args, "PLATFORMS=linux-"+runtime.GOARCH, "ARCHITECTURES="+hostArchitecture())
	}
	cmd := exec.Command("make", append(args, settings...)...)
	cmd.Dir = source
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "MAKE") })
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, printed)
	}
}

func hostArchitecture() string {
	return map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
}

// architectures are those of the release.
func architectures() []string {
	if os.Getenv("TRUST") == "long" {
		return []string{"arm64", "x86_64"}
	}
	return []string{hostArchitecture()}
}

// copySource copies the files of the repository, without what was installed and built, which Git ignores.
func copySource(t *testing.T, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `git ls-files --cached --others --exclude-standard -z |
		tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"`, "sh", to) // a deleted file cannot be read
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if built, err := filepath.Glob(filepath.Join(to, "console", "dist", "[^.]*")); err != nil || len(built) > 0 {
		t.Fatalf("the copy has %v, %v; want no built console", built, err)
	}
}

// sumsOf checks the files of a release against its checksums, and returns these.
func sumsOf(t *testing.T, release string) string {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(release, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	listed := []string{"SHA256SUMS"}
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed = append(listed, name)
		content, err := os.ReadFile(filepath.Join(release, name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the checksum %x, and SHA256SUMS says %s", name, sum, want)
		}
	}
	entries, err := os.ReadDir(release)
	if err != nil || len(entries) != len(listed) {
		t.Errorf("the release has %d files, and SHA256SUMS lists %v, %v", len(entries), listed, err)
	}
	return string(sums)
}

// unpackArchive unpacks the archive of an architecture into an empty folder, and returns the folder in it.
func unpackArchive(t *testing.T, release, architecture string) string {
	t.Helper()
	name, dir := "guidon-"+releaseVersion+"-aws-"+architecture, t.TempDir()
	for _, file := range unzip(t, filepath.Join(release, name+".zip"), dir) {
		if !strings.HasPrefix(file, name+"/") {
			t.Errorf("the archive has the file %s, want all in the folder %s", file, name)
		}
	}
	return filepath.Join(dir, name)
}

// unzip unpacks an archive into a folder, and returns the names of its files.
func unzip(t *testing.T, archive, dir string) (names []string) {
	t.Helper()
	r, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		names = append(names, f.Name)
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		packed, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(packed)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if err := os.WriteFile(path, content, f.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, f.Mode().Perm()); err != nil { // the umask may have removed some of it
			t.Fatal(err)
		}
	}
	return names
}
