package bill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPages checks that the tables of the pages have the figures that were measured.
func TestPages(t *testing.T) {
	m, s := measure(t), readStack(t, nil)
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") } // wherever a line ends
	t.Logf("%+v", m)
	for page, tables := range m.tables(s) {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if !strings.Contains(flat(string(text)), flat(table)) {
				t.Errorf("%s has other figures than were measured; this is the table:\n\n%s", page, table)
			}
		}
	}
}
