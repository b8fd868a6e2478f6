package events

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// No event has the secret of a session or of a sign-in link, or its hash.

// A signIn is a user who signed in, and how.
type signIn struct {
	UserID int64               `json:"userId"`
	How    access.SignInMethod `json:"how"`
}

// A signOut is a user who signed out.
type signOut struct {
	UserID int64 `json:"userId"`
}

// A signInLink is a link for a user. It is valid until expiresAt, unless it is used before.
type signInLink struct {
	UserID    int64      `json:"userId"`
	ExpiresAt shape.Time `json:"expiresAt"`
}

// UserSignedIn is the event of a user who started a session.
func UserSignedIn(user int64, how access.SignInMethod) flags.Event {
	return flags.Event{Type: flags.UserSignedIn, Data: signIn{user, how}}
}

// UserSignedOut is the event of a user who ended one session.
func UserSignedOut(user int64) flags.Event {
	return flags.Event{Type: flags.UserSignedOut, Data: signOut{user}}
}

// UserSignedOutEverywhere is the event of a user all of whose sessions were ended.
func UserSignedOutEverywhere(user int64) flags.Event {
	return flags.Event{Type: flags.UserSignedOutEverywhere, Data: signOut{user}}
}

// SignInLinkCreated is the event of a new sign-in link.
func SignInLinkCreated(l *access.SignInLink) flags.Event {
	return flags.Event{Type: flags.SignInLinkCreated, Data: signInLink{l.User, shape.Time(l.ExpiresAt)}}
}
