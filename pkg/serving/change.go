package serving

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

// An update is an aggregate as it is now, and the number at which it changed. The aggregate is nil if it was deleted.
type update struct {
	key    flags.Key
	number int64
	now    flags.Aggregate // as it is stored

	// only is true if exactly one change happened since the state and the loaded version is that change's. Only then does
	// comparing with the state show everything that changed. Otherwise a client may have read a version in between from another
	// instance.
	only bool

	newer bool // whether it was loaded at a newer version than that of the change
	left  bool // whether a change since the state has a project that it left
}

// mayHaveLeft reports whether the aggregate may have left a project in a change that the feed does not have yet. That can only be
// if it was loaded at a newer version than that of its last entry. before and now are the UIDs of its project, in the state and
// as it was loaded; nil if the aggregate is not there.
func (u update) mayHaveLeft(before, now *string) bool {
	return u.newer && (u.left || before == nil || now == nil || *before != *now)
}

// isDifference reports whether the update is the difference to what the state has.
func (u update) isDifference(has flags.Aggregate) bool {
	return u.only && u.now != nil && flags.VersionOf(has) < flags.VersionOf(u.now)
}

// order sorts updates: flags first, because a project and the environments mark all of their flags as changed.
func (u update) order() int {
	switch u.key.Entity {
	case flags.EntityFeature:
		return 0
	case flags.EntitySegment:
		return 1
	case flags.EntityProject:
		return 2
	}
	return 3
}

// maxGone is how many removals a state remembers. Clients that are further behind read everything.
const maxGone = 1000

// goneOf lists what entries of the feed removed. It does not depend on what the instance has in memory: a client can get each
// delta from another instance.
func goneOf(entries []flags.FeedEntry) (gone []answers.Gone) {
	for _, e := range entries {
		for _, change := range e.Changes {
			switch {
			case change.Left == nil:
			case change.Key.Entity == flags.EntityFeature:
				gone = append(gone, answers.Gone{Number: e.Number, Flag: change.Key.ID, Project: change.Left.ID, ProjectUID: change.Left.UID})
			case change.Key.Entity == flags.EntitySegment:
				gone = append(gone, answers.Gone{Number: e.Number, Segment: segmentID(change.Key.ID), ProjectUID: change.Left.UID})
			}
		}
	}
	return gone
}

// with returns the state at a number, with what changed until then and what was removed.
func (s *State) with(number int64, updates []update, gone []answers.Gone) *State {
	next := *s
	next.Number = number
	all := len(updates)
	if updates = next.takeTokens(updates); len(updates)+len(gone) == 0 {
		if all > 0 {
			next.numberTokens()
		}
		next.same = s.served()
		return &next
	}
	next.same = nil
	next.Flags, next.Segments, next.Projects = maps.Clone(s.Flags), maps.Clone(s.Segments), maps.Clone(s.Projects)
	next.Gone = slices.Concat(s.Gone, gone)
	slices.SortStableFunc(updates, func(a, b update) int { return a.order() - b.order() })
	for _, u := range updates {
		var served flags.Aggregate
		if a, ok := u.now.(flags.Served); ok {
			served = a.Served()
		}
		switch u.key.Entity {
		case flags.EntityFeature:
			f, _ := served.(*flags.Feature)
			next.setFlag(u, f)
		case flags.EntitySegment:
			segment, _ := served.(*flags.Segment)
			next.setSegment(u, segment)
		case flags.EntityProject:
			p, _ := served.(*flags.Project)
			next.setProject(u, p)
		case flags.EntityEnvironments:
			if registry, ok := served.(*flags.Environments); ok {
				next.setEnvironments(u, registry)
			}
		}
	}
	next.numberTokens()
	if drop := len(next.Gone) - maxGone; drop > 0 {
		next.Since = max(next.Since, next.Gone[drop-1].Number)
		next.Gone = next.Gone[drop:]
	}
	return &next
}

// takeTokens makes the updates of tokens, and returns the others.
func (s *State) takeTokens(updates []update) (others []update) {
	var tokens map[string]*access.Token // a copy, once one of them changes
	for _, u := range updates {
		if u.key.Entity != access.EntityToken {
			others = append(others, u)
			continue
		}
		if tokens == nil {
			tokens = maps.Clone(s.Tokens)
		}
		if token, _ := u.now.(*access.Token); token != nil {
			if served, _ := token.Served().(*access.Token); served != nil {
				tokens[u.key.ID] = served
				continue
			}
		}
		delete(tokens, u.key.ID)
	}
	if tokens != nil {
		s.Tokens = tokens
	}
	return others
}

