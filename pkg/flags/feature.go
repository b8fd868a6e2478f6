package flags

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Feature is a flag with all that belongs to it: one aggregate, stored and changed as a whole (contract: Feature).
type Feature struct {
	Version    int64
	Name       string // unique in the service for ever, archived flags included
	Project    string // id of its project
	ProjectUID string // the project itself: an id may be used again by another
	Metadata
	Archived   bool
	CreatedAt  time.Time
	CreatedBy  string
	ArchivedAt time.Time // zero while active
	LastSeenAt time.Time // zero until usage was reported
	Tags       []Tag     // by type and value
	Favorites  []string  // the keys of the callers who have it among their favorites, sorted

	Dependencies []Dependency // its parents, in the order of their adding
	Children     []string     // the active flags that depend on it, sorted: what they say in Dependencies, see SetDependency
	Lifecycle    []Phase      // the stages it entered since it was made or revived; none for initial since it was made. Read by History

	// Environments holds what was configured, by environment name. An environment without an entry is disabled and
	// empty, so adding one to a project touches no flag. Read through In, which knows what of it still counts.
	Environments map[string]FeatureEnvironment
}

// Metadata is what a caller says about a flag and may change.
type Metadata struct {
	Type           FeatureType
	Description    *string // nil when a caller sent null
	Stale          bool
	ImpressionData bool
}

// A EnvironmentState ties what a flag has in an environment to the environment and the attachment that it was set up under.
type EnvironmentState struct {
	EnvironmentUID string // UID of the environment
	EnabledIn      string // ID of the attachment that it was switched on in; "" while off
}

// In tells whether the standing still means env, and whether it is on there.
func (s EnvironmentState) In(env ProjectEnvironment) (present, enabled bool) {
	present = s.EnvironmentUID == env.UID
	return present, present && s.EnabledIn != "" && s.EnabledIn == env.Attachment.ID
}

// A FeatureEnvironment is a flag's configuration in one environment (contract: Feature environment).
// Its slices are replaced, never changed in place: copies of a flag share them.
type FeatureEnvironment struct {
	EnvironmentState
	Strategies []Strategy // by sort order, then age
	Variants   []Variant
	LastSeenAt time.Time
}

// Key names the flag.
func (f *Feature) Key() Key { return FeatureKey(f.Name) }

func (f *Feature) version() int64 { return f.Version }

// Clone is a copy to change.
func (f *Feature) Clone() *Feature {
	c := *f
	c.Environments = maps.Clone(f.Environments)
	return &c
}

// NewFeature makes a flag that is disabled everywhere.
func NewFeature(p *Project, name string, m Metadata, by string, at time.Time) *Feature {
	return &Feature{Name: name, Project: p.ID, ProjectUID: p.UID, Metadata: m, CreatedAt: at, CreatedBy: by}
}

// In is what the flag has in env: empty when nothing was set up there, or only for an earlier environment of that name.
func (f *Feature) In(env ProjectEnvironment) FeatureEnvironment {
	fe, ok := f.Environments[env.Name]
	if !ok || fe.EnvironmentUID != env.UID {
		return FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: env.UID}}
	}
	return fe
}

// Enabled tells whether the flag is on in env.
func (f *Feature) Enabled(env ProjectEnvironment) bool {
	_, enabled := f.In(env).EnvironmentState.In(env)
	return enabled
}

// set keeps fe as what the flag has in env.
func (f *Feature) set(env ProjectEnvironment, fe FeatureEnvironment) {
	if f.Environments == nil {
		f.Environments = map[string]FeatureEnvironment{}
	}
	f.Environments[env.Name] = fe
}

// Enable switches the flag on in env. Without a strategy there, the project's default strategy for env is added with
// it; without that either, Conflict (contract: States and transitions). A disabled strategy counts.
func (f *Feature) Enable(env ProjectEnvironment, newID func() string) error {
	if f.Enabled(env) {
		return nil
	}
	fe := f.In(env)
	if len(fe.Strategies) == 0 {
		if env.Attachment.DefaultStrategy == nil {
			return Errorf(Conflict, "flag %q cannot be enabled in environment %q: it has no strategies there; add one first", f.Name, env.Name)
		}
		s := env.Attachment.DefaultStrategy.WithDefaults(f.Name)
		s.ID, s.Variants = newID(), Distribute(s.Variants)
		fe.Strategies = []Strategy{s}
	}
	fe.EnabledIn = env.Attachment.ID
	f.set(env, fe)
	return nil
}

// Disable switches the flag off in env.
func (f *Feature) Disable(env ProjectEnvironment) {
	if f.Enabled(env) {
		fe := f.In(env)
		fe.EnabledIn = ""
		f.set(env, fe)
	}
}

// Archive takes the flag out of use; its name stays taken for ever. It lets go of its parents, which are to change too
// and must all be given. Conflict while others depend on it.
func (f *Feature) Archive(at time.Time, parents ...*Feature) error {
	if f.Archived {
		return nil
	}
	if len(f.Children) > 0 {
		return f.hasChildren("flag %q cannot be archived: %s on it; archive these first, or end their dependency")
	}
	f.RemoveDependencies(parents...)
	if len(f.Dependencies) > 0 {
		return Errorf(Internal, "flag %q would be archived without its parent %q", f.Name, f.Dependencies[0].Feature)
	}
	f.Archived, f.ArchivedAt = true, at
	return nil
}

