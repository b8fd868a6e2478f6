package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// change matches a block of CONTRIBUTING.md that changes a file.
var change = regexp.MustCompile("(?ms)^```diff\n--- (\\S+)\n(.*?)^```$")

// TestContributing applies the examples "Add an operation" and "Add a field" of CONTRIBUTING.md, generates the API description, and
// runs the tests in the examples. Go's overlay replaces the files, so the repository stays as it is.
func TestContributing(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{} // the changed files
	for _, block := range change.FindAllStringSubmatch(string(page), -1) {
		path := block[1]
		if _, changed := files[path]; !changed {
			source, err := os.ReadFile(filepath.Join(root, path))
			if err != nil && !strings.HasSuffix(path, "_test.go") { // a test is a new file
				t.Fatal(err)
			}
			files[path] = string(source)
		}
		files[path] = applied(t, path, files[path], block[2])
	}
	if len(files) < 10 {
		t.Fatalf("CONTRIBUTING.md changes only %d files", len(files))
	}
	program := filepath.Join(t.TempDir(), "openapi")
	goTool(t, "build", "-overlay", overlayOf(t, files), "-o", program, "./infra/openapi")
	files[description] = generated(t, program)
	out := goTool(t, "test", "-count=1", "-overlay", overlayOf(t, files), "-run", "^(TestClearTags|TestTagTypeColor)$", "-v", "./pkg/admin/features", "./pkg/admin/tags")
	if strings.Count(out, "\n--- PASS: Test") != 2 {
		t.Errorf("the two tests in CONTRIBUTING.md did not run:\n%s", out)
	}
}

const description = "infra/openapi.json"

// generated returns the API description that the program writes, in a folder that looks like the repository.
func generated(t *testing.T, program string) string {
	t.Helper()
	folder := t.TempDir()
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "go.mod"), module, 0o600)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(folder, filepath.Dir(description)), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	generate := exec.Command(program)
	generate.Dir = folder
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("openapi: %v\n%s", err, out)
	}
	document, err := os.ReadFile(filepath.Join(folder, description))
	if err != nil {
		t.Fatal(err)
	}
	return string(document)
}

// applied returns a file with a change. The lines that the change does not add name the place, the end of the file if there are none.
func applied(t *testing.T, path, source, lines string) string {
	t.Helper()
	var before, after strings.Builder
	for line := range strings.Lines(lines) {
		if text, added := strings.CutPrefix(line, "+"); added {
			after.WriteString(text)
		} else {
			before.WriteString(line[1:])
			if line[0] == ' ' {
				after.WriteString(line[1:])
			}
		}
	}
	switch {
	case before.Len() == 0:
		return source + "\n" + after.String()
	case strings.Count("\n"+source, "\n"+before.String()) != 1:
		t.Fatalf("CONTRIBUTING.md changes these lines, which are not in %s once:\n%s", path, before.String())
	}
	return strings.Replace("\n"+source, "\n"+before.String(), "\n"+after.String(), 1)[1:]
}

// overlayOf writes changed files to a folder, and returns the path of the overlay that names them.
func overlayOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	replace := map[string]string{}
	for path, source := range files {
		place := filepath.Join(folder, strings.ReplaceAll(path, "/", "-"))
		if err := os.WriteFile(place, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		original, err := filepath.Abs(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		replace[original] = place
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// goTool runs the go command in the repository, and returns its output.
func goTool(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Dir = root
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
