package guidon_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCitationsOfTheContract checks that each comment "contract: Section" names a heading of docs/contract.md.
func TestCitationsOfTheContract(t *testing.T) {
	page, err := os.ReadFile("docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(page), -1) {
		headings[match[1]] = true
	}
	citation := regexp.MustCompile(`\(contract: ([A-Z][^)]*)\)`)
	lineBreak := regexp.MustCompile(`\s*\n\s*//\s*`)
	found := 0
	for _, name := range goFiles(t) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := lineBreak.ReplaceAllString(string(source), " ")
		for _, match := range citation.FindAllStringSubmatch(text, -1) {
			for _, section := range strings.Split(match[1], ",") {
				section = strings.TrimSpace(section)
				if strings.HasPrefix(section, "rule") {
					continue // such as "Variants, rule 3"
				}
				found++
				if !headings[section] {
					t.Errorf("%s cites the section %q, which docs/contract.md does not have", name, section)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no citations found")
	}
}

// goFiles returns the Go files of the repository, without those of hidden directories and of npm packages.
func goFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (len(path) > 1 && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) == ".go":
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
