package dynamo

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

// TestEveryEntityIsDescribed compares the constants of type flags.Entity with the table of descriptors.
func TestEveryEntityIsDescribed(t *testing.T) {
	described := map[flags.Entity]*entity{}
	for _, e := range entities {
		if described[e.name] != nil {
			t.Errorf("the entity %q has two descriptors", e.name)
		}
		described[e.name] = e
		if e.key == nil || e.title == nil || e.encode == nil || e.decode == nil {
			t.Errorf("the descriptor of the entity %q lacks key, title, encode or decode", e.name)
		}
	}
	constants := entityConstants(t)
	if len(constants) < 20 {
		t.Fatalf("found the entities %q, want at least 20", constants)
	}
	for _, name := range constants {
		if described[name] == nil {
			t.Errorf("the entity %q has no descriptor: describe it in a file of its own and list it in entities", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("a descriptor has the name %q, which is no flags.Entity", name)
	}
}

var entityConstant = regexp.MustCompile(`(?m)^(?:const |\t)\w+\s+(?:flags\.)?Entity\s*= (.*?)(?: *//.*)?$`)

// entityConstants reads the values of the constants of type flags.Entity from the source of the packages whose aggregates are stored.
func entityConstants(t *testing.T) (names []flags.Entity) {
	t.Helper()
	for _, folder := range []string{"flags", "access", "usage", "review"} {
		files, err := filepath.Glob("../" + folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, constant := range entityConstant.FindAllSubmatch(text, -1) {
				name, err := strconv.Unquote(string(constant[1]))
				if err != nil {
					t.Errorf("%s: an Entity that is not a literal: %s", path, constant[0])
				}
				names = append(names, flags.Entity(name))
			}
		}
	}
	return names
}

// TestEntityKeysDiffer finds two entities that would store their aggregates in the same items.
func TestEntityKeysDiffer(t *testing.T) {
	seen := map[itemKey]flags.Entity{}
	for _, e := range entities {
		key := e.key("7")
		if other, taken := seen[key]; taken {
			t.Errorf("the entities %q and %q both have the key %v", e.name, other, key)
		}
		seen[key] = e.name
		if strings.Contains(e.title("secret-hash"), "secret-hash") && strings.HasPrefix(string(e.name), "token") {
			t.Errorf("the title of the entity %q shows the hash of a token", e.name)
		}
	}
}
