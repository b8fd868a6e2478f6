package httpapi

import (
	"time"

	"golang.org/x/sync/errgroup"

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

// Deliveries are the events that wait in the outbox of an addon, and the latest that it sent or that are parked because it could
// not: three queries, or one.
func (tx *Tx) Deliveries(addon int64, which flags.WhichDeliveries, limit int) []flags.Delivery {
	type deliveries struct {
		addon int64
		which flags.WhichDeliveries
		limit int
	}
	return memoized(tx, deliveries{addon, which, limit}, func() ([]flags.Delivery, error) {
		return tx.service.store.Deliveries(tx.ctx, addon, which, limit)
	})
}

// Parked are the oldest parked entries of an addon, and whether there are more.
func (tx *Tx) Parked(addon int64, limit int) ([]flags.OutboxEntry, bool) {
	type parked struct {
		addon int64
		limit int
	}
	type page struct {
		entries []flags.OutboxEntry
		more    bool
	}
	p := memoized(tx, parked{addon, limit}, func() (p page, err error) {
		p.entries, p.more, err = tx.service.store.Parked(tx.ctx, addon, limit)
		return p, err
	})
	return p.entries, p.more
}

// OutboxEvents are the events of entries, by their IDs.
func (tx *Tx) OutboxEvents(entries []flags.OutboxEntry) map[string]flags.Event {
	type outboxEvents struct{ entries string }
	ids := Each(entries, func(e flags.OutboxEntry) string { return e.ID })
	return memoized(tx, outboxEvents{literal(ids)}, func() (map[string]flags.Event, error) {
		return tx.service.store.OutboxEvents(tx.ctx, entries)
	})
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

// SegmentForChange is the segment of that id with the number of uses that began, which a change that depends on its uses is
// conditional on. NotFound when it does not exist.
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
	if count, exists := tx.round.view[key].(*flags.UseCount); exists {
		return count.Flags
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

// FindToken is the API token or personal token whose secret has that hash; nil when it does not exist.
func (tx *Tx) FindToken(hash string) *access.Token {
	return Find[*access.Token](tx, access.TokenKey(hash))
}

// FindSignupToken is the public signup token whose secret has that hash; nil when it does not exist.
func (tx *Tx) FindSignupToken(hash string) *access.SignupToken {
	return Find[*access.SignupToken](tx, access.SignupTokenKey(hash))
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

// A listOf is the key of a list in the memo: of all aggregates of an entity.
type listOf flags.Entity

// allOf is every aggregate of an entity, by one query a megabyte.
func allOf(tx *Tx, entity flags.Entity) []flags.Aggregate {
	return memoized(tx, listOf(entity), func() ([]flags.Aggregate, error) { return tx.service.store.List(tx.ctx, entity) })
}

// All returns all aggregates of an entity, in no order.
func (tx *Tx) All(entity flags.Entity) []flags.Aggregate { return allOf(tx, entity) }

// list is allOf with the type of the aggregates.
func list[A flags.Aggregate](tx *Tx, entity flags.Entity) []A {
	return Each(allOf(tx, entity), func(a flags.Aggregate) A { return a.(A) })
}

// Projects is every project.
func (tx *Tx) Projects() []*flags.Project { return list[*flags.Project](tx, flags.EntityProject) }

// Users is every user and service account.
func (tx *Tx) Users() []*access.User { return list[*access.User](tx, access.EntityUser) }

// Tokens is every API token.
func (tx *Tx) Tokens() []*access.Token { return list[*access.Token](tx, access.EntityToken) }

// SignupTokens is every public signup token.
func (tx *Tx) SignupTokens() []*access.SignupToken {
	return list[*access.SignupToken](tx, access.EntitySignupToken)
}

// Segments is every segment, by name.
func (tx *Tx) Segments() []*flags.Segment {
	segments := list[*flags.Segment](tx, flags.EntitySegment)
	flags.SortSegments(segments)
	return segments
}

// segmentsByName is the key of FindSegmentNamed in the memo.
type segmentsByName struct{}

// FindSegmentNamed is the segment of that name, from the list of all; nil when it does not exist. It is for reading.
func (tx *Tx) FindSegmentNamed(name string) *flags.Segment {
	return memoized(tx, segmentsByName{}, func() (map[string]*flags.Segment, error) {
		named := map[string]*flags.Segment{}
		for _, s := range list[*flags.Segment](tx, flags.EntitySegment) {
			named[s.Name] = s
		}
		return named, nil
	})[name]
}

// Summaries are the active flags of a project, by name.
func (tx *Tx) Summaries(p *flags.Project) []flags.FeatureSummary {
	return tx.SummariesOf([]*flags.Project{p}, false)[p.UID]
}

// ArchivedSummaries are the archived flags of a project, by name.
func (tx *Tx) ArchivedSummaries(p *flags.Project) []flags.FeatureSummary {
	return tx.SummariesOf([]*flags.Project{p}, true)[p.UID]
}

// SummaryPage is the first flags of projects that a query selects, by name in a project, and whether it selects more of one: one query
// a project and megabyte.
func (tx *Tx) SummaryPage(projects []*flags.Project, q flags.SummaryQuery) (list []flags.FeatureSummary, more bool) {
	type summaryPages struct{ query string }
	type page struct {
		list []flags.FeatureSummary
		more bool
	}
	pages := ofProjects(tx, summaryPages{literal(q)}, projects, func(p *flags.Project) (found page, err error) {
		found.list, found.more, err = tx.service.store.SummaryPage(tx.ctx, p.UID, q)
		return found, err
	})
	for _, p := range pages {
		list, more = append(list, p.list...), more || p.more
	}
	return list, more
}

// SummariesOf are the active or the archived flags of projects, by the project's UID: one query a project and megabyte.
func (tx *Tx) SummariesOf(projects []*flags.Project, archived bool) map[string][]flags.FeatureSummary {
	type summaries struct{ archived bool }
	return ofProjects(tx, summaries{archived}, projects, func(p *flags.Project) ([]flags.FeatureSummary, error) {
		return tx.service.store.Summaries(tx.ctx, p.UID, archived)
	})
}

// A Count is how many active flags a project has, and how many of them are stale.
type Count struct{ Active, Stale int }

// CountsOf counts the flags of projects, by the project's UID: one query a project.
func (tx *Tx) CountsOf(projects []*flags.Project) map[string]Count {
	type counts struct{}
	return ofProjects(tx, counts{}, projects, func(p *flags.Project) (n Count, err error) {
		n.Active, n.Stale, err = tx.service.store.Counts(tx.ctx, p.UID)
		return n, err
	})
}

// TagsOf are the tags of all flags of projects, each once: two queries a project.
func (tx *Tx) TagsOf(projects []*flags.Project) []flags.Tag {
	type tags struct{}
	found := ofProjects(tx, tags{}, projects, func(p *flags.Project) ([]flags.Tag, error) {
		return tx.service.store.Tags(tx.ctx, p.UID)
	})
	var all []flags.Tag
	for _, tags := range found {
		all = append(all, tags...)
	}
	return flags.DistinctTags(all)
}

// Log is a page of the log of all events, by one query.
func (tx *Tx) Log(q flags.LogQuery) flags.LogPage {
	type log struct{ query string }
	return memoized(tx, log{literal(q)}, func() (flags.LogPage, error) { return tx.service.store.Log(tx.ctx, q) })
}

// Pages loads aggregates a hundred at a time, one call each, and hands each page to visit, with nil for what does not exist.
// The aggregates are not copies, and those of several pages are not kept for later reads: it is for reading much.
func (tx *Tx) Pages(keys []flags.Key, visit func(keys []flags.Key, found flags.View) error) error {
	const size = 100 // one call of the store
	if len(keys) <= size {
		tx.Load(keys...)
		tx.CheckTime()
		return visit(keys, tx.round.view)
	}
	for from := 0; from < len(keys); from += size {
		page := keys[from:min(from+size, len(keys))]
		tx.CheckTime()
		found, err := tx.service.store.Load(tx.ctx, page)
		if err != nil {
			return err
		}
		tx.CheckTime()
		if err := visit(page, found); err != nil {
			return err
		}
	}
	return nil
}

// projectsAtOnce is how many projects are queried at the same time.
const projectsAtOnce = 16

// ofProjects queries something about each project, by its UID, once in a round. The key is that of memoized, without the project.
func ofProjects[T any, K comparable](tx *Tx, key K, projects []*flags.Project, query func(*flags.Project) (T, error)) map[string]T {
	type ofProject struct {
		key K
		uid string
	}
	all := make(map[string]T, len(projects))
	var unknown []*flags.Project
	for _, p := range projects {
		if known, found := tx.round.memo[ofProject{key, p.UID}]; found {
			all[p.UID] = known.(T)
		} else {
			unknown = append(unknown, p)
		}
	}
	found := make([]T, len(unknown))
	tx.must(atOnce(projectsAtOnce, len(unknown), func(i int) (err error) {
		found[i], err = query(unknown[i])
		return err
	}))
	for i, p := range unknown {
		all[p.UID], tx.round.memo[ofProject{key, p.UID}] = found[i], found[i]
	}
	return all
}

// atOnce calls do for 0 to n-1, at most limit at the same time, and returns the first error. A panic becomes an error, because in a
// goroutine it would end the process.
func atOnce(limit, n int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = panicked(cause)
				}
			}()
			return do(i)
		})
	}
	return group.Wait()
}

// Each is shape.Each.
func Each[A, B any](list []A, convert func(A) B) []B { return shape.Each(list, convert) }

// Usage are the sums of a flag for the hours or days from a time on, oldest first, by one query a megabyte.
func (tx *Tx) Usage(feature string, unit usage.Unit, from time.Time) []usage.Sum {
	type usageQuery struct {
		feature string
		unit    usage.Unit
		from    time.Time
	}
	return memoized(tx, usageQuery{feature, unit, from}, func() ([]usage.Sum, error) { return tx.service.store.Usage(tx.ctx, feature, unit, from) })
}

// Applications is every application that reported, by name.
func (tx *Tx) Applications() []*usage.Application {
	return list[*usage.Application](tx, usage.EntityApplication)
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

// FindSessions are the sessions of a user; nil if the user never signed in.
func (tx *Tx) FindSessions(user int64) *access.Sessions {
	return Find[*access.Sessions](tx, access.SessionsKey(user))
}

// Sessions are the sessions of a user, which may be none.
func (tx *Tx) Sessions(user int64) *access.Sessions {
	return findOrNew(tx, access.SessionsKey(user), &access.Sessions{User: user})
}