// Revive brings an archived flag back, disabled everywhere and at the beginning of its lifecycle.
func (f *Feature) Revive(at time.Time) {
	if !f.Archived {
		return
	}
	f.Archived, f.ArchivedAt = false, time.Time{}
	f.Lifecycle = []Phase{{Stage: StageInitial, EnteredAt: at}}
	for name, fe := range f.Environments {
		fe.EnabledIn = ""
		f.Environments[name] = fe
	}
}

// Move takes the flag to another project; from are the environments of the one that it is in. What is on stays on, so
// the other project must have every environment that the flag is on in: Conflict when not. What the flag has in other
// environments that only its old project has rests, as when an environment is taken out of a project. Conflict, too,
// while there are dependencies, which stay within a project, and while it uses a segment that the other project cannot use,
// in an environment of the registry. What the flag has with such a segment in an environment that was deleted stays behind:
// no flag takes a segment into a project that cannot use it.
func (f *Feature) Move(from []ProjectEnvironment, to *Project, registry *Environments, segment func(id int64) *Segment) error {
	if f.ProjectUID == to.UID {
		return nil
	}
	if related := f.Related(); len(related) > 0 {
		err := Errorf(Conflict, "flag %q cannot be moved while it depends on other flags, or others on it; end these dependencies first", f.Name)
		for _, name := range related {
			err.Details = append(err.Details, Detail{Message: name})
		}
		return err
	}
	foreign := func(id int64) bool {
		s := segment(id)
		return s != nil && s.ProjectUID != "" && s.ProjectUID != to.UID
	}
	for _, id := range f.Use().segments(func(s StrategyUse) bool { return s.in(registry) }) {
		if s := segment(id); foreign(id) {
			return Errorf(Conflict, "flag %q uses segment %d, %q, which belongs to project %q and cannot be used in project %q", f.Name, id, s.Name, s.Project, to.ID)
		}
	}
	var missing []string
	on := map[string]string{} // where it is on: the attachment there, by the environment's name
	for _, env := range from {
		if f.Enabled(env) {
			on[env.Name] = to.Environments[env.Name].ID
			if !to.HasEnvironment(env.Environment) {
				missing = append(missing, strconv.Quote(env.Name))
			}
		}
	}
	if len(missing) > 0 {
		return Errorf(Conflict, "flag %q is on in environments that project %q does not have: %s; switch it off there, or add them to the project first",
			f.Name, to.ID, strings.Join(missing, ", "))
	}
	f.forgetDeleted(registry, foreign)
	for name, fe := range f.Environments {
		fe.EnabledIn = on[name]
		f.Environments[name] = fe
	}
	f.Project, f.ProjectUID = to.ID, to.UID
	return nil
}

// forgetDeleted drops what the flag has in environments that were deleted, where a strategy uses one of some segments.
// The registry must have been read no earlier than the flag: it knows every environment that the flag can be in.
func (f *Feature) forgetDeleted(registry *Environments, of func(segment int64) bool) {
	for _, s := range f.Use().Strategies {
		if !s.in(registry) && slices.ContainsFunc(s.Segments, of) {
			delete(f.Environments, s.Environment)
		}
	}
}

// CloneAs makes a new flag with this one's metadata, strategies (with ids of their own) and variants, disabled
// everywhere. Strategies with segments in environments that were deleted stay behind: the segments may belong to another
// project by now. Its tags stay behind; its parents, which change too, are for the caller to bring over by SetDependency. With
// replaceGroupID, strategies grouped under the old name are grouped under the new one.
func (f *Feature) CloneAs(name string, replaceGroupID bool, registry *Environments, by string, at time.Time, newID func() string) *Feature {
	c := f.Clone()
	c.forgetDeleted(registry, func(int64) bool { return true })
	c.Version, c.Name, c.CreatedAt, c.CreatedBy, c.LastSeenAt = 0, name, at, by, time.Time{}
	c.Tags, c.Favorites, c.Dependencies, c.Children, c.Lifecycle = nil, nil, nil, nil, nil
	for _, env := range slices.Sorted(maps.Keys(c.Environments)) {
		fe := c.Environments[env]
		fe.EnabledIn, fe.LastSeenAt = "", time.Time{}
		fe.Strategies = slices.Clone(fe.Strategies)
		for i := range fe.Strategies {
			s := &fe.Strategies[i]
			s.ID = newID()
			if replaceGroupID && s.Parameters["groupId"] == f.Name {
				s.Parameters = maps.Clone(s.Parameters)
				s.Parameters["groupId"] = name
			}
		}
		c.Environments[env] = fe
	}
	return c
}

// AllVariants is the union by name of the variants in envs, earlier environments first.
func (f *Feature) AllVariants(envs []ProjectEnvironment) []Variant {
	union := []Variant{}
	seen := map[string]bool{}
	for _, env := range envs {
		for _, v := range f.In(env).Variants {
			if !seen[v.Name] {
				seen[v.Name] = true
				union = append(union, v)
			}
		}
	}
	return union
}

// VariantNames are the names of the variants in envs and of those of the strategies there, sorted, each once.
func (f *Feature) VariantNames(envs []ProjectEnvironment) []string {
	names := []string{}
	for _, env := range envs {
		fe := f.In(env)
		for _, v := range fe.Variants {
			names = append(names, v.Name)
		}
		for _, s := range fe.Strategies {
			for _, v := range s.Variants {
				names = append(names, v.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
