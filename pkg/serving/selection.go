package serving

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
)

// A selection is what an answer of the client API consists of: what the token may read of a state, limited by a query.
type selection struct {
	*access
	query query
	shown clientQuery
	key   [sha256.Size]byte // the same for the same selection of another state
}

// newSelection limits an access by a query. kind distinguishes answers of different forms.
func newSelection(a *access, q query, kind string) *selection {
	s := &selection{access: a, query: q}
	s.shown = clientQuery{NamePrefix: q.namePrefix, Environment: a.environmentName, InlineSegmentConstraints: q.inlined}
	for _, t := range q.tags {
		s.shown.Tag = append(s.shown.Tag, [2]string{t.Type, t.Value})
	}
	switch {
	case !a.all: // the token settles the projects
		s.shown.Project = a.projectIDs
	case q.projects != nil:
		s.shown.Project = q.projects
	}
	uid := ""
	if a.environment != nil {
		uid = a.environment.UID
	}
	parts := []string{kind, string(encode(s.shown)), uid}
	s.key = sha256.Sum256([]byte(strings.Join(append(parts, a.projects...), "\x00")))
	return s
}

// scope names the selection in ETags of deltas.
func (s *selection) scope() string { return hex.EncodeToString(s.key[:4]) }

// queryHash names the query in an answer.
func (s *selection) queryHash() string {
	h := sha256.Sum256(encode(s.shown))
	return hex.EncodeToString(h[:4])
}

// includes reports whether a flag is in the answer.
func (s *selection) includes(f *Flag) bool {
	return s.sees(f) && s.query.takesName(f.Name) && s.query.takesTags(f.Tags) && s.takesProject(f.Project)
}

// takesProject reports whether the query takes flags of a project.
func (s *selection) takesProject(id string) bool {
	if !s.all || s.query.projects == nil {
		return true
	}
	_, found := slices.BinarySearch(s.query.projects, id)
	return found
}

// flags returns the flags of the answer, sorted by name.
func (s *selection) flags() iter.Seq[*Flag] {
	return func(yield func(*Flag) bool) {
		names := s.state.Names
		first, _ := slices.BinarySearch(names, s.query.namePrefix)
		for _, name := range names[first:] {
			if !s.query.takesName(name) {
				return
			}
			if f := s.state.Flags[name]; s.includes(f) && !yield(f) {
				return
			}
		}
	}
}

// segments returns the segments of the answer, sorted by ID.
func (s *selection) segments() []*Segment {
	list := make([]*Segment, 0, len(s.state.Segments))
	for _, segment := range s.state.Segments {
		if s.seesSegment(segment) {
			list = append(list, segment)
		}
	}
	slices.SortFunc(list, func(a, b *Segment) int { return int(a.ID - b.ID) })
	return list
}

// fragment returns the JSON of a flag in the environment of the answer.
func (s *selection) fragment(f *Flag) *fragment {
	return s.state.fragment(f, s.environment, s.query.inlined)
}

// sum returns the hash of everything in the answer but its meta: a sum of hashes, so it does not depend on the order.
func (s *selection) sum() sum {
	total := hashOf(encode(s.shown))
	for f := range s.flags() {
		total = total.plus(s.fragment(f).hash)
	}
	if !s.query.inlined {
		for _, segment := range s.segments() {
			total = total.plus(segment.fragment().hash)
		}
	}
	return total
}
