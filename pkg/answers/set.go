package answers

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// A Set is what one environment serves: flags, segments, and the revision. It never changes and can be used by several
// goroutines at once: With returns a new Set, which shares what did not change.
type Set struct {
	environment string
	revision    Revision
	flags       []*Flag    // sorted by name
	segments    []*Segment // sorted by ID

	compiled atomic.Pointer[evaluate.Set] // nil until a flag is evaluated
	last     *lastCompiled
}

// lastCompiled is the Set that was compiled last, of those that were made from each other.
type lastCompiled struct {
	mu  sync.Mutex
	set *Set // nil if there is none
}

// A Revision says which changes a Set includes. Numbers of different epochs cannot be compared.
type Revision struct {
	Epoch  string
	Number int64  // of the newest change
	Since  int64  // deltas can start at this number; a client that only knows an older one has to read everything
	Gone   []Gone // what was removed after Since, oldest first
}

// A Gone tells that a flag or segment was removed, or that a flag left a project.
type Gone struct {
	Number     int64
	Flag       string // its name; "" for a segment
	Project    string // the ID of the flag's project, which it left
	ProjectUID string // the UID of the flag's or segment's project; "" for a segment of all projects
	Segment    int64  // its ID; 0 for a flag
}

// A Flag is a flag as one environment serves it.
type Flag struct {
	Name       string
	Project    string      // the ID of its project
	ProjectUID string      // the name of its project in a Scope
	Tags       []flags.Tag // only for the filter: responses do not contain them
	Changed    int64       // the number at which its JSON last changed
	Touched    int64       // the number at which it last changed in any way, such as in its tags; at least Changed

	// Feature returns the form that responses contain. It is called when the flag is first encoded or evaluated.
	Feature func() ClientFeature

	content *content
}

// A Segment is a segment as one environment serves it.
type Segment struct {
	ClientSegment
	ProjectUID string // the name of its project in a Scope; "" for a segment of all projects
	Changed    int64  // the number at which it last changed

	encoded atomic.Pointer[fragment]
}

// Changes are the differences between two Sets.
type Changes struct {
	Flags           []Flag // new and changed ones
	RemovedFlags    []string
	Segments        []*Segment // new and changed ones
	RemovedSegments []int64
}

// NewSet returns a Set without flags. environment names the environment in ETags of deltas, and distinguishes it from others that
// had the same name.
func NewSet(environment string) *Set {
	return &Set{environment: environment, last: &lastCompiled{}}
}

// With returns a Set with changes. It keeps references to them, so they must not be changed afterwards.
func (s *Set) With(revision Revision, changes Changes) *Set {
	changed := make([]*Flag, len(changes.Flags))
	for i := range changes.Flags {
		f := changes.Flags[i]
		if f.content == nil {
			f.content = &content{}
		}
		changed[i] = &f
	}
	return &Set{
		environment: s.environment, revision: revision, last: s.last,
		flags:    merge(s.flags, changed, changes.RemovedFlags, (*Flag).key),
		segments: merge(s.segments, changes.Segments, changes.RemovedSegments, (*Segment).key),
	}
}

func (f *Flag) key() string   { return f.Name }
func (s *Segment) key() int64 { return s.ID }

// merge returns a sorted list with changes.
func merge[K cmp.Ordered, V any](list, changed []V, removed []K, key func(V) K) []V {
	if len(changed)+len(removed) == 0 {
		return list
	}
	dropped := make(map[K]bool, len(changed)+len(removed))
	for _, k := range removed {
		dropped[k] = true
	}
	for _, v := range changed {
		dropped[key(v)] = true
	}
	merged := make([]V, 0, len(list)+len(changed))
	for _, v := range list {
		if !dropped[key(v)] {
			merged = append(merged, v)
		}
	}
	merged = append(merged, changed...)
	slices.SortFunc(merged, func(a, b V) int { return cmp.Compare(key(a), key(b)) })
	return merged
}

// find returns the item with a key of a sorted list, or nil.
func find[K cmp.Ordered, V any](list []*V, k K, key func(*V) K) *V {
	i, found := slices.BinarySearchFunc(list, k, func(v *V, k K) int { return cmp.Compare(key(v), k) })
	if !found {
		return nil
	}
	return list[i]
}

// Flag returns the flag of a name, and whether there is one. A copy with other numbers, given to With, keeps what was encoded and
// compiled.
func (s *Set) Flag(name string) (Flag, bool) {
	if f := s.flag(name); f != nil {
		return *f, true
	}
	return Flag{}, false
}

func (s *Set) flag(name string) *Flag    { return find(s.flags, name, (*Flag).key) }
func (s *Set) segment(id int64) *Segment { return find(s.segments, id, (*Segment).key) }
func (s *Set) from(namePrefix string) []*Flag { // the flags with that name and later ones
	i, _ := slices.BinarySearchFunc(s.flags, namePrefix, func(f *Flag, name string) int { return strings.Compare(f.Name, name) })
	return s.flags[i:]
}

// Size returns about how many bytes the encoded and compiled flags take.
func (s *Set) Size() (bytes int) {
	for _, f := range s.flags {
		bytes += f.content.size()
	}
	return bytes
}

// A Scope is what a token may read.
type Scope struct {
	All         bool     // every project
	ProjectUIDs []string // otherwise: of the projects, sorted
	ProjectIDs  []string // likewise

	// Environment is the name of the environment, as the token or the request has it, even if there is none of that name; "" for
	// none.
	Environment string
}

// Sees reports whether the scope includes the project of a UID.
func (s Scope) Sees(projectUID string) bool {
	if s.All {
		return true
	}
	_, found := slices.BinarySearch(s.ProjectUIDs, projectUID)
	return found
}

// seesSegment reports whether the scope includes segments of a project, or of all projects.
func (s Scope) seesSegment(projectUID string) bool { return projectUID == "" || s.Sees(projectUID) }
