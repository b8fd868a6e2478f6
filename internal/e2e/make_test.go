package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func makeReset(t *testing.T, data string) (string, error) {
	t.Helper()
	cmd := exec.Command("make", "--no-print-directory", "reset", "DATA_DIR="+data)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// make reset deletes the data of a stopped server only, and no other file in the folder.
func TestReset(t *testing.T) {
	g := start(t)
	if out, err := makeReset(t, g.data); err == nil || !strings.Contains(out, "stop it") {
		t.Fatalf("make reset while the server runs: %v, %s; want a refusal", err, out)
	}
	g.do(t, 201, "POST", project+"/features", `{"name":"kept"}`, nil)
	g.stop(t)
	other := filepath.Join(g.data, "notes.txt")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := makeReset(t, g.data); err != nil {
		t.Fatalf("make reset: %v\n%s", err, out)
	}
	left, err := os.ReadDir(g.data)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("the folder contains %v, want notes.txt only", left)
	}
	if out, err := makeReset(t, g.data); err != nil || !strings.Contains(out, "there is no data in "+g.data) {
		t.Errorf("make reset without data: %v, %s; want it to say so", err, out)
	}
	again := g.again(t)
	again.do(t, 404, "GET", project+"/features/kept", "", nil)
}

// make release refuses a version that the shell would run. In the workflow it comes from the name of a tag.
func TestReleaseVersion(t *testing.T) {
	for _, version := range []string{"1';touch RAN;'", "1.2.3`touch RAN`", "1.2.3\";touch RAN;\""} {
		ran := filepath.Join(t.TempDir(), "ran")
		cmd := exec.Command("make", "--no-print-directory", "release", "VERSION="+strings.ReplaceAll(version, "RAN", ran))
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not a semantic version") {
			t.Errorf("VERSION=%s: %v, %s; want a refusal", version, err, out)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("VERSION=%s was run by the shell", version)
		}
	}
}
