package serving

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"sync/atomic"

	"guidon/pkg/flags"
)

// A fragment is the JSON of a flag or segment as answers contain it. It is encoded once, and kept with the flag or segment.
type fragment struct {
	json []byte
	hash sum

	// What the JSON of a flag was made from, besides the flag.
	environment string           // the UID of the environment; "" for none
	attachment  flags.Attachment // of the environment to the flag's project
	inlined     bool             // whether the strategies have the constraints of their segments
	segments    []*Segment       // only if inlined: those segments
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

// etag returns the sum as an ETag: 32 hexadecimal digits in quotes.
func (s sum) etag() string {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.high), s.low)
	return `"` + hex.EncodeToString(b) + `"`
}

// fragments are the fragments of one flag, which requests read and add to at the same time.
type fragments struct{ list atomic.Pointer[[]*fragment] }

// find returns the fragment that was made in the same way, if its segments are those of the state, or nil.
func (c *fragments) find(s *State, environment string, attachment flags.Attachment, inlined bool) *fragment {
	list := c.list.Load()
	if list == nil {
		return nil
	}
	for _, f := range *list {
		if f.environment == environment && f.attachment == attachment && f.inlined == inlined && s.hasSegments(f.segments) {
			return f
		}
	}
	return nil
}

// maxFragments is how many fragments a flag keeps: those that were added last. At 10,000 flags, one of each takes about 15 MB, so
// a service with many environments must not keep all of them.
const maxFragments = 8

// add adds a fragment. It replaces the one of the same form, so that there are at most two for each environment.
func (c *fragments) add(f *fragment) {
	for {
		before := c.list.Load()
		after := []*fragment{f}
		if before != nil {
			for _, other := range *before {
				if other.environment != f.environment || other.inlined != f.inlined {
					after = append(after, other)
				}
			}
		}
		after = after[:min(len(after), maxFragments)]
		if c.list.CompareAndSwap(before, &after) {
			return
		}
	}
}

// fragment returns the JSON of a flag in an environment; nil for no environment, in which every flag is disabled.
func (s *State) fragment(f *Flag, environment *flags.Environment, inlined bool) *fragment {
	uid, attachment := "", flags.Attachment{}
	if environment != nil {
		uid = environment.UID
		if p := s.Projects[f.Project]; p != nil && p.UID == f.ProjectUID && p.HasEnvironment(*environment) {
			attachment = p.Environments[environment.Name]
		}
	}
	if kept := f.fragments.find(s, uid, attachment, inlined); kept != nil {
		return kept
	}
	made := &fragment{environment: uid, attachment: attachment, inlined: inlined}
	keep := true
	fe, enabled := s.configuration(f, environment)
	made.json = encodeFeature(f.Feature, fe, enabled, inlined, func(id int64) *flags.Segment {
		segment := s.Segments[id]
		if segment == nil {
			keep = false
			return nil
		}
		made.segments = append(made.segments, segment)
		return segment.Segment
	})
	made.hash = hashOf(made.json)
	if keep {
		f.fragments.add(made)
	}
	return made
}

// hasSegments reports whether segments are those of the state.
func (s *State) hasSegments(segments []*Segment) bool {
	for _, segment := range segments {
		if s.Segments[segment.ID] != segment {
			return false
		}
	}
	return true
}

// fragment returns the JSON of the segment.
func (s *Segment) fragment() *fragment {
	if kept := s.encoded.Load(); kept != nil {
		return kept
	}
	made := &fragment{json: encodeSegment(s.Segment)}
	made.hash = hashOf(made.json)
	s.encoded.Store(made)
	return made
}
