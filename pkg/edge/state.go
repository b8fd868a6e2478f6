package edge

import (
	"errors"
	"maps"
	"reflect"
	"sync"
	"time"

	"guidon/pkg/answers"
)

// A state is what an upstream token could read at one time. It never changes.
type state struct {
	set      *answers.Set
	revision answers.Revision
	flags    map[string]*answers.ClientFeature
	segments map[int64]*answers.Segment
	tag      string          // of the response that it was made from: the next request names it
	odd      map[part]string // what the upstream has and Edge cannot read, and why

	taken  time.Time     // when it became the current one
	next   chan struct{} // closed when there is a newer state
	frames sync.Map      // what streams are told about it, by the ID of the event before: *sharedFrame
}

// unleashEpoch is the epoch of the states of Unleash, whose revisions are numbers without one.
const unleashEpoch = "unleash"

// ownEpoch is the epoch of states that Edge numbers itself, because the upstream does not.
const ownEpoch = "edge"

// errOlder refuses a reading that is older than what Edge has.
var errOlder = errors.New("its flags are older than those that Edge already has")

// errIncomplete refuses changes to a state that Edge does not have.
var errIncomplete = errors.New("its response has only changes, and Edge has no flags yet")

// after returns the state that a reading makes of the one before, which is nil for the first. environment is its name.
func (r *reading) after(before *state, environment string) (*state, error) {
	if before == nil {
		before = &state{set: answers.NewSet(environment)}
		if !r.complete {
			return nil, errIncomplete
		}
	}
	epoch, number := r.epoch, r.number
	if !r.numbered { // an upstream without revisions, or a file
		epoch, number = ownEpoch, before.revision.Number+1
	}
	sameEpoch := before.flags != nil && epoch == before.revision.Epoch
	switch {
	case sameEpoch && number < before.revision.Number, beganBefore(epoch, before.revision.Epoch):
		return nil, errOlder
	case !sameEpoch && !r.complete:
		return nil, errIncomplete
	}
	next := &state{tag: r.tag, next: make(chan struct{}), revision: answers.Revision{Epoch: epoch, Number: number, Since: number}}
	if sameEpoch {
		next.revision.Since, next.revision.Gone = before.revision.Since, before.revision.Gone
	}
	next.collect(before, r, sameEpoch)
	next.set = before.set.With(next.revisionAfter(before, sameEpoch), next.changesFrom(before, sameEpoch))
	return next, nil
}

// collect sets the flags and segments: those of a complete reading, or those before with the changes.
func (s *state) collect(before *state, r *reading, sameEpoch bool) {
	s.flags, s.segments, s.odd = map[string]*answers.ClientFeature{}, map[int64]*answers.Segment{}, map[part]string{}
	if !r.complete {
		s.flags, s.segments, s.odd = maps.Clone(before.flags), maps.Clone(before.segments), maps.Clone(before.odd)
	}
	for _, name := range r.gone {
		delete(s.flags, name)
		delete(s.odd, part{aFlag, name})
	}
	for _, id := range r.goneSegments {
		delete(s.segments, id)
		delete(s.odd, segmentPart(id))
	}
	for name, f := range r.features {
		if old := before.flags[name]; old != nil && reflect.DeepEqual(old, f) {
			f = old
		}
		s.flags[name] = f
		delete(s.odd, part{aFlag, name})
	}
	for id, segment := range r.segments {
		delete(s.odd, segmentPart(id))
		if old := before.segments[id]; old != nil && sameEpoch && reflect.DeepEqual(old.ClientSegment, *segment) {
			s.segments[id] = old
			continue
		}
		s.segments[id] = &answers.Segment{ClientSegment: *segment, ProjectUID: segment.Project, Changed: s.revision.Number}
	}
	maps.Copy(s.odd, r.odd)
}

// maxGone is how many removals a state remembers. Clients that are further behind read everything.
const maxGone = 1000

// revisionAfter adds what was removed since the state before to the revision. Projects have no UIDs here: their IDs stand for these.
func (s *state) revisionAfter(before *state, sameEpoch bool) answers.Revision {
	revision := &s.revision
	if !sameEpoch {
		return *revision
	}
	gone := revision.Gone[:len(revision.Gone):len(revision.Gone)]
	for name, old := range before.flags {
		if now := s.flags[name]; now == nil || now.Project != old.Project {
			gone = append(gone, answers.Gone{Number: revision.Number, Flag: name, Project: old.Project, ProjectUID: old.Project})
		}
	}
	for id, old := range before.segments {
		if s.segments[id] == nil {
			gone = append(gone, answers.Gone{Number: revision.Number, Segment: id, ProjectUID: old.ProjectUID})
		}
	}
	if drop := len(gone) - maxGone; drop > 0 {
		revision.Since = max(revision.Since, gone[drop-1].Number)
		gone = gone[drop:]
	}
	revision.Gone = gone
	return *revision
}

// changesFrom returns the differences to the state before. In a new epoch everything is marked as changed, because its numbers
// cannot be compared with earlier ones.
func (s *state) changesFrom(before *state, sameEpoch bool) (changes answers.Changes) {
	for name, f := range s.flags {
		flag := answers.Flag{Feature: func() answers.ClientFeature { return *f }}
		if same := before.flags[name] == f; same && sameEpoch {
			continue
		} else if same {
			flag, _ = before.set.Flag(name) // with what was encoded and compiled
		}
		flag.Name, flag.Project, flag.ProjectUID = name, f.Project, f.Project
		flag.Changed, flag.Touched = s.revision.Number, s.revision.Number
		changes.Flags = append(changes.Flags, flag)
	}
	for name := range before.flags {
		if s.flags[name] == nil {
			changes.RemovedFlags = append(changes.RemovedFlags, name)
		}
	}
	for id, segment := range s.segments {
		if before.segments[id] != segment {
			changes.Segments = append(changes.Segments, segment)
		}
	}
	for id := range before.segments {
		if s.segments[id] == nil {
			changes.RemovedSegments = append(changes.RemovedSegments, id)
		}
	}
	return changes
}

// isEmptied reports whether a state has so few of the flags before that it may be a mistake.
func (s *state) isEmptied(before *state) bool {
	const many, tenth = 10, 10
	return before != nil && len(before.flags) >= many && len(s.flags)*tenth < len(before.flags)
}
