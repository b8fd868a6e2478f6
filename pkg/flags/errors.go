package flags

import (
	"errors"
	"fmt"
)

// Kind says what sort of failure an Error is; pkg/httpapi gives each its status and name.
type Kind int

// The kinds of failure.
const (
	Internal             Kind = iota // a defect
	Invalid                          // the request breaks a rule of its own body, or names something unknown in it
	Unauthenticated                  // no credential, or one that is unknown, deleted or expired
	Forbidden                        // a valid credential without the permission
	NotFound                         // the path names something that is not there
	NameExists                       // the name is taken
	Conflict                         // the state of things forbids it
	TooLarge                         // the body is larger than allowed
	UnsupportedMediaType             // the body is not application/json
	Unavailable                      // the store throttles, fails or does not answer, or the outcome could not be known in time: try again
	VersionConflict                  // another writer was first: load and decide again. Never reaches a caller
)

// An Error is a failure that can be told to the caller. Message is public; Err, the cause, is for the log alone.
type Error struct {
	Kind    Kind
	Message string
	Details []Detail // one a bad field, for Invalid
	Err     error
}

// A Detail is one fault of a request: what is wrong, and where (a JSON pointer such as "/constraints/0/operator").
type Detail struct {
	Path    string
	Message string
}

// Error is the message with its cause: for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of a kind with a public message.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// KindOf is the kind of err; what is not an *Error is Internal.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Problems collects the faults of a request, so that a caller can mend them all at once.
type Problems []Detail

// maxProblems bounds an answer: a body of a megabyte can have a million faults.
const maxProblems = 100

// Add notes a fault at path, a JSON pointer into the body. Past the first hundred they are not kept.
func (p *Problems) Add(path, format string, args ...any) {
	if len(*p) >= maxProblems {
		return
	}
	*p = append(*p, Detail{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Under notes the faults that check finds in a part of the body, at their places below path.
func (p *Problems) CheckAt(path string, check func(below *Problems)) {
	var below Problems
	check(&below)
	for _, d := range below {
		p.Add(path+d.Path, "%s", d.Message)
	}
}

// Err is nil without faults, else an Invalid error that says the first and lists them all.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	message := p[0].Message
	if p[0].Path != "" {
		message = p[0].Path + ": " + message
	}
	if more := len(p) - 1; more > 0 {
		message = fmt.Sprintf("%s (and %d more)", message, more)
	}
	return &Error{Kind: Invalid, Message: message, Details: p}
}
