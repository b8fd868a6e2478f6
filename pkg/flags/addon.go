package flags

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// An Addon sends events to another service: to a webhook, or to Slack.
type Addon struct {
	ID           int64             `json:"id"`
	Provider     string            `json:"provider"` // the name of one of AddonProviders
	Enabled      bool              `json:"enabled"`  // events that happen while an addon is disabled are not sent, also not later
	Description  *string           `json:"description,omitzero"`
	Parameters   map[string]string `json:"parameters,omitempty"`   // by name, without the sensitive ones
	Sealed       map[string]string `json:"sealed,omitempty"`       // the sensitive ones, each encrypted by a Sealer, see AddonSecret
	Events       []EventType       `json:"events,omitempty"`       // that it sends; none if empty
	Projects     []string          `json:"projects,omitempty"`     // IDs; empty, or All among them, for all projects
	Environments []string          `json:"environments,omitempty"` // names; empty, or All among them, for all environments
	CreatedAt    time.Time         `json:"createdAt"`
}

// Addons is the registry of addons: one aggregate. Every change loads it, because a change puts its events into the
// outboxes of the addons that match them.
type Addons struct {
	Version int64   `json:"version,omitzero"`
	List    []Addon `json:"list"`
}

// The limits of addons. A change writes an entry for each addon that matches it, in a transaction of at most 100 items, so
// there can be only few addons.
const (
	MaxAddons            = 20
	MaxAddonEvents       = 200
	MaxAddonProjects     = 100
	MaxAddonEnvironments = 100
	MaxAddonParameter    = 10_000   // characters of a value
	MaxAddonsSize        = 64 << 10 // bytes of all addons together: each change loads them
)

// Key returns the key of the registry.
func (s *Addons) Key() Key { return AddonsKey() }

// StoredVersion returns the version of the whole registry: changes of different addons conflict, too, and are retried.
func (s *Addons) StoredVersion() int64 { return s.Version }

// Clone returns a copy that can be changed.
func (s *Addons) Clone() *Addons {
	c := *s
	c.List = slices.Clone(s.List)
	for i, a := range c.List {
		c.List[i] = a.Clone()
	}
	return &c
}

// Clone returns a copy that can be changed.
func (a Addon) Clone() Addon {
	a.Parameters, a.Sealed = maps.Clone(a.Parameters), maps.Clone(a.Sealed)
	a.Events, a.Projects, a.Environments = slices.Clone(a.Events), slices.Clone(a.Projects), slices.Clone(a.Environments)
	return a
}

// Get returns the addon of that ID, or NotFound.
func (s *Addons) Get(id int64) (Addon, error) {
	i, err := s.index(id)
	if err != nil {
		return Addon{}, err
	}
	return s.List[i], nil
}

func (s *Addons) index(id int64) (int, error) {
	i := slices.IndexFunc(s.List, func(a Addon) bool { return a.ID == id })
	if i < 0 {
		return 0, Errorf(NotFound, "there is no addon %d", id)
	}
	return i, nil
}

// CheckRoom returns Invalid if there are as many addons as are allowed.
func (s *Addons) CheckRoom() error {
	if len(s.List) < MaxAddons {
		return nil
	}
	return Errorf(Invalid, "there are %d addons already, and no more are allowed; delete one first", len(s.List))
}

// Add adds an addon. It returns Invalid if there are too many.
func (s *Addons) Add(a Addon) error {
	if err := s.CheckRoom(); err != nil {
		return err
	}
	s.List = append(s.List, a)
	return s.checkSize()
}

// checkSize returns Invalid if the addons together are too large.
func (s *Addons) checkSize() error {
	size := 0
	for _, a := range s.List {
		size += a.size()
	}
	if size > MaxAddonsSize {
		return Errorf(Invalid, "all addons together would take %d KB, but no more than %d KB are allowed; shorten the parameters or lists of this or another addon", size>>10+1, MaxAddonsSize>>10)
	}
	return nil
}

// size returns about how many bytes the addon takes.
func (a Addon) size() int {
	const fixed, entry = 200, 3
	size := fixed + len(valueOrEmpty(a.Description))
	for _, parameters := range []map[string]string{a.Parameters, a.Sealed} {
		for name, value := range parameters {
			size += len(name) + len(value) + 2*entry
		}
	}
	for _, e := range a.Events {
		size += len(e) + entry
	}
	for _, name := range slices.Concat(a.Projects, a.Environments) {
		size += len(name) + entry
	}
	return size
}

// Replace replaces the addon of the same ID. It returns NotFound if there is none.
func (s *Addons) Replace(a Addon) error {
	i, err := s.index(a.ID)
	if err != nil {
		return err
	}
	s.List[i] = a
	return s.checkSize()
}

// Remove deletes an addon. It returns NotFound if there is none.
func (s *Addons) Remove(id int64) error {
	i, err := s.index(id)
	if err == nil {
		s.List = slices.Delete(s.List, i, i+1)
	}
	return err
}

// Matching returns the IDs of the addons that send an event.
func (s *Addons) Matching(e Event) []int64 {
	var ids []int64
	for _, a := range s.List {
		if a.Matches(e) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// Matches reports whether the addon sends an event. An event without a project is sent also by an addon that has a list of
// projects, and likewise for environments. That a flag moves concerns both projects.
func (a Addon) Matches(e Event) bool {
	return a.Enabled && slices.Contains(a.Events, e.Type) && selects(a.Environments, e.Environment) &&
		(selects(a.Projects, e.Project) || e.FormerProject != "" && selects(a.Projects, e.FormerProject))
}

func selects(names []string, name string) bool {
	return name == "" || len(names) == 0 || slices.Contains(names, All) || slices.Contains(names, name)
}

// AddonSecret returns what a sealed parameter is bound to, see Sealer: it cannot be opened for another addon or parameter.
func AddonSecret(id int64, parameter string) string {
	return "addon " + strconv.FormatInt(id, 10) + " " + parameter
}

// OpenParameters returns all parameters of the addon by name, the sensitive ones decrypted.
func (a Addon) OpenParameters(sealer Sealer) (map[string]string, error) {
	all := maps.Clone(a.Parameters)
	if all == nil {
		all = map[string]string{}
	}
	for name, sealed := range a.Sealed {
		value, err := sealer.Open(sealed, AddonSecret(a.ID, name))
		if err != nil {
			return nil, err
		}
		all[name] = value
	}
	return all, nil
}
