package httpapi

import (
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/review"
	"guidon/pkg/usage"
)

// A listOf is the key of a list in the memo: of all aggregates of an entity.
type listOf flags.Entity

// allOf is every aggregate of an entity, by one query a megabyte.
func allOf(tx *Tx, entity flags.Entity) []flags.Aggregate {
	all := memoized(tx.ofTransaction(), listOf(entity), func() ([]flags.Aggregate, error) { return tx.service.store.List(tx.ctx, entity) })
	if tx.round.base == nil { // apply keeps the list up to date
		return all
	}
	for key := range tx.round.changed {
		if key.Entity == entity {
			all = replaced(all, key, tx.round.view[key])
		}
	}
	return all
}

// All returns all aggregates of an entity, in no order.
func (tx *Tx) All(entity flags.Entity) []flags.Aggregate { return allOf(tx, entity) }

// List returns all aggregates of an entity with their type, in no order.
func List[A flags.Aggregate](tx *Tx, entity flags.Entity) []A {
	return Each(allOf(tx, entity), func(a flags.Aggregate) A { return a.(A) })
}

// Projects is every project.
func (tx *Tx) Projects() []*flags.Project { return List[*flags.Project](tx, flags.EntityProject) }

// Users is every user and service account.
func (tx *Tx) Users() []*access.User { return List[*access.User](tx, access.EntityUser) }

// Tokens is every API token.
func (tx *Tx) Tokens() []*access.Token { return List[*access.Token](tx, access.EntityToken) }

// Segments is every segment, by name.
func (tx *Tx) Segments() []*flags.Segment {
	segments := List[*flags.Segment](tx, flags.EntitySegment)
	flags.SortSegments(segments)
	return segments
}

// segmentsByName is the key of FindSegmentNamed in the memo.
type segmentsByName struct{}

// FindSegmentNamed is the segment of that name, from the list of all; nil when it does not exist. It is for reading.
func (tx *Tx) FindSegmentNamed(name string) *flags.Segment {
	return memoized(tx, segmentsByName{}, func() (map[string]*flags.Segment, error) {
		named := map[string]*flags.Segment{}
		for _, s := range List[*flags.Segment](tx, flags.EntitySegment) {
			named[s.Name] = s
		}
		return named, nil
	})[name]
}

// Summaries are the active flags of a project, by name.
func (tx *Tx) Summaries(p *flags.Project) []flags.FeatureSummary {
	return tx.SummariesOf([]*flags.Project{p}, false)[p.UID]
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

// Requests are the open change requests of projects, or the latest of the others, by the project's UID: one query a project.
func (tx *Tx) Requests(projects []*flags.Project, open bool) map[string][]*review.Request {
	type requests struct{ open bool }
	return ofProjects(tx, requests{open}, projects, func(p *flags.Project) ([]*review.Request, error) {
		return tx.service.store.Requests(tx.ctx, p.UID, open)
	})
}

// CountsOf counts the flags of projects, by the project's UID: one query a project.
func (tx *Tx) CountsOf(projects []*flags.Project) map[string]flags.FlagCounts {
	type counts struct{}
	return ofProjects(tx, counts{}, projects, func(p *flags.Project) (flags.FlagCounts, error) {
		return tx.service.store.Counts(tx.ctx, p.UID)
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
	for page := range slices.Chunk(keys, size) {
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
		if known, found := tx.round.recall(ofProject{key, p.UID}); found {
			all[p.UID] = known.(T)
		} else {
			unknown = append(unknown, p)
		}
	}
	found := make([]T, len(unknown))
	tx.must(AtOnce(projectsAtOnce, len(unknown), func(i int) (err error) {
		found[i], err = query(unknown[i])
		return err
	}))
	for i, p := range unknown {
		all[p.UID] = found[i]
		tx.round.remember(ofProject{key, p.UID}, found[i])
	}
	return all
}

// AtOnce calls do for 0 to n-1, at most limit at the same time, and returns the first error. A panic becomes an error, because in a
// goroutine it would end the process.
func AtOnce(limit, n int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = PanicError(cause)
				}
			}()
			return do(i)
		})
	}
	return group.Wait()
}

// Usage are the sums of a flag for the hours or days from a time on, oldest first, by one query a megabyte.
func (tx *Tx) Usage(feature string, unit usage.Unit, from time.Time) []usage.Sum {
	type usageQuery struct {
		feature string
		unit    usage.Unit
		from    time.Time
	}
	return memoized(tx, usageQuery{feature, unit, from}, func() ([]usage.Sum, error) { return tx.service.store.Usage(tx.ctx, feature, unit, from) })
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
