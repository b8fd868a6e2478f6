package guidon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSweeps checks that make test runs every test that it skips under the race detector: each name in SWEEPS is a test, and
// all tests of that name are in a package of SWEPT.
func TestSweeps(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(makefile), "$\\\n", "")
	names := regexp.MustCompile(`(?m)^SWEEPS = \^Test\(([A-Za-z|]+)\)\$\$$`).FindStringSubmatch(text)
	packages := regexp.MustCompile(`(?m)^SWEPT = (.+)$`).FindStringSubmatch(text)
	if names == nil || packages == nil {
		t.Fatal("the Makefile has no SWEEPS or no SWEPT in the form that this test reads")
	}
	swept := strings.Fields(packages[1])
	found := map[string][]string{} // the folders of the tests of a name
	declaration := regexp.MustCompile(`(?m)^func Test([A-Za-z]+)\(`)
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declaration.FindAllStringSubmatch(string(source), -1) {
			found[match[1]] = append(found[match[1]], "./"+filepath.ToSlash(filepath.Dir(file)))
		}
	}
	for name := range strings.SplitSeq(names[1], "|") {
		if len(found[name]) == 0 {
			t.Errorf("SWEEPS has %s, which is no test", name)
		}
		for _, folder := range found[name] {
			if !slices.Contains(swept, folder) {
				t.Errorf("Test%s of %s never runs: add the package to SWEPT, or rename the test", name, folder)
			}
		}
	}
}
