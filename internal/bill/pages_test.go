package bill

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the computed parts of the pages")

// TestPages compares the computed parts of the pages with what was measured.
func TestPages(t *testing.T) {
	m := measure(t)
	for page, parts := range map[string]map[string]string{
		"cost.md": {
			"operations": m.Operations(), "administration": m.Administration(), "assumptions": m.Assumptions(),
			"prices": Prices(), "applications": m.Applications(), "fleet": m.Fleet(), "usage": m.Usage(),
		},
		"limits.md": {"partitions": m.Partitions(), "lists": m.Lists()},
	} {
		path := filepath.Join("..", "..", "docs", "operations", page)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		for name, part := range parts {
			if text, err = Replace(text, name, part); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
		}
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if text != string(raw) {
			t.Errorf("docs/operations/%s has other figures than were measured; run go test ./internal/bill -run TestPages -update\n%v", page, parts)
		}
	}
}
