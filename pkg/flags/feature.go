package flags

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Feature is a flag with everything that belongs to it: one aggregate, stored and changed as a whole
// (contract: Feature).
type Feature struct {
	Version    int64  `json:"version,omitzero"`
	Name       string `json:"name"`       // unique in the service, archived flags included; never used again
	Project    string `json:"project"`    // ID of its project
	ProjectUID string `json:"projectUid"` // UID of its project: the ID may be reused by a later project
	Metadata
	Archived   bool      `json:"archived,omitzero"`
	CreatedAt  time.Time `json:"createdAt"`
	CreatedBy  string    `json:"createdBy"`
	ArchivedAt time.Time `json:"archivedAt,omitzero"` // zero while active
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"` // zero until usage is reported
	Tags       []Tag     `json:"tags,omitempty"`      // sorted by type and value
	Links      []Link    `json:"links,omitempty"`     // in the order in which they were added
	Comments   int64     `json:"comments,omitzero"`   // how many comments its history has; they are only there

	Dependencies []Dependency `json:"dependencies,omitempty"` // its parents, in the order in which they were added
	Children     []string     `json:"children,omitempty"`     // names of the active flags that depend on it, sorted; kept by SetDependency
	Lifecycle    []Phase      `json:"lifecycle,omitempty"`    // stages entered since creation or revival; empty for a new flag. Read with History

	// Environments holds the configuration by environment name. A missing entry means disabled and empty, so that
	// adding an environment to a project changes no flag. Read it with In, which ignores entries of deleted
	// environments.
	Environments map[string]FeatureEnvironment `json:"environments,omitempty"`
}

// Metadata are the fields of a flag that a caller sets and can change.
type Metadata struct {
	Type           FeatureType `json:"type"`
	Description    *string     `json:"description"` // nil if the caller sent null
	Stale          bool        `json:"stale,omitzero"`
	ImpressionData bool        `json:"impressionData,omitzero"`
	Owner          string      `json:"owner,omitzero"` // a person or a team, by any name; "" for none
	Typing
}

// DefaultMetadata returns the metadata of a new flag whose creator sets none.
func DefaultMetadata() Metadata {
	description := ""
	return Metadata{Type: Release, Description: &description}
}

// An EnvironmentState says to which environment an entry belongs and where the flag was enabled. Both are
// identified by UID, so that entries do not carry over to an environment that is deleted and created again, or
// detached from a project and attached again.
type EnvironmentState struct {
	EnvironmentUID string `json:"environment"`        // UID of the environment
	EnabledIn      string `json:"enabledIn,omitzero"` // ID of the attachment under which the flag was enabled; "" while disabled
}

// In reports whether the entry belongs to env, and whether the flag is enabled there.
func (s EnvironmentState) In(env ProjectEnvironment) (present, enabled bool) {
	present = s.EnvironmentUID == env.UID
	return present, present && s.EnabledIn != "" && s.EnabledIn == env.Attachment.ID
}

// A FeatureEnvironment is the configuration of a flag in one environment (contract: Feature environment). Its
// slices are replaced, never changed in place, because copies of a flag share them.
type FeatureEnvironment struct {
	EnvironmentState
	Strategies []Strategy `json:"strategies,omitempty"` // by sort order, then age
	Variants   []Variant  `json:"variants,omitempty"`
	LastSeenAt time.Time  `json:"lastSeenAt,omitzero"`
	OffSince   int64      `json:"off,omitzero"` // when the flag was last switched off here, in Unix seconds; 0 for never. It is shorter than EnabledIn: the largest flag can be switched off

	// Plan is a release plan. It only counts under the attachment that it names: read it with Feature.Plan. What applications see does not
	// depend on it.
	Plan *ReleasePlan `json:"plan,omitzero"`
}

// Key returns the key of the flag.
func (f *Feature) Key() Key { return FeatureKey(f.Name) }

// StoredVersion returns the version at which the flag was loaded, which rises by one for each of its events.
func (f *Feature) StoredVersion() int64 { return f.Version }

// Clone returns a copy that can be changed.
func (f *Feature) Clone() *Feature {
	c := *f
	c.Environments = maps.Clone(f.Environments)
	return &c
}

// NewFeature returns a new flag, disabled in all environments.
func NewFeature(p *Project, name string, m Metadata, by string, at time.Time) *Feature {
	return &Feature{Name: name, Project: p.ID, ProjectUID: p.UID, Metadata: m, CreatedAt: at, CreatedBy: by}
}

