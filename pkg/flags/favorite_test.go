package flags

import "testing"

// TestFavoritesAreLimited checks that a caller with all favorites can still remove those of earlier versions, which flags contain.
func TestFavoritesAreLimited(t *testing.T) {
	f := &Favorites{Owner: "7"}
	for i := range MaxFavorites {
		if err := f.SetFlag(&Feature{Name: string(rune('a' + i))}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetFlag(&Feature{Name: "another"}, true); KindOf(err) != Invalid {
		t.Errorf("one more than %d: %v, want Invalid", MaxFavorites, err)
	}
	earlier := &Feature{Name: "earlier", Favorites: []string{"7"}}
	if err := f.SetFlag(earlier, false); err != nil || f.HasFlag(earlier.Name, earlier.Favorites) {
		t.Errorf("a favorite of an earlier version stays: %v", err)
	}
}
