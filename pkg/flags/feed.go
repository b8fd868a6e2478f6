package flags

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A Feed is the log of the changes that applications see. Each transaction that changes what they see adds one entry,
// so an instance that serves applications can tell with one small read whether its memory is up to date.
//
// The feed is one item, and holds only the newest entries: those of two lists, see Turn. Older entries are in pages, see
// FeedStore.FeedPages.
type Feed struct {
	// Epoch is new whenever the numbers start again or an unknown number of changes had no entries: after a restore,
	// after a deployment that changes SnapshotForm. Memory and snapshots of another epoch are worthless.
	Epoch  string
	Number int64 // of the newest entry; 0 if there was none

	// Entries are the newest entries, oldest first. Their numbers are consecutive, and the last one has Number.
	Entries []FeedEntry

	// Turn counts how often the newer list became the older one. Newer is how many of Entries are in the newer list, and
	// Size is the size of that list in bytes.
	Turn  int64
	Newer int
	Size  int

	Format int    // the version of the stored forms of the table
	Form   int    // the SnapshotForm of the version that began the epoch; 0 for the first one of a table
	Table  string // the name of the table that the epoch began in: a restored table has another one
}

// Key returns the key of the feed, of which there is only one.
func (f *Feed) Key() Key { return FeedKey() }

// StoredVersion returns the number of the newest entry, which rises by one with each entry.
func (f *Feed) StoredVersion() int64 { return f.Number }

// After returns the entries with higher numbers than number, oldest first, and whether these are all of them. If not,
// the others are in pages.
func (f *Feed) After(number int64) (entries []FeedEntry, all bool) {
	first := f.Number - int64(len(f.Entries)) + 1
	if number+1 < first {
		return f.Entries, false
	}
	return f.Entries[min(number+1-first, int64(len(f.Entries))):], true
}

// A FeedEntry lists what one transaction changed for applications.
type FeedEntry struct {
	Number  int64
	Changes []FeedChange
	Stored  string // the entry as it is stored, with changes that only a later version knows; "" for one that was not loaded
}

// A FeedChange is an aggregate that changed, and the version that it got. Reads of several items are not a snapshot, so
// a reader can see the entry and still read the aggregate as it was before. It must then read the aggregate again.
type FeedChange struct {
	Key     Key    // of a flag, segment, project, token or the registry of environments
	UID     string // of a project, "" for others
	Version int64  // the version that it got; 0 if it was deleted, for a token also if its record stays

	// Left is the project that a flag or segment left, because it moved, was archived or deleted; nil if it left none. Deltas
	// need it: an instance that did not read between two changes cannot know what was there.
	Left *FeedProject
}

// A FeedProject is a project that a flag or segment left. Both are "" for a segment of all projects.
type FeedProject struct{ ID, UID string }

// A Served is an aggregate on which responses to applications depend: a *Feature, *Segment, *Project, *Environments or
// *access.Token.
type Served interface {
	Aggregate

	// Served returns what the responses depend on, with its version, in a new struct with a field Version; nil for nothing.
	Served() Aggregate
}

// Served returns the parts of the flag that applications see, in all environments; nil if it is archived.
func (f *Feature) Served() Aggregate {
	if f.Archived {
		return nil
	}
	c := &Feature{
		Version: f.Version, Name: f.Name, Project: f.Project, ProjectUID: f.ProjectUID, Metadata: f.Metadata,
		Tags: f.Tags, Dependencies: f.Dependencies,
	}
	c.Owner, c.ValueSchema = "", nil
	if c.Description != nil {
		c.Description = new(firstRunes(*c.Description, MaxServedDescription))
	}
	for name, fe := range f.Environments {
		fe.LastSeenAt, fe.OffSince, fe.Plan = time.Time{}, 0, nil
		var strategies []Strategy
		for _, s := range fe.Strategies {
			if !s.Disabled {
				s.ID, s.Title, s.SortOrder = "", nil, 0
				strategies = append(strategies, s)
			}
		}
		fe.Strategies = strategies
		if fe.EnabledIn == "" && len(strategies) == 0 && len(fe.Variants) == 0 {
			continue // as without an entry
		}
		if c.Environments == nil {
			c.Environments = make(map[string]FeatureEnvironment, len(f.Environments))
		}
		c.Environments[name] = fe
	}
	return c
}

// Served returns the parts of the segment that applications see.
func (s *Segment) Served() Aggregate {
	return &Segment{Version: s.Version, ID: s.ID, Name: s.Name, Project: s.Project, ProjectUID: s.ProjectUID, Constraints: s.Constraints}
}

