package oidc

import (
	"errors"
	"fmt"
)

// A Code says why a sign-in failed. The sign-in page has a text for each code.
type Code string

// The codes of failed sign-ins.
const (
	// ProviderUnavailable means that the provider did not answer, or not in time. Trying again can help.
	ProviderUnavailable Code = "provider-unavailable"
	// Misconfigured means that the settings do not fit the provider, such as a wrong client secret. The log has the details.
	Misconfigured Code = "misconfigured"
	// Refused means that the provider refused the sign-in, or that what it sent cannot be trusted.
	Refused Code = "refused"
	// Expired means that the attempt is too old, already used, or was started in another browser.
	Expired Code = "expired"
	// NoAccess means that the person is known to the provider, but has no access to Guidon.
	NoAccess Code = "no-access"
	// NotLinked means that a user with these names exists, and that the provider does not vouch for the e-mail address.
	NotLinked Code = "not-linked"
)

// An Error is a failed sign-in. Its message is for the log, and has no names: the person who signs in only sees the code.
type Error struct {
	Code    Code
	Message string
	Err     error // the cause, or nil
}

// Error returns the message and its cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fail returns an error with a code.
func Fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// wrap cuts the text of the cause, which can have a whole response.
func wrap(code Code, err error, message string) *Error {
	return &Error{Code: code, Message: message, Err: errors.New(cut(err.Error(), maxCause))}
}

const maxCause = 300
