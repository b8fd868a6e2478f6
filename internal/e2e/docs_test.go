package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"guidon/pkg/admin"
)

// tableRow matches an operation in the table of docs/interface.md: its route and its permission.
var tableRow = regexp.MustCompile("(?m)^\\| `([A-Z]+ [^`]+)` \\| ([A-Z_]+|none) \\|")

// TestInterfacePage checks that the page lists exactly the operations of the API, with their permissions.
func TestInterfacePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "interface.md"))
	if err != nil {
		t.Fatal(err)
	}
	abbreviations := strings.NewReplacer(
		"{project}", "/api/admin/projects/{projectId}",
		"{flag}", "/api/admin/projects/{projectId}/features/{featureName}",
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
	equal(t, "docs/interface.md", documented, served)
}
