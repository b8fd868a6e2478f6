package flags

import (
	"crypto/subtle"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Signals are the named signals of an environment of a project, which monitoring systems post. Those of an environment that was removed from
// the project and added again do not return.
type Signals struct {
	Version     int64    `json:"version,omitzero"`
	Attachment  string   `json:"attachment"`  // ID of the attachment of the environment
	Project     string   `json:"project"`     // ID
	Environment string   `json:"environment"` // name
	List        []Signal `json:"list"`        // sorted by name
}

// A Signal is what a monitoring system says of a service.
type Signal struct {
	Name       string    `json:"name"`
	Hash       string    `json:"hash"` // of its secret
	CreatedAt  time.Time `json:"createdAt"`
	Firing     bool      `json:"firing,omitzero"`
	FiredAt    time.Time `json:"firedAt,omitzero"`    // when it began to fire last; zero for never
	ReceivedAt time.Time `json:"receivedAt,omitzero"` // when it was last stored; zero for never
}

// The limits of signals.
const (
	MaxSignals    = 50 // in an environment of a project
	MaxSignalName = 60
	signalRepeat  = time.Minute // an equal signal that comes sooner is not stored again
)

// SignalsKey returns the key of the signals under an attachment of an environment, by its ID.
func SignalsKey(attachment string) Key { return Key{EntitySignals, attachment} }

// Key returns the key of the signals.
func (s *Signals) Key() Key { return SignalsKey(s.Attachment) }

// StoredVersion returns the version at which the signals were loaded; 0 if there was never one.
func (s *Signals) StoredVersion() int64 { return s.Version }

// Clone returns a copy that can be changed.
func (s *Signals) Clone() *Signals {
	c := *s
	c.List = slices.Clone(s.List)
	return &c
}

var signalName = regexp.MustCompile(`^[a-z0-9-]+$`)

// CheckSignalName adds the problems of the name of a signal.
func CheckSignalName(path, name string, p *Problems) {
	CheckLength(path, name, MaxSignalName, p)
	if !signalName.MatchString(name) {
		p.Add(path, "must have only the characters a to z, 0 to 9 and -, and at least one of them")
	}
}

// index returns the position of a signal. Without signals, which s can be nil for, none is found.
func (s *Signals) index(name string) (int, bool) {
	if s == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(s.List, name, func(one Signal, name string) int { return strings.Compare(one.Name, name) })
}

func (s *Signals) find(name string) (int, error) {
	i, found := s.index(name)
	if !found {
		return 0, Errorf(NotFound, "project %q has no signal %q in environment %q", s.Project, name, s.Environment)
	}
	return i, nil
}

// Add adds a signal. NameExists if there is one of that name, and Conflict if there are too many.
func (s *Signals) Add(one Signal) error {
	i, found := s.index(one.Name)
	switch {
	case found:
		return Errorf(NameExists, "project %q has a signal %q in environment %q already", s.Project, one.Name, s.Environment)
	case len(s.List) >= MaxSignals:
		return Errorf(Conflict, "project %q has %d signals in environment %q, and no more are allowed: delete one first", s.Project, MaxSignals, s.Environment)
	}
	s.List = slices.Insert(s.List, i, one)
	return nil
}

// Remove removes a signal and returns it. NotFound if there is none of that name.
func (s *Signals) Remove(name string) (Signal, error) {
	i, err := s.find(name)
	if err != nil {
		return Signal{}, err
	}
	gone := s.List[i]
	s.List = slices.Delete(s.List, i, i+1)
	return gone, nil
}

// Rotate replaces the secret of a signal and returns the signal. NotFound if there is none of that name.
func (s *Signals) Rotate(name, hash string) (Signal, error) {
	i, err := s.find(name)
	if err != nil {
		return Signal{}, err
	}
	s.List[i].Hash = hash
	return s.List[i], nil
}

// Accepts reports whether the signal of that name has a secret with that hash.
func (s *Signals) Accepts(name, hash string) bool {
	i, found := s.index(name)
	return found && subtle.ConstantTimeCompare([]byte(s.List[i].Hash), []byte(hash)) == 1
}

// Has reports whether there is a signal of that name.
func (s *Signals) Has(name string) bool {
	_, found := s.index(name)
	return found
}

// Fires reports whether the signal of that name fires, and since when; or when it began to the last time, zero for never.
func (s *Signals) Fires(name string) (firing bool, since time.Time) {
	i, found := s.index(name)
	if !found {
		return false, since
	}
	return s.List[i].Firing, s.List[i].FiredAt
}

// Receive stores what a signal says. An equal one that comes within a minute changes nothing.
func (s *Signals) Receive(name string, firing bool, at time.Time) {
	i, found := s.index(name)
	if !found || s.List[i].Firing == firing && at.Sub(s.List[i].ReceivedAt) < signalRepeat {
		return
	}
	if firing && !s.List[i].Firing {
		s.List[i].FiredAt = at
	}
	s.List[i].Firing, s.List[i].ReceivedAt = firing, at
}

// FormatSignalSecret returns the secret of a new signal. It names the attachment, where the signal is found.
func FormatSignalSecret(attachment, random string) string {
	return "signal." + attachment + "." + random
}

// AttachmentOfSecret returns the attachment that the secret of a signal names; "" if it has another form.
func AttachmentOfSecret(secret string) string {
	parts := strings.Split(secret, ".")
	if len(parts) != 3 || parts[0] != "signal" || CheckName(parts[1]) != "" {
		return ""
	}
	return parts[1]
}
