package httpapi

import (
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
	"guidon/pkg/usage"
)

// FindProject is the project of that id; nil when it does not exist.
func (tx *Tx) FindProject(id string) *flags.Project {
	if flags.CheckName(id) != "" {
		return nil
	}
	return Find[*flags.Project](tx, flags.ProjectKey(id))
}

// Project is the project of that id. NotFound when it does not exist.
func (tx *Tx) Project(id string) *flags.Project {
	p := tx.FindProject(id)
	if p == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no project %q", jsonbody.Shorten(id)))
	}
	return p
}

// ErrNotSetUp is the error of a store without the data that every service begins with.
var ErrNotSetUp = flags.Errorf(flags.Internal, "the store is not set up: it has no environments")

// Environments is the registry of environments.
func (tx *Tx) Environments() *flags.Environments {
	registry := Find[*flags.Environments](tx, flags.EnvironmentsKey())
	if registry == nil {
		tx.Fail(ErrNotSetUp)
	}
	return registry
}

// ProjectEnvironments are the environments of a project, in order.
func (tx *Tx) ProjectEnvironments(p *flags.Project) []flags.ProjectEnvironment {
	return p.AvailableEnvironments(tx.Environments())
}

// FindProjectEnvironment is the environment of a project by that name.
func (tx *Tx) FindProjectEnvironment(p *flags.Project, name string) (env flags.ProjectEnvironment, found bool) {
	for _, env := range tx.ProjectEnvironments(p) {
		if env.Name == name {
			return env, true
		}
	}
	return env, false
}

// ProjectEnvironment is the environment of a project by that name. NotFound when the project does not have it.
func (tx *Tx) ProjectEnvironment(p *flags.Project, name string) flags.ProjectEnvironment {
	env, found := tx.FindProjectEnvironment(p, name)
	if !found {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no environment %q in project %q", jsonbody.Shorten(name), p.ID))
	}
	return env
}

// FindFeature is the flag of that name, active or archived, in whatever project; nil when it does not exist.
func (tx *Tx) FindFeature(name string) *flags.Feature {
	if flags.CheckName(name) != "" {
		return nil
	}
	return Find[*flags.Feature](tx, flags.FeatureKey(name))
}

// FeatureOf is the active flag of that name in a project; nil is any project. NotFound when it does not exist, is in another
// project, or is archived.
func (tx *Tx) FeatureOf(p *flags.Project, name string) *flags.Feature {
	f := tx.FeatureOrArchivedOf(p, name)
	if f.Archived {
		tx.Fail(flags.Errorf(flags.NotFound, "flag %q is archived; revive it first, with POST /api/admin/archive/revive/%s", name, name))
	}
	return f
}

// FeatureOrArchivedOf is FeatureOf for archived flags too.
func (tx *Tx) FeatureOrArchivedOf(p *flags.Project, name string) *flags.Feature {
	f := tx.FindFeature(name)
	switch {
	case f == nil:
		tx.Fail(flags.Errorf(flags.NotFound, "there is no flag %q", jsonbody.Shorten(name)))
	case p != nil && f.ProjectUID != p.UID:
		tx.Fail(flags.Errorf(flags.NotFound, "there is no flag %q in project %q", jsonbody.Shorten(name), p.ID))
	}
	return f
}

// Roles is the registry of roles.
func (tx *Tx) Roles() *access.Roles {
	return findOrNew(tx, access.RolesKey(), &access.Roles{})
}

// TagTypes is the registry of tag types.
func (tx *Tx) TagTypes() *flags.TagTypes {
	return findOrNew(tx, flags.TagTypesKey(), &flags.TagTypes{})
}

// StrategyTypes is the registry of the strategy types that are not built in.
func (tx *Tx) StrategyTypes() *flags.StrategyTypes {
	return findOrNew(tx, flags.StrategyTypesKey(), &flags.StrategyTypes{})
}

// ContextFields is the registry of context fields.
func (tx *Tx) ContextFields() *flags.ContextFields {
	return findOrNew(tx, flags.ContextFieldsKey(), &flags.ContextFields{})
}

// Addons is the registry of addons.
func (tx *Tx) Addons() *flags.Addons {
	return findOrNew(tx, flags.AddonsKey(), &flags.Addons{})
}

// findOrNew is Find, with a new aggregate for one that was never written.
func findOrNew[A copyable[A]](tx *Tx, key flags.Key, empty A) A {
	found := Find[A](tx, key)
	if flags.Aggregate(found) == flags.Aggregate(*new(A)) {
		tx.copies[key] = empty
		return empty
	}
	return found
}

