package answers

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Delta returns the response of GET /api/client/delta: what changed for the caller since the response whose ETag it sends.
//
// The ETag is W/"<epoch>:<number>:<scope>": up to which number the caller knows everything, and for which selection. A caller of
// another epoch or scope gets everything (hydration). The scope differs if the token reaches other projects now, or if its
// environment was created again, of which no flag tells.
//
// No shared cache may keep a response, with MaxAge either: it depends on If-None-Match, which is in the key of no cache.
func (r *Responder) Delta(set *Set, scope Scope, query Query, q Request) (Response, error) {
	query.inlined = false // SDKs that read deltas know segments
	s := newSelection(set, scope, query, deltaKind)
	etag := s.deltaTag(set.revision.Number)
	since, known := s.knownNumber(q.Tags)
	if !known {
		return r.cached(q, s, revalidate, func() string { return etag }, s.hydration)
	}
	events := s.eventsAfter(since)
	if len(events) == 0 {
		q.Tags = []string{"*"} // the caller knows everything, also if its number is another one
	}
	return r.respond(q, etag, revalidate, func() body { return r.newBody(joinEvents(events), q.Gzip, compressFast) })
}

// ChangedSince returns the ETag of the delta that a token reads, and whether a flag or segment has changed since an earlier one.
func ChangedSince(set *Set, scope Scope, tag string) (now string, changed bool) {
	s := newSelection(set, scope, Query{}, deltaKind)
	since, known := s.knownNumber([]string{tag})
	return s.deltaTag(set.revision.Number), !known || len(s.eventsAfter(since)) > 0
}

func (s *selection) deltaTag(number int64) string {
	return `W/"` + s.set.revision.Epoch + ":" + strconv.FormatInt(number, 10) + ":" + s.scopeTag() + `"`
}

// knownNumber returns the number up to which the caller knows everything; false if it has to read everything.
func (s *selection) knownNumber(tags []string) (int64, bool) {
	oldest, known := int64(0), false
	for _, item := range tags {
		if item == "*" {
			return s.set.revision.Number, true
		}
		text, sameEpoch := strings.CutPrefix(strings.TrimPrefix(item, "W/"), `"`+s.set.revision.Epoch+":")
		text, sameScope := strings.CutSuffix(text, ":"+s.scopeTag()+`"`)
		number, err := strconv.ParseInt(text, 10, 64)
		if !sameEpoch || !sameScope || err != nil || number < s.set.revision.Since {
			continue
		}
		if !known || number < oldest {
			oldest, known = number, true
		}
	}
	return oldest, known
}

// hydration returns the parts of a response with everything.
func (s *selection) hydration(string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := writer{yield: yield}
		w.write([]byte(`{"events":[{"eventId":`), strconv.AppendInt(nil, s.set.revision.Number, 10), []byte(`,"type":"hydration","features":[`))
		w.flags(s, s.set.typedFragment)
		w.write([]byte(`],"segments":[`))
		w.segments(s)
		w.write([]byte(`]}]}`))
	}
}

// An event is a change as JSON, and the number of the feed at which it happened.
type event struct {
	number int64
	json   []byte
}

// eventsAfter returns what changed in the selection after a number, in the order of the changes. There is one event at most for
// each flag and segment. It never names what the token may not see.
func (s *selection) eventsAfter(number int64) []event {
	var events []event
	if number >= s.set.revision.Number { // it is larger if another instance, which has read more recently, answered before
		return nil
	}
	removed, removedSegments := map[string]bool{}, map[int64]bool{}
	for _, gone := range s.set.revision.Gone {
		if gone.Number <= number || !s.scope.seesSegment(gone.ProjectUID) {
			continue
		}
		if gone.Flag == "" {
			if segment := s.set.segment(gone.Segment); (segment == nil || !s.scope.seesSegment(segment.ProjectUID)) && !removedSegments[gone.Segment] {
				removedSegments[gone.Segment] = true
				events = append(events, newEvent(DeltaEvent{EventID: gone.Number, Type: "segment-removed", SegmentID: gone.Segment}))
			}
			continue
		}
		f := s.set.flag(gone.Flag)
		if f != nil && s.includes(f) || removed[gone.Flag] || !s.query.takesName(gone.Flag) || !s.takesProject(gone.Project) {
			continue
		}
		removed[gone.Flag] = true
		events = append(events, removal(gone.Number, gone.Flag, gone.Project))
	}
	for _, f := range s.set.flags {
		if f.Touched <= number || removed[f.Name] || !s.scope.Sees(f.ProjectUID) { // the cheapest first
			continue
		}
		changed := s.changed(f)
		switch {
		case changed <= number:
		case s.includes(f):
			events = append(events, event{changed, wrapped(changed, "feature-updated", "feature", s.set.typedFragment(f))})
		case s.query.takesName(f.Name) && s.takesProject(f.Project): // it may have lost its tag
			events = append(events, removal(changed, f.Name, f.Project))
		}
	}
	for _, segment := range s.set.segments {
		if segment.Changed > number && s.scope.seesSegment(segment.ProjectUID) {
			events = append(events, event{segment.Changed, wrapped(segment.Changed, "segment-updated", "segment", segment.fragment())})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(string(a.json), string(b.json)))
	})
	return events
}

// changed returns the number at which a flag last changed for the selection. With a filter for tags, every change counts, because
// it may be one of a tag.
func (s *selection) changed(f *Flag) int64 {
	if len(s.query.tags) > 0 {
		return f.Touched
	}
	return f.Changed
}

func newEvent(e DeltaEvent) event { return event{e.EventID, encode(e)} }

func removal(number int64, name, project string) event {
	return newEvent(DeltaEvent{EventID: number, Type: "feature-removed", FeatureName: name, Project: project})
}

// wrapped returns the JSON of an event with a fragment.
func wrapped(number int64, kind, member string, f *fragment) []byte {
	document := append([]byte(`{"eventId":`), strconv.FormatInt(number, 10)...)
	document = append(document, `,"type":"`+kind+`","`+member+`":`...)
	return append(append(document, f.json...), '}')
}

func joinEvents(events []event) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := writer{yield: yield}
		w.write([]byte(`{"events":[`))
		for i, e := range events {
			if i > 0 {
				w.write(comma)
			}
			w.write(e.json)
		}
		w.write([]byte(`]}`))
	}
}
