package flags

import "slices"

// SetFavorite adds the flag to a caller's favorites or removes it. key is the caller's, see Caller.FavoritesKey. It returns
// Invalid if too many callers have it as a favorite.
func (f *Feature) SetFavorite(key string, favorite bool) (err error) {
	f.Favorites, err = withFavorite(f.Favorites, key, favorite)
	return err
}

// SetFavorite adds the project to a caller's favorites or removes it. It returns Invalid if too many callers have it as a
// favorite.
func (p *Project) SetFavorite(key string, favorite bool) (err error) {
	p.Favorites, err = withFavorite(p.Favorites, key, favorite)
	return err
}

// IsFavoriteOf reports whether the project is a favorite of the caller with that key.
func (p *Project) IsFavoriteOf(key string) bool {
	return slices.Contains(p.Favorites, key)
}

// withFavorite returns the sorted list of callers' keys, with or without the key of one caller.
func withFavorite(keys []string, key string, favorite bool) ([]string, error) {
	after := slices.DeleteFunc(slices.Clone(keys), func(of string) bool { return of == key })
	if favorite {
		after = append(after, key)
		slices.Sort(after)
	}
	if n := len(after); n > MaxFavorites && n > len(keys) {
		return keys, Errorf(Invalid, "it is a favorite of %d callers, and no more than %d are allowed", len(keys), MaxFavorites)
	}
	return after, nil
}