// In returns the flag's configuration in env: empty if there is none, or only one of an earlier environment of
// the same name.
func (f *Feature) In(env ProjectEnvironment) FeatureEnvironment {
	fe, ok := f.Environments[env.Name]
	if !ok || fe.EnvironmentUID != env.UID {
		return FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: env.UID}}
	}
	return fe
}

// Enabled reports whether the flag is enabled in env.
func (f *Feature) Enabled(env ProjectEnvironment) bool {
	_, enabled := f.In(env).EnvironmentState.In(env)
	return enabled
}

// setEnvironment stores fe as the flag's configuration in env.
func (f *Feature) setEnvironment(env ProjectEnvironment, fe FeatureEnvironment) {
	if f.Environments == nil {
		f.Environments = map[string]FeatureEnvironment{}
	}
	f.Environments[env.Name] = fe
}

// Enable enables the flag in env. If it has no strategies there, the default strategy of the project for env is
// added in the same change. Without a default strategy it returns Conflict (contract: States and transitions). A
// disabled strategy counts as a strategy. A release plan goes on instead: with its first milestone, or again with the one that ran last.
func (f *Feature) Enable(env ProjectEnvironment, newID func() string, at time.Time) error {
	if f.Enabled(env) {
		return nil
	}
	fe := f.In(env)
	if fe.EnabledIn = env.Attachment.ID; f.Plan(env) != nil {
		f.setEnvironment(env, fe)
		f.run(env, max(fe.Plan.Active, 1), at)
		return nil
	}
	if len(fe.Strategies) == 0 {
		if env.Attachment.DefaultStrategy == nil {
			return Errorf(Conflict, "flag %q cannot be enabled in environment %q because it has no strategies there; add one first", f.Name, env.Name)
		}
		s := env.Attachment.DefaultStrategy.WithDefaults(f.Name)
		s.ID, s.Variants = newID(), Distribute(s.Variants)
		fe.Strategies = []Strategy{s}
	}
	f.setEnvironment(env, fe)
	return nil
}

// Disable disables the flag in env.
func (f *Feature) Disable(env ProjectEnvironment) {
	if f.Enabled(env) {
		fe := f.In(env)
		fe.EnabledIn = ""
		f.setEnvironment(env, fe)
	}
}

// Archive archives the flag; its name stays taken forever. Its dependencies end, so clones of all of its parents
// must be passed. It returns Conflict while other flags depend on it.
func (f *Feature) Archive(at time.Time, parents ...*Feature) error {
	if f.Archived {
		return nil
	}
	switch n := len(f.Children); {
	case n == 1:
		return f.childrenConflict(fmt.Sprintf("flag %q cannot be archived: %s depends on it; archive %[2]s first, or remove the dependency", f.Name, f.Children[0]))
	case n > 1:
		return f.childrenConflict(fmt.Sprintf("flag %q cannot be archived: %d other flags depend on it; archive those first, or remove the dependencies", f.Name, n))
	}
	f.RemoveDependencies(parents...)
	if len(f.Dependencies) > 0 {
		return Errorf(Internal, "flag %q cannot be archived: its parent %q was not loaded", f.Name, f.Dependencies[0].Feature)
	}
	f.Archived, f.ArchivedAt = true, at
	return nil
}

// Revive makes an archived flag active again: disabled in all environments, and in the lifecycle stage initial.
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

