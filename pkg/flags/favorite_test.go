package flags

import "testing"

// TestFavoritesAreLimited checks that a caller with all favorites can remove one, and then add another one.
func TestFavoritesAreLimited(t *testing.T) {
	f := &Favorites{Owner: "7"}
	for i := range MaxFavorites - 1 {
		if err := f.SetFlag(&Feature{Name: string(rune('a' + i))}, true); err != nil {
			t.Fatal(err)
		}
	}
	p, another := &Project{UID: "u"}, &Feature{Name: "another"}
	for range 2 { // the second time, it is one already
		if err := f.SetProject(p, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetFlag(another, true); KindOf(err) != Invalid {
		t.Errorf("one more than %d: %v, want Invalid", MaxFavorites, err)
	}
	if err := f.SetProject(p, false); err != nil || f.HasProject(p) {
		t.Errorf("a favorite stays: %v", err)
	}
	if err := f.SetFlag(another, true); err != nil || !f.HasFlag("another") {
		t.Errorf("there is no room again: %v", err)
	}
}