func (s *State) setFlag(u update, f *flags.Feature) {
	name := u.key.ID
	old := s.Flags[name]
	var before, now *string
	if old != nil {
		before = &old.ProjectUID
	}
	if f != nil {
		now = &f.ProjectUID
	}
	s.forget(u, before, now)
	if f == nil {
		delete(s.Flags, name)
		return
	}
	if old != nil && (!u.isDifference(old.Feature) || f.ProjectUID != old.ProjectUID) {
		old = nil
	}
	common := old != nil && reflect.DeepEqual(withoutEnvironments(old.Feature), withoutEnvironments(f))
	s.Flags[name] = s.changed(old, f, u.number, func(environment string) bool {
		return !common || !reflect.DeepEqual(old.Environments[environment], f.Environments[environment])
	})
}

// withoutEnvironments returns what all answers about a flag have in common. Tags are in no answer.
func withoutEnvironments(f *flags.Feature) flags.Feature {
	c := *f
	c.Version, c.Environments, c.Tags = 0, nil, nil
	return c
}

// changed returns a flag that changed at a number, in the answers of some environments. old is the flag before; nil if it is
// new.
func (s *State) changed(old *Flag, f *flags.Feature, number int64, in func(environment string) bool) *Flag {
	next := &Flag{Feature: f, Changed: number}
	if old == nil {
		return next
	}
	next.Changed = max(old.Changed, number)
	names := []string{""}
	for _, env := range s.Environments.List {
		names = append(names, env.Name)
	}
	for _, name := range names {
		last := old.changedIn(name)
		if in(name) {
			last = max(last, number)
		}
		if last < next.Changed {
			if next.Earlier == nil {
				next.Earlier = map[string]int64{}
			}
			next.Earlier[name] = last
		}
	}
	return next
}

// changedIn returns the number at which the answers about the flag last changed in an environment; "" for none.
func (f *Flag) changedIn(environment string) int64 {
	if number, ok := f.Earlier[environment]; ok {
		return number
	}
	return f.Changed
}

func (s *State) setSegment(u update, segment *flags.Segment) {
	id := segmentID(u.key.ID)
	var before, now *string
	if old := s.Segments[id]; old != nil {
		before = &old.ProjectUID
	}
	if segment != nil {
		now = &segment.ProjectUID
	}
	s.forget(u, before, now)
	if segment == nil {
		delete(s.Segments, id)
		return
	}
	s.Segments[id] = &Segment{Segment: segment, Changed: u.number}
}

// forget makes clients that do not know an update yet read everything, if the aggregate may have left a project that the feed does
// not name yet. A delta could not tell them to remove the aggregate, so they would keep it.
func (s *State) forget(u update, before, now *string) {
	if u.mayHaveLeft(before, now) {
		s.Since = max(s.Since, u.number)
	}
}

// segmentID is the ID of a segment in its key; 0, which no segment has, if it is not one.
func segmentID(key string) int64 {
	id, _ := strconv.ParseInt(key, 10, 64)
	return id
}

// setProject also marks the flags of the project as changed: whether a flag is on depends on the environments of its project.
func (s *State) setProject(u update, p *flags.Project) {
	old := s.Projects[u.key.ID]
	if p == nil {
		delete(s.Projects, u.key.ID)
		return
	}
	s.Projects[u.key.ID] = p
	isDifference := old != nil && old.UID == p.UID && u.isDifference(old)
	s.touchFlags(u.number, func(f *Flag) bool { return f.ProjectUID == p.UID }, func(environment string) bool {
		return !isDifference || old.Environments[environment] != p.Environments[environment]
	})
}

// setEnvironments marks all flags as changed: an environment of the same name may be another one now.
func (s *State) setEnvironments(u update, registry *flags.Environments) {
	old := s.Environments
	s.Environments = registry
	isDifference := u.isDifference(old)
	s.touchFlags(u.number, func(*Flag) bool { return true }, func(environment string) bool {
		before, now := old.Find(environment), registry.Find(environment)
		return !isDifference || (before == nil) != (now == nil) || now != nil && before.UID != now.UID
	})
}

// touchFlags marks flags as changed, in the answers of some environments.
func (s *State) touchFlags(number int64, which func(*Flag) bool, in func(environment string) bool) {
	for name, f := range s.Flags {
		if which(f) && (f.Changed < number || f.Earlier != nil) {
			s.Flags[name] = s.changed(f, f.Feature, number, in)
		}
	}
}
