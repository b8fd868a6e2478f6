package flags

import (
	"maps"
)

// Favorites are the flags and projects that a caller has as favorites. They are an aggregate of their own: a caller who can only read
// changes no flag.
type Favorites struct {
	Version  int64           `json:"version,omitzero"`
	Owner    string          `json:"owner"`              // see Caller.FavoritesKey
	Flags    map[string]bool `json:"flags,omitempty"`    // by name
	Projects map[string]bool `json:"projects,omitempty"` // by UID
}

// FavoritesKey returns the key of the favorites of a caller.
func FavoritesKey(owner string) Key { return Key{EntityFavorites, owner} }

// Key returns the key of the favorites.
func (f *Favorites) Key() Key { return FavoritesKey(f.Owner) }

// StoredVersion returns the version at which the list was loaded; 0 for a caller without favorites.
func (f *Favorites) StoredVersion() int64 { return f.Version }

// Clone returns a copy that can be changed.
func (f *Favorites) Clone() *Favorites {
	c := *f
	c.Flags, c.Projects = maps.Clone(f.Flags), maps.Clone(f.Projects)
	return &c
}

// HasFlag reports whether a flag is a favorite.
func (f *Favorites) HasFlag(name string) bool { return f.Flags[name] }

// HasProject reports whether a project is a favorite.
func (f *Favorites) HasProject(p *Project) bool { return f.Projects[p.UID] }

// SetFlag adds a flag or removes it. It returns Invalid if there are too many favorites.
func (f *Favorites) SetFlag(flag *Feature, favorite bool) error {
	return f.set(&f.Flags, flag.Name, favorite)
}

// SetProject adds a project or removes it. It returns Invalid if there are too many favorites.
func (f *Favorites) SetProject(p *Project, favorite bool) error {
	return f.set(&f.Projects, p.UID, favorite)
}

func (f *Favorites) set(own *map[string]bool, id string, favorite bool) error {
	switch {
	case !favorite:
		delete(*own, id)
		return nil
	case !(*own)[id] && len(f.Flags)+len(f.Projects) >= MaxFavorites:
		return Errorf(Invalid, "you have %d favorites, and no more are allowed: remove one first", MaxFavorites)
	case *own == nil:
		*own = map[string]bool{}
	}
	(*own)[id] = true
	return nil
}
