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

// SetFavorite adds the flag to a caller's favorites, or removes it.
func (f *Feature) SetFavorite(caller Caller, favorite bool) {
	f.Favorites = withFavorite(f.Favorites, caller, favorite)
}

// SetFavorite adds the project to a caller's favorites, or removes it.
func (p *Project) SetFavorite(caller Caller, favorite bool) {
	p.Favorites = withFavorite(p.Favorites, caller, favorite)
}

// FavoriteOf tells whether the project is one of a caller's favorites.
func (p *Project) FavoriteOf(caller Caller) bool {
	return slices.Contains(p.Favorites, caller.FavoritesKey())
}

// withFavorite is a list of callers' keys, sorted, with or without that of one caller.
func withFavorite(keys []string, caller Caller, favorite bool) []string {
	key := caller.FavoritesKey()
	keys = slices.DeleteFunc(slices.Clone(keys), func(of string) bool { return of == key })
	if favorite {
		keys = append(keys, key)
		slices.Sort(keys)
	}
	return keys
}
