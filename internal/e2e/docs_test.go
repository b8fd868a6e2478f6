package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	applications "guidon/pkg/serving"
)

// tableRow matches an operation in the table of docs/interface.md: its route and its permission.
var tableRow = regexp.MustCompile("(?m)^\\| `([A-Z]+ [^`]+)` \\| ([A-Z_]+|none|client token|frontend token) \\|")

// TestInterfacePage checks that the page lists exactly the operations of the API, with their permissions.
func TestInterfacePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "interface.md"))
	if err != nil {
		t.Fatal(err)
	}
	abbreviations := strings.NewReplacer(
		"{project}", "/api/admin/projects/{projectId}",
		"{flag}", "/api/admin/projects/{projectId}/features/{featureName}",
		"{manifest}", "/api/openfeature/projects/{projectId}/openfeature/v0/manifest",
	)
	documented := map[string]string{}
	for _, m := range tableRow.FindAllStringSubmatch(string(page), -1) {
		route := abbreviations.Replace(m[1])
		if documented[route] != "" {
			t.Errorf("%s is there twice", route)
		}
		documented[route] = m[2]
	}
	served := map[string]string{}
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			permission := string(op.Permission)
			if permission == "" {
				permission = "none"
			}
			served[op.Route] = permission
		}
	}
	for _, group := range applications.Groups(nil, nil, httpapi.Config{}) {
		for _, op := range group.Operations {
			served[op.Route] = group.Name + " token"
		}
	}
	for _, op := range httpapi.Join(ingest.Groups(nil, nil, httpapi.Config{})...).Operations {
		switch {
		case strings.HasPrefix(op.Route, "POST /edge/"):
			served[op.Route] = "none"
		case strings.HasPrefix(op.Route, "POST /api/frontend/"):
			served[op.Route] = "frontend token"
		default:
			served[op.Route] = "client token"
		}
	}
	equal(t, "docs/interface.md", documented, served)
}

// namedTest matches the name of a test in a page.
var namedTest = regexp.MustCompile("`(Test[A-Za-z]+)`")

// TestNamedTests checks that the tests that the documentation names exist.
func TestNamedTests(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range declaration.FindAllStringSubmatch(string(source), -1) {
			declared[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range namedTest.FindAllStringSubmatch(string(text), -1) {
				if named++; !declared[m[1]] {
					t.Errorf("%s names %s, which does not exist", page, m[1])
				}
			}
		}
	}
	if named < 50 {
		t.Errorf("the documentation names %d tests, want 50 or more", named)
	}
}
