package edge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// A state is what an upstream token could read at one time. It never changes.
type state struct {
	set      *answers.Set
	revision answers.Revision
	flags    map[string]*answers.ClientFeature
	segments map[int64]*answers.Segment
	tag      string // of the response that it was made from: the next request names it

	next   chan struct{} // closed when there is a newer state
	frames sync.Map      // what streams are told about it, by the ID of the event before: *sharedFrame
}

// unleashEpoch is the epoch of the states of Unleash, whose revisions are numbers without one.
const unleashEpoch = "unleash"

// ownEpoch is the epoch of states that Edge numbers itself, because the upstream does not.
const ownEpoch = "edge"

// guidonTag matches an ETag of Guidon's deltas: the epoch, the number, and the scope.
var guidonTag = regexp.MustCompile(`^(?:W/)?"([^":]*):([0-9]{1,18}):[0-9a-f]+"$`)

// A reading is what an upstream responded, decoded.
type reading struct {
	epoch    string
	number   int64
	numbered bool // whether the upstream told the number
	guidon   bool // whether epoch and number are Guidon's own
	tag      string

	complete     bool // whether it has everything, and not only changes
	features     []answers.ClientFeature
	segments     []answers.ClientSegment
	gone         []string // names of flags
	goneSegments []int64
}

// A feature is a flag as upstreams write it. Unleash says that a dependency without enabled needs its parent to be on, and that
// stickiness and weight type of a variant have defaults.
type feature struct {
	answers.ClientFeature
	Dependencies []dependency `json:"dependencies,omitempty"`
}

type dependency struct {
	Feature  string   `json:"feature"`
	Enabled  *bool    `json:"enabled"`
	Variants []string `json:"variants"`
}

// stored returns a flag as it is read again.
func stored(f answers.ClientFeature) feature {
	s := feature{ClientFeature: f}
	for _, d := range f.Dependencies {
		s.Dependencies = append(s.Dependencies, dependency{d.Feature, &d.Enabled, d.Variants})
	}
	return s
}

func (f feature) served() (answers.ClientFeature, error) {
	served := f.ClientFeature
	if served.Name == "" {
		return served, errors.New("a flag has no name")
	}
	served.Project = cmp.Or(served.Project, "default")
	fillVariants(served.Variants)
	for _, strategy := range served.Strategies {
		fillVariants(strategy.Variants)
	}
	served.Dependencies = nil
	for _, d := range f.Dependencies {
		served.Dependencies = append(served.Dependencies, shape.Dependency{Feature: d.Feature, Enabled: d.Enabled == nil || *d.Enabled, Variants: d.Variants})
	}
	return served, nil
}

// fillVariants fills in the defaults. SDKs take an empty stickiness for the name of a field, and would choose a variant at random.
func fillVariants(list []shape.Variant) {
	for i := range list {
		list[i].Stickiness, list[i].WeightType = cmp.Or(list[i].Stickiness, "default"), cmp.Or(list[i].WeightType, flags.Variable)
	}
}

func (r *reading) add(list []feature) error {
	for _, f := range list {
		served, err := f.served()
		if err != nil {
			return err
		}
		r.features = append(r.features, served)
	}
	return nil
}

// readFeatures decodes a response of GET /api/client/features.
func readFeatures(body []byte, tag string) (*reading, error) {
	var document struct {
		Features []feature               `json:"features"`
		Segments []answers.ClientSegment `json:"segments"`
		Meta     struct {
			RevisionID int64 `json:"revisionId"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, fmt.Errorf("its response is no list of flags: %w", err)
	}
	if document.Features == nil {
		return nil, errors.New("its response has no flags")
	}
	r := &reading{epoch: unleashEpoch, number: document.Meta.RevisionID, numbered: document.Meta.RevisionID > 0, tag: tag, complete: true, segments: document.Segments}
	return r, r.add(document.Features)
}

// readDelta decodes a response of GET /api/client/delta.
func readDelta(body []byte, tag string) (*reading, error) {
	var document struct {
		Events []struct {
			EventID     int64                   `json:"eventId"`
			Type        string                  `json:"type"`
			Features    []feature               `json:"features"`
			Segments    []answers.ClientSegment `json:"segments"`
			Feature     *feature                `json:"feature"`
			FeatureName string                  `json:"featureName"`
			Segment     *answers.ClientSegment  `json:"segment"`
			SegmentID   int64                   `json:"segmentId"`
		} `json:"events"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, fmt.Errorf("its response is no delta: %w", err)
	}
	if len(document.Events) == 0 {
		return nil, errors.New("its response has no events")
	}
	r := &reading{epoch: unleashEpoch, numbered: true, tag: tag}
	for _, e := range document.Events {
		r.number = max(r.number, e.EventID)
		var err error
		switch {
		case e.Type == "hydration" && e.Features != nil:
			*r = reading{epoch: r.epoch, number: r.number, numbered: true, tag: tag, complete: true, segments: e.Segments}
			err = r.add(e.Features)
		case e.Type == "feature-updated" && e.Feature != nil:
			err = r.add([]feature{*e.Feature})
		case e.Type == "feature-removed" && e.FeatureName != "":
			r.gone = append(r.gone, e.FeatureName)
			r.features = slices.DeleteFunc(r.features, func(f answers.ClientFeature) bool { return f.Name == e.FeatureName })
		case e.Type == "segment-updated" && e.Segment != nil:
			r.segments = append(r.segments, *e.Segment)
		case e.Type == "segment-removed":
			r.goneSegments = append(r.goneSegments, e.SegmentID)
			r.segments = slices.DeleteFunc(r.segments, func(s answers.ClientSegment) bool { return s.ID == e.SegmentID })
		default:
			return nil, fmt.Errorf("its response has an unknown event %q", e.Type)
		}
		if err != nil {
			return nil, err
		}
	}
	if parts := guidonTag.FindStringSubmatch(tag); parts != nil {
		r.epoch, r.guidon = parts[1], parts[1] != unleashEpoch && parts[1] != ownEpoch
		r.number, _ = strconv.ParseInt(parts[2], 10, 64)
	}
	return r, nil
}

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
	s.flags, s.segments = map[string]*answers.ClientFeature{}, map[int64]*answers.Segment{}
	if !r.complete {
		s.flags, s.segments = maps.Clone(before.flags), maps.Clone(before.segments)
	}
	for _, name := range r.gone {
		delete(s.flags, name)
	}
	for _, id := range r.goneSegments {
		delete(s.segments, id)
	}
	for i := range r.features {
		f := &r.features[i]
		if old := before.flags[f.Name]; old != nil && reflect.DeepEqual(old, f) {
			f = old
		}
		s.flags[f.Name] = f
	}
	for _, segment := range r.segments {
		if old := before.segments[segment.ID]; old != nil && sameEpoch && reflect.DeepEqual(old.ClientSegment, segment) {
			s.segments[segment.ID] = old
			continue
		}
		s.segments[segment.ID] = &answers.Segment{ClientSegment: segment, ProjectUID: segment.Project, Changed: s.revision.Number}
	}
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
