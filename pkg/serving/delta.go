package serving

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/httpapi"
)

// delta answers GET /api/client/delta: what changed for the caller since the answer whose ETag it sends.
//
// The ETag is "<epoch>:<number>:<scope>": up to which number of the feed the caller knows everything, and for which selection.
// A caller of another epoch or scope gets everything (hydration). The scope differs if the token reaches other projects now, or
// if its environment was created again, of which no flag tells.
//
// No shared cache may keep an answer, with CLIENT_MAX_AGE either: it depends on If-None-Match, which is in the key of no cache.
func (s *server) delta(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	response, err := s.deltaSince(ctx, r)
	if err == nil {
		response.Header.Set("Cache-Control", revalidate)
	}
	return response, err
}

func (s *server) deltaSince(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	selection, err := s.selected(ctx, r, deltaKind)
	if err != nil {
		return httpapi.Response{}, err
	}
	etag := selection.deltaTag(selection.state.Number)
	since, known := selection.knownNumber(r)
	if !known {
		return s.cached(r, selection, func() string { return etag }, selection.hydration)
	}
	events := selection.eventsAfter(since)
	if len(events) == 0 {
		return s.notModified(etag), nil
	}
	return s.respond(r, etag, func() body {
		return newBody(joinEvents(events), httpapi.AcceptsGzip(r))
	})
}

func (s *selection) deltaTag(number int64) string {
	return `"` + s.state.Epoch + ":" + strconv.FormatInt(number, 10) + ":" + s.scope() + `"`
}

// knownNumber returns the number up to which the caller knows everything; false if it has to read everything.
func (s *selection) knownNumber(r *http.Request) (int64, bool) {
	oldest, known := int64(0), false
	for item := range httpapi.ListedTags(r) {
		if item == "*" {
			return s.state.Number, true
		}
		text, sameEpoch := strings.CutPrefix(strings.TrimPrefix(item, "W/"), `"`+s.state.Epoch+":")
		text, sameScope := strings.CutSuffix(text, ":"+s.scope()+`"`)
		number, err := strconv.ParseInt(text, 10, 64)
		if !sameEpoch || !sameScope || err != nil || number < s.state.Since {
			continue
		}
		if !known || number < oldest {
			oldest, known = number, true
		}
	}
	return oldest, known
}

// hydration returns the parts of an answer with everything.
func (s *selection) hydration(string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := writer{yield: yield}
		w.write([]byte(`{"events":[{"eventId":`), strconv.AppendInt(nil, s.state.Number, 10), []byte(`,"type":"hydration","features":[`))
		w.flags(s)
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
	if number >= s.state.Number { // it is larger if another instance, which has read more recently, answered before
		return nil
	}
	removed, removedSegments := map[string]bool{}, map[int64]bool{}
	for _, gone := range s.state.Gone {
		if gone.Number <= number || gone.ProjectUID != "" && !s.seesProject(gone.ProjectUID) {
			continue
		}
		if gone.Flag == "" {
			if segment := s.state.Segments[gone.Segment]; (segment == nil || !s.seesSegment(segment)) && !removedSegments[gone.Segment] {
				removedSegments[gone.Segment] = true
				events = append(events, newEvent(deltaEvent{EventID: gone.Number, Type: "segment-removed", SegmentID: gone.Segment}))
			}
			continue
		}
		f := s.state.Flags[gone.Flag]
		if f != nil && s.includes(f) || removed[gone.Flag] || !s.query.takesName(gone.Flag) || !s.takesProject(gone.Project) {
			continue
		}
		removed[gone.Flag] = true
		events = append(events, removal(gone.Number, gone.Flag, gone.Project))
	}
	for _, f := range s.state.Flags {
		if f.Changed <= number || removed[f.Name] || !s.sees(f) { // the cheapest first
			continue
		}
		changed := s.changed(f)
		switch {
		case changed <= number:
		case s.includes(f):
			events = append(events, event{changed, wrapped(changed, "feature-updated", "feature", s.fragment(f))})
		case s.query.takesName(f.Name) && s.takesProject(f.Project): // it may have lost its tag
			events = append(events, removal(changed, f.Name, f.Project))
		}
	}
	for _, segment := range s.state.Segments {
		if segment.Changed > number && s.seesSegment(segment) {
			events = append(events, event{segment.Changed, wrapped(segment.Changed, "segment-updated", "segment", segment.fragment())})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(string(a.json), string(b.json)))
	})
	return events
}

// changed returns the number at which a flag last changed for the selection.
func (s *selection) changed(f *Flag) int64 {
	switch {
	case len(s.query.tags) > 0: // every change, because it may be one of a tag
		return f.Changed
	case s.environment == nil:
		return f.changedIn("")
	}
	return f.changedIn(s.environment.Name)
}

func newEvent(e deltaEvent) event { return event{e.EventID, encode(e)} }

func removal(number int64, name, project string) event {
	return newEvent(deltaEvent{EventID: number, Type: "feature-removed", FeatureName: name, Project: project})
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
