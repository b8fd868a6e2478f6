package answers

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"sync/atomic"

	"guidon/pkg/shape"
)

// content is what is made from a flag when it is needed. It is kept until the flag changes.
type content struct {
	plain    atomic.Pointer[fragment]
	inlined  atomic.Pointer[fragment] // with the constraints of its segments
	typed    atomic.Pointer[fragment] // with its type; nil for a flag without one
	compiled atomic.Pointer[compiledFlag]
}

func (c *content) size() (bytes int) {
	for _, f := range []*fragment{c.plain.Load(), c.inlined.Load(), c.typed.Load()} {
		if f != nil {
			bytes += len(f.json)
		}
	}
	if compiled := c.compiled.Load(); compiled != nil {
		bytes += compiled.size
	}
	return bytes
}

// A fragment is the JSON of a flag or segment as responses contain it.
type fragment struct {
	json     []byte
	hash     sum
	segments []*Segment // whose constraints it has
}

func newFragment(value any) *fragment {
	document := encode(value)
	return &fragment{json: document, hash: hashOf(document)}
}

// typedFragment returns the JSON of a flag with its type.
func (s *Set) typedFragment(f *Flag) *fragment {
	if made := f.content.typed.Load(); made != nil {
		return made
	}
	feature := f.Feature()
	if feature.ValueType == "" {
		return s.fragment(f, false)
	}
	made := newFragment(feature)
	f.content.typed.Store(made)
	return made
}

// fragment returns the JSON of a flag, without its type. With inlined, its strategies have the constraints of their segments instead of the
// IDs.
func (s *Set) fragment(f *Flag, inlined bool) *fragment {
	kept := &f.content.plain
	if inlined {
		kept = &f.content.inlined
	}
	if made := kept.Load(); made != nil && s.has(made.segments) {
		return made
	}
	feature := f.Feature()
	feature.ValueType, feature.DefaultValue = "", nil
	var segments []*Segment
	if inlined {
		var complete bool
		if feature, segments, complete = s.inline(feature); !complete {
			kept = &atomic.Pointer[fragment]{} // the missing segment may be added
		}
	}
	made := newFragment(feature)
	made.segments = segments
	kept.Store(made)
	return made
}

// has reports whether the segments are those of the Set.
func (s *Set) has(segments []*Segment) bool {
	return !slices.ContainsFunc(segments, func(segment *Segment) bool { return s.segment(segment.ID) != segment })
}

// never is a constraint that no context satisfies.
var never = shape.Constraint{ContextName: "userId", Operator: "IN", Values: []string{}}

// inline replaces the segments of strategies with their constraints, and returns these segments. complete is false if one does not
// exist: nobody is in it.
func (s *Set) inline(feature ClientFeature) (inlined ClientFeature, segments []*Segment, complete bool) {
	complete = true
	feature.Strategies = slices.Clone(feature.Strategies)
	for i := range feature.Strategies {
		strategy := &feature.Strategies[i]
		strategy.Constraints = slices.Clip(strategy.Constraints)
		for _, id := range strategy.Segments {
			if segment := s.segment(id); segment != nil {
				segments = append(segments, segment)
				strategy.Constraints = append(strategy.Constraints, segment.Constraints...)
			} else {
				complete = false
				strategy.Constraints = append(strategy.Constraints, never)
			}
		}
		strategy.Segments = nil
	}
	return feature, segments, complete
}

// fragment returns the JSON of the segment.
func (s *Segment) fragment() *fragment {
	made := s.encoded.Load()
	if made == nil {
		made = newFragment(s.ClientSegment)
		s.encoded.Store(made)
	}
	return made
}

// A sum is a hash of 128 bits, or the sum of hashes: the hash of a set.
type sum struct{ high, low uint64 }

func hashOf(document []byte) sum {
	h := sha256.Sum256(document)
	return sum{binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16])}
}

func (s sum) plus(other sum) sum {
	low, carry := bits.Add64(s.low, other.low, 0)
	high, _ := bits.Add64(s.high, other.high, carry)
	return sum{high, low}
}

// etag returns the sum as a weak ETag: 32 hexadecimal digits in quotes after W/.
func (s sum) etag() string {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.high), s.low)
	return `W/"` + hex.EncodeToString(b) + `"`
}