// FindSegment is the segment of that id; nil when it does not exist. A change of the segment takes SegmentForChange.
func (tx *Tx) FindSegment(id int64) *flags.Segment {
	return Find[*flags.Segment](tx, flags.SegmentKey(id))
}

// SegmentForChange is the segment of that id, with its count of uses. A change that depends on the uses commits only if this count
// is unchanged. NotFound when it does not exist.
func (tx *Tx) SegmentForChange(id int64) *flags.Segment {
	tx.Load(flags.SegmentKey(id), flags.UseCountKey(id))
	s := tx.Segment(id)
	if count, exists := tx.round.view[flags.UseCountKey(id)].(*flags.UseCount); exists {
		stored := tx.round.view[s.Key()].(*flags.Segment).Clone() // what the store loaded is shared
		s.UseCount, stored.UseCount = count.Count, count.Count
		tx.round.view[s.Key()] = stored
	}
	return s
}

// FlagsUsing is how many flags use a segment, in any environment, archived ones too. Read it before what the flags use.
func (tx *Tx) FlagsUsing(segment int64) int64 {
	key := flags.UseCountKey(segment)
	tx.Load(key)
	n := int64(0)
	if count, exists := tx.round.view[key].(*flags.UseCount); exists {
		n = count.Flags
	}
	for key, before := range tx.round.changed {
		if key.Entity == flags.EntityFeature {
			was, _ := before.(*flags.Feature)
			is, _ := tx.round.view[key].(*flags.Feature)
			n += usesOnce(is, segment) - usesOnce(was, segment)
		}
	}
	return n
}

// usesOnce is 1 if a flag uses a segment.
func usesOnce(f *flags.Feature, segment int64) int64 {
	if slices.Contains(f.Segments(), segment) {
		return 1
	}
	return 0
}

// Segment is the segment of that id. NotFound when it does not exist.
func (tx *Tx) Segment(id int64) *flags.Segment {
	s := tx.FindSegment(id)
	if s == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no segment %d", id))
	}
	return s
}

// FindUser is the user or service account of that id; nil when it does not exist.
func (tx *Tx) FindUser(id int64) *access.User { return Find[*access.User](tx, access.UserKey(id)) }

// User is the user or service account of that id. NotFound when it does not exist.
func (tx *Tx) User(id int64) *access.User {
	u := tx.FindUser(id)
	if u == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no user %d", id))
	}
	return u
}

// LastUse is the last use of the token whose secret has that hash; nil when it was never used.
func (tx *Tx) LastUse(hash string) *access.TokenUse {
	key := access.TokenUseKey(hash)
	tx.Load(key)
	use, _ := tx.round.view[key].(*access.TokenUse)
	return use
}

// CallersProjects are the projects in which the caller has a role. They are none for an API token and for an administrator,
// who need none.
func (tx *Tx) CallersProjects() []*flags.Project {
	user := tx.Caller.User
	if user == nil || tx.Caller.Admin {
		return nil
	}
	tx.Load(ProjectKeys(user.Projects...)...)
	var projects []*flags.Project
	for _, id := range user.Projects {
		if p := tx.FindProject(id); p != nil {
			projects = append(projects, p)
		}
	}
	return projects
}

// Each is shape.Each.
func Each[A, B any](list []A, convert func(A) B) []B { return shape.Each(list, convert) }

// Applications is every application that reported, by name.
func (tx *Tx) Applications() []*usage.Application {
	return List[*usage.Application](tx, usage.EntityApplication)
}

// FindApplication is the application of that name; nil when it does not exist.
func (tx *Tx) FindApplication(name string) *usage.Application {
	if !canBeReported(name) {
		return nil
	}
	return Find[*usage.Application](tx, usage.ApplicationKey(name))
}

// Application is the application of that name. NotFound when it does not exist.
func (tx *Tx) Application(name string) *usage.Application {
	a := tx.FindApplication(name)
	if a == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no application %q", jsonbody.Shorten(name)))
	}
	return a
}

// ApplicationNames are the names of flags that an application evaluated.
func (tx *Tx) ApplicationNames(a *usage.Application) *usage.ApplicationNames {
	return findOrNew(tx, usage.ApplicationNamesKey(a.Name), &usage.ApplicationNames{Application: a.Name})
}

// Favorites are the favorites of the caller.
func (tx *Tx) Favorites() *flags.Favorites {
	owner := tx.Caller.FavoritesKey()
	return findOrNew(tx, flags.FavoritesKey(owner), &flags.Favorites{Owner: owner})
}

// Sessions are the sessions of a user, which may be none.
func (tx *Tx) Sessions(user int64) *access.Sessions {
	return findOrNew(tx, access.SessionsKey(user), &access.Sessions{User: user})
}
