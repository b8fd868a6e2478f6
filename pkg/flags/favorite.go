package flags

import (
	"slices"
	"strconv"
)

// FavoritesKey returns the key under which a caller's favorites are stored: the user's ID, so that renaming
// keeps them, or the name of the token.
func (c Caller) FavoritesKey() string {
	if c.User != nil {
		return "user:" + strconv.FormatInt(c.User.ID, 10)
	}
	return "token:" + c.Name
}

// SetFavorite adds the flag to the caller's favorites or removes it. It returns Invalid if too many callers have
// it as a favorite.
func (f *Feature) SetFavorite(caller Caller, favorite bool) (err error) {
	f.Favorites, err = withFavorite(f.Favorites, caller, favorite)
	return err
}

// SetFavorite adds the project to the caller's favorites or removes it. It returns Invalid if too many callers
// have it as a favorite.
func (p *Project) SetFavorite(caller Caller, favorite bool) (err error) {
	p.Favorites, err = withFavorite(p.Favorites, caller, favorite)
	return err
}

// IsFavoriteOf reports whether the project is a favorite of the caller.
func (p *Project) IsFavoriteOf(caller Caller) bool {
	return slices.Contains(p.Favorites, caller.FavoritesKey())
}

// withFavorite returns the sorted list of callers' keys, with or without the key of one caller.
func withFavorite(keys []string, caller Caller, favorite bool) ([]string, error) {
	key := caller.FavoritesKey()
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