// Served returns the parts of the project on which answers to applications depend: its UID and its environments.
func (p *Project) Served() Aggregate {
	c := &Project{Version: p.Version, ID: p.ID, UID: p.UID, Environments: make(map[string]Attachment, len(p.Environments))}
	for name, a := range p.Environments {
		a.DefaultStrategy = nil
		c.Environments[name] = a
	}
	return c
}

// Served returns the names and UIDs of the environments.
func (e *Environments) Served() Aggregate {
	c := &Environments{Version: e.Version, List: make([]Environment, len(e.List))}
	for i, env := range e.List {
		c.List[i] = Environment{Name: env.Name, UID: env.UID}
	}
	slices.SortFunc(c.List, func(a, b Environment) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// ChangesServed reports whether a write changes what applications see.
func (w Write) ChangesServed() bool {
	before, after := servedForm(w.Before), servedForm(w.After)
	if before == nil || after == nil {
		return before != nil || after != nil
	}
	return !sameContent(reflect.ValueOf(before), reflect.ValueOf(after))
}

// sameContent is reflect.DeepEqual, except that an empty list or map is the same as nil: loaded aggregates have nil, and
// those that were made from a request may have either.
func sameContent(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return sameContent(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameContent(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		same := a.Len() == b.Len()
		for i := 0; same && i < a.Len(); i++ {
			same = sameContent(a.Index(i), b.Index(i))
		}
		return same
	case reflect.Map:
		same := a.Len() == b.Len()
		for _, key := range a.MapKeys() {
			other := b.MapIndex(key)
			same = same && other.IsValid() && sameContent(a.MapIndex(key), other)
		}
		return same
	}
	return a.Equal(b)
}

// Left returns the project that a flag or segment leaves for applications with a write; nil if it leaves none.
func (w Write) Left() *FeedProject {
	from, to := servedIn(w.Before), servedIn(w.After)
	if from == nil || to != nil && *to == *from {
		return nil
	}
	return from
}

// servedIn returns the project of a flag or segment that applications see; nil for others.
func servedIn(a Aggregate) *FeedProject {
	switch a := a.(type) {
	case *Feature:
		if a != nil && !a.Archived {
			return &FeedProject{a.Project, a.ProjectUID}
		}
	case *Segment:
		if a != nil {
			return &FeedProject{a.Project, a.ProjectUID}
		}
	}
	return nil
}

// servedForm returns what applications see of an aggregate, without its version; nil for nothing.
func servedForm(a Aggregate) Aggregate {
	served, ok := a.(Served)
	if !ok || reflect.ValueOf(a).IsNil() {
		return nil
	}
	form := served.Served()
	if form != nil {
		reflect.ValueOf(form).Elem().FieldByName("Version").SetInt(0)
	}
	return form
}

// A FeedStore holds what serving applications needs in addition to aggregates: the pages of the feed, and the snapshots.
type FeedStore interface {
	// FeedPages returns the entries with higher numbers than number that are no longer in the feed itself, oldest first.
	// Some may be missing: pages are deleted after a week.
	FeedPages(ctx context.Context, number int64) ([]FeedEntry, error)

	// ResetFeed begins a new epoch, so that every instance reads everything again.
	ResetFeed(ctx context.Context, epoch string) error

	// ReadSnapshot returns the content of a snapshot, or nil if a part of it is missing or damaged.
	ReadSnapshot(ctx context.Context, head *SnapshotHead) ([]byte, error)

	// WriteSnapshot stores a snapshot and makes it the current one, unless there is a newer one of the same epoch. It sets
	// Hash and Chunks of the head.
	WriteSnapshot(ctx context.Context, head SnapshotHead, content []byte) error

	// TakeLease takes the lease for reading everything until a time, for a holder. It returns false if another holder
	// has it at the time now.
	TakeLease(ctx context.Context, holder string, now, until time.Time) (bool, error)
}

// A SnapshotHead says which snapshot is the current one. It is loaded as an aggregate, with SnapshotKey.
type SnapshotHead struct {
	Epoch  string
	Number int64     // of the last entry of the feed that the snapshot includes
	Hash   string    // of the content: its SHA-256 in hexadecimal digits. It names the chunks of the snapshot
	Chunks int       // in how many items the content is
	At     time.Time // when it was written
}

// Key returns the key of the head, of which there is only one for each form.
func (h *SnapshotHead) Key() Key { return SnapshotKey() }

// StoredVersion returns the number of the newest entry of the feed that the snapshot includes.
func (h *SnapshotHead) StoredVersion() int64 { return h.Number }