// Move moves the flag to another project; from are the environments of its current project. The flag keeps its
// state in each environment.
//
// It returns Conflict if
//   - the flag is enabled in an environment that the other project does not have. Its configuration in other
//     environments that the project lacks is kept, hidden, as after detaching an environment;
//   - the flag has dependencies, because those never cross projects;
//   - one of its strategies, in an existing environment, uses a segment that the other project cannot use. In a
//     deleted environment, the flag's configuration with such a strategy is dropped.
func (f *Feature) Move(from []ProjectEnvironment, to *Project, registry *Environments, segment func(id int64) *Segment) error {
	if f.ProjectUID == to.UID {
		return nil
	}
	if related := f.Related(); len(related) > 0 {
		err := Errorf(Conflict, "flag %q cannot be moved because it has dependencies, as a child or as a parent; remove them first", f.Name)
		for _, name := range related {
			err.Details = append(err.Details, Detail{Message: name})
		}
		return err
	}
	foreign := func(id int64) bool {
		s := segment(id)
		return s != nil && s.ProjectUID != "" && s.ProjectUID != to.UID
	}
	for _, id := range f.Use().segmentsWhere(func(s StrategyUse) bool { return s.environmentExists(registry) }) {
		if s := segment(id); foreign(id) {
			return Errorf(Conflict, "flag %q cannot be moved: it uses segment %d (%q), which belongs to project %q and cannot be used in project %q", f.Name, id, s.Name, s.Project, to.ID)
		}
	}
	var missing []string
	on := map[string]string{} // by environment name: the attachment of the target project where the flag is enabled
	planned := map[string]bool{}
	for _, env := range from {
		if plan := f.Plan(env); plan != nil {
			if err := plan.checkMoved(f.Name); err != nil {
				return err
			}
		}
		planned[env.Name] = f.Plan(env) != nil && to.HasEnvironment(env.Environment)
		if f.Enabled(env) {
			on[env.Name] = to.Environments[env.Name].ID
			if !to.HasEnvironment(env.Environment) {
				missing = append(missing, strconv.Quote(env.Name))
			}
		}
	}
	if len(missing) > 0 {
		return Errorf(Conflict, "flag %q cannot be moved: it is enabled in environments that project %q does not have (%s); disable it there, or add them to that project first",
			f.Name, to.ID, strings.Join(missing, ", "))
	}
	f.dropDeletedEnvironments(registry, foreign)
	for name, fe := range f.Environments {
		fe.EnabledIn = on[name]
		if fe.Plan != nil {
			plan := *fe.Plan
			plan.Attachment = ""
			if planned[name] {
				plan.Attachment = to.Environments[name].ID
			}
			fe.Plan = &plan
		}
		f.Environments[name] = fe
	}
	f.Project, f.ProjectUID = to.ID, to.UID
	return nil
}

// dropDeletedEnvironments drops the flag's configuration of deleted environments in which a strategy uses a
// matching segment. The registry must be at least as recent as the flag, so that it knows all environments that
// the flag can be in.
func (f *Feature) dropDeletedEnvironments(registry *Environments, of func(segment int64) bool) {
	for _, s := range f.Use().Strategies {
		if !s.environmentExists(registry) && slices.ContainsFunc(s.Segments, of) {
			delete(f.Environments, s.Environment)
		}
	}
}

// CloneAs returns a new flag with the metadata, strategies and variants of this one, disabled in all
// environments, and without release plans: with the strategies of the milestones that run. Strategies get new IDs. With replaceGroupID, a strategy whose groupId is the old name gets the
// new name.
//
// Tags, links, favorites and dependencies are not copied; a caller adds the parents with SetDependency. Strategies with
// segments in deleted environments are not copied either, because those segments may belong to another project
// now.
func (f *Feature) CloneAs(name string, replaceGroupID bool, registry *Environments, by string, at time.Time, newID func() string) *Feature {
	c := f.Clone()
	c.dropDeletedEnvironments(registry, func(int64) bool { return true })
	c.Version, c.Name, c.CreatedAt, c.CreatedBy, c.LastSeenAt = 0, name, at, by, time.Time{}
	c.Tags, c.Links, c.Comments, c.Dependencies, c.Children, c.Lifecycle = nil, nil, 0, nil, nil, nil
	for _, env := range slices.Sorted(maps.Keys(c.Environments)) {
		fe := c.Environments[env]
		fe.EnabledIn, fe.LastSeenAt, fe.OffSince, fe.Plan = "", time.Time{}, 0, nil
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

// AllVariants returns the union of the variants in envs, by name. The first environment that has a name wins.
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

// VariantNames returns the names of all variants in envs, including those of strategies, sorted and without
// duplicates.
func (f *Feature) VariantNames(envs []ProjectEnvironment) []string {
	names := []string{}
	for _, env := range envs {
		names = append(names, f.In(env).variantNames()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (e FeatureEnvironment) variantNames() (names []string) {
	for _, v := range e.Variants {
		names = append(names, v.Name)
	}
	for _, s := range e.Strategies {
		for _, v := range s.Variants {
			names = append(names, v.Name)
		}
	}
	return names
}

// AllVariantNames returns the names of the variants in all environments, also in those that the project has no longer.
func (f *Feature) AllVariantNames() (names []string) {
	for _, e := range f.Environments {
		names = append(names, e.variantNames()...)
	}
	return names
}
