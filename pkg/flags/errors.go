package flags

import (
	"errors"
	"fmt"
)

// A Kind classifies errors. pkg/httpapi maps each kind to a status and an error name.
type Kind int

// The kinds of errors.
const (
	Internal             Kind = iota // a defect
	Invalid                          // the request body breaks a rule or names something unknown
	Unauthenticated                  // no credential, or an unknown, deleted or expired one
	Forbidden                        // a valid credential that lacks the permission
	ReviewRequired                   // the change needs a change request, or a permission to skip it, see Error.Permissions
	NotFound                         // something named in the path does not exist
	NameExists                       // the name is taken
	Conflict                         // the current state does not allow the change
	PreconditionFailed               // the caller has read something older than what it wants to change (see If-Match)
	TooLarge                         // the body is larger than allowed
	UnsupportedMediaType             // the body is not application/json
	TooManyRequests                  // the caller gets more than its share; it should retry later
	Unavailable                      // the store throttles, fails or does not answer in time; the caller should retry
	VersionConflict                  // another writer changed the aggregate first: load again and retry. Never returned to callers of the API
)

// An Error is a failure that can be shown to the caller of the API. Message and Details are public; Err is only
// logged.
type Error struct {
	Kind    Kind
	Message string
	Details []Detail // for Invalid: one entry per bad field

	Permissions []string // for ReviewRequired: the permissions with which the caller could make the change

	Err error
}

// A Detail is one problem of a request: a message, and where (a JSON pointer such as "/constraints/0/operator").
type Detail struct {
	Path    string
	Message string
}

// Error returns the message and the cause, for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error of that kind with a public message.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of err; Internal if err is not an *Error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Problems collects all problems of a request, so that the caller can fix them at once.
type Problems []Detail

// maxProblems limits the response: a body of a megabyte can have a million problems.
const maxProblems = 100

// Add adds a problem at path, a JSON pointer into the body. Problems after the first hundred are dropped.
func (p *Problems) Add(path, format string, args ...any) {
	if len(*p) >= maxProblems {
		return
	}
	*p = append(*p, Detail{Path: path, Message: fmt.Sprintf(format, args...)})
}

// CheckAt runs a check of a part of the body and adds its problems, with path in front of theirs.
func (p *Problems) CheckAt(path string, check func(below *Problems)) {
	var below Problems
	check(&below)
	for _, d := range below {
		p.Add(path+d.Path, "%s", d.Message)
	}
}

// Err returns nil if there are no problems. Otherwise it returns an Invalid error with the first one as its
// message and all in its details.
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
