package dynamo

import (
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// sessionsEntity is the sessions of a user. Those that have expired are removed with the next sign-in, and the item is deleted
// with the user.
var sessionsEntity = entity{
	name:  access.EntitySessions,
	key:   sessionsKey,
	title: func(id string) string { return "the sessions of the user " + id },
	codec: jsonCodec(storeSessions, sessionsDocument.sessions),

	// Two sign-ins at once: the second one reads the sessions again.
	exists: registryExists,
}

func sessionsKey(user string) itemKey { return itemKey{"SESSIONS#" + user, "SESSIONS"} }

// A sessionsDocument is the stored form of the sessions of a user.
type sessionsDocument struct {
	Format     int               `json:"format"`
	User       int64             `json:"user"`
	List       []sessionDocument `json:"list,omitempty"`
	Generation int64             `json:"generation,omitzero"`
}

type sessionDocument struct {
	Hash      string              `json:"hash"`
	How       access.SignInMethod `json:"how"`
	CreatedAt time.Time           `json:"createdAt"`
	ExpiresAt time.Time           `json:"expiresAt"`
}

func storeSessions(s *access.Sessions) sessionsDocument {
	return sessionsDocument{format, s.User, convert(s.List, func(s access.Session) sessionDocument { return sessionDocument(s) }), s.Generation}
}

func (doc sessionsDocument) sessions(version int64) *access.Sessions {
	return &access.Sessions{
		Version: version, User: doc.User, Generation: doc.Generation,
		List: convert(doc.List, func(s sessionDocument) access.Session { return access.Session(s) }),
	}
}

// signInLinkEntity is a link that lets a person sign in once. Signing in deletes it.
var signInLinkEntity = entity{
	name:    access.EntitySignInLink,
	key:     func(hash string) itemKey { return itemKey{"SIGNIN#" + hash, "LINK"} },
	title:   func(string) string { return "the sign-in link" },
	codec:   jsonCodec(storeSignInLink, signInLinkDocument.link),
	expires: func(a flags.Aggregate) time.Time { return a.(*access.SignInLink).ExpiresAt },
}

// A signInLinkDocument is the stored form of a sign-in link.
type signInLinkDocument struct {
	Format     int       `json:"format"`
	Hash       string    `json:"hash"`
	User       int64     `json:"user"`
	Generation int64     `json:"generation,omitzero"`
	CreatedAt  time.Time `json:"createdAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
}

func storeSignInLink(l *access.SignInLink) signInLinkDocument {
	return signInLinkDocument{format, l.Hash, l.User, l.Generation, l.CreatedAt, l.ExpiresAt}
}

func (doc signInLinkDocument) link(version int64) *access.SignInLink {
	return &access.SignInLink{
		Version: version, Hash: doc.Hash, User: doc.User, Generation: doc.Generation, CreatedAt: doc.CreatedAt, ExpiresAt: doc.ExpiresAt,
	}
}
