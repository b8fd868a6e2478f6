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

// SetFavorite keeps the flag among a caller's favorites, or no more.
func (f *Feature) SetFavorite(caller Caller, favorite bool) {
	key := caller.FavoritesKey()
	favorites := slices.DeleteFunc(slices.Clone(f.Favorites), func(of string) bool { return of == key })
	if favorite {
		favorites = append(favorites, key)
		slices.Sort(favorites)
	}
	f.Favorites = favorites
}
