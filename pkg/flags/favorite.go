package flags

import (
	"slices"
	"strconv"
)

// FavoritesKey is what a caller's favorites are kept under: a user's id, so that another name keeps them, or else the
// name of the token.
func (c Caller) FavoritesKey() string {
	if c.User != nil {
		return "user:" + strconv.FormatInt(c.User.ID, 10)
	}
	return "token:" + c.Name
}

// SetFavorite adds the flag to a caller's favorites, or removes it. Invalid past the limit of callers.
func (f *Feature) SetFavorite(caller Caller, favorite bool) (err error) {
	f.Favorites, err = withFavorite(f.Favorites, caller, favorite)
	return err
}

// SetFavorite adds the project to a caller's favorites, or removes it. Invalid past the limit of callers.
func (p *Project) SetFavorite(caller Caller, favorite bool) (err error) {
	p.Favorites, err = withFavorite(p.Favorites, caller, favorite)
	return err
}

// FavoriteOf tells whether the project is one of a caller's favorites.
func (p *Project) IsFavoriteOf(caller Caller) bool {
	return slices.Contains(p.Favorites, caller.FavoritesKey())
}

// withFavorite is a list of callers' keys, sorted, with or without that of one caller.
func withFavorite(keys []string, caller Caller, favorite bool) ([]string, error) {
	key := caller.FavoritesKey()
	after := slices.DeleteFunc(slices.Clone(keys), func(of string) bool { return of == key })
	if favorite {
		after = append(after, key)
		slices.Sort(after)
	}
	if n := len(after); n > MaxFavorites && n > len(keys) {
		return keys, Errorf(Invalid, "this is a favorite of %d callers already, and no more than %d are allowed", len(keys), MaxFavorites)
	}
	return after, nil
}
