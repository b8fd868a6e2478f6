package serving

import (
	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

// A State is everything that applications can read, at one number of the feed. It never changes: a change makes a new State,
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

	Gone []answers.Gone // what was removed after Since, oldest first
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
