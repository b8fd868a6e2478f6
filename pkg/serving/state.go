package serving

import (
	"hash/fnv"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

// A State is everything that responses to applications depend on, at one number of the feed. It never changes: a change makes a new State,
// which shares what did not change. So it can be read without locks.
//
// A State at number N includes every change whose entry has number N or lower. It may include newer versions of single
// aggregates, which were committed while it was read.
type State struct {
	Epoch  string
	Number int64 // of the newest entry of the feed that it includes
	Since  int64 // deltas can be told from this number on; for older ones a client has to read everything

	Flags        map[string]*Flag // the active flags, by name
	Segments     map[int64]*Segment
	Projects     map[string]*flags.Project // by ID, as Project.Served
	Environments *flags.Environments       // as Environments.Served

	Tokens map[string]*access.Token // all tokens of applications, by hash, as Token.Served

	Gone []answers.Gone // what was removed after Since, oldest first

	// tokens is a number that changes with the tokens and with which projects there are. It follows from those, so every instance has the
	// same one.
	tokens string

	same *State // an earlier state from which this one differs only in tokens; nil for none
}

// served returns the first state that serves the same flags: what differs are tokens.
func (s *State) served() *State {
	if s.same != nil {
		return s.same
	}
	return s
}

// numberTokens sets the number of the tokens and projects.
func (s *State) numberTokens() {
	var sum uint64 // in any order
	add := func(a, b string) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(a + " " + b)) // never fails
		sum += h.Sum64()
	}
	for hash, token := range s.Tokens {
		add(hash, strconv.FormatInt(token.Version, 10))
	}
	for id, p := range s.Projects {
		add(id, p.UID)
	}
	s.tokens = strconv.FormatUint(sum, 10)
}

// A Flag is an active flag.
type Flag struct {
	*flags.Feature       // as Feature.Served
	Changed        int64 // the number at which it, or the environments of its project, last changed; State.Since if that is not known

	// Earlier has the environments in which the answers about it changed before Changed, and the numbers at which they did. ""
	// stands for answers without an environment. A missing environment changed at Changed.
	Earlier map[string]int64
}

// A Segment is a segment.
type Segment struct {
	*flags.Segment       // as Segment.Served
	Changed        int64 // the number at which it last changed; State.Since if that is not known
}
