package flags

import (
	"maps"
	"slices"
)

// Favorites are the flags and projects that a caller has as favorites. They are an aggregate of their own: a caller who can only read
// changes no flag.
//
// Favorites of earlier versions are in the flags and projects. They count until the caller removes them, which is stored here too.
type Favorites struct {
	Version  int64           `json:"version,omitzero"`
	Owner    string          `json:"owner"`              // see Caller.FavoritesKey
	Flags    map[string]bool `json:"flags,omitempty"`    // by name; false for one that is stored in the flag and was removed
	Projects map[string]bool `json:"projects,omitempty"` // by UID; likewise
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

// HasFlag reports whether a flag is a favorite. stored are the callers that are stored in the flag.
func (f *Favorites) HasFlag(name string, stored []string) bool { return f.has(f.Flags, name, stored) }

// HasProject reports whether a project is a favorite.
func (f *Favorites) HasProject(p *Project) bool { return f.has(f.Projects, p.UID, p.Favorites) }

func (f *Favorites) has(own map[string]bool, id string, stored []string) bool {
	if is, known := own[id]; known {
		return is
	}
	return slices.Contains(stored, f.Owner)
}

// SetFlag adds a flag or removes it. It returns Invalid if there are too many favorites.
func (f *Favorites) SetFlag(flag *Feature, favorite bool) error {
	return f.set(&f.Flags, flag.Name, flag.Favorites, favorite)
}

// SetProject adds a project or removes it. It returns Invalid if there are too many favorites.
func (f *Favorites) SetProject(p *Project, favorite bool) error {
	return f.set(&f.Projects, p.UID, p.Favorites, favorite)
}

// count is the number of favorites. What was removed is not limited: only favorites of earlier versions leave an entry.
func (f *Favorites) count() (n int) {
	for _, own := range []map[string]bool{f.Flags, f.Projects} {
		for _, is := range own {
			if is {
				n++
			}
		}
	}
	return n
}

func (f *Favorites) set(own *map[string]bool, id string, stored []string, favorite bool) error {
	if favorite == slices.Contains(stored, f.Owner) {
		delete(*own, id)
		return nil
	}
	if _, known := (*own)[id]; favorite && !known && f.count() >= MaxFavorites {
		return Errorf(Invalid, "you have %d favorites, and no more are allowed: remove one first", MaxFavorites)
	}
	if *own == nil {
		*own = map[string]bool{}
	}
	(*own)[id] = favorite
	return nil
}
