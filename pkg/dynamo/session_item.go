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
	codec: jsonCodec(func(a *access.Sessions) *int64 { return &a.Version }),

	// Two sign-ins at once: the second one reads the sessions again.
	exists: registryExists,
}

func sessionsKey(user string) itemKey { return itemKey{"SESSIONS#" + user, "SESSIONS"} }

// signInLinkEntity is a link that lets a person sign in once. Signing in deletes it.
var signInLinkEntity = entity{
	name:    access.EntitySignInLink,
	key:     func(hash string) itemKey { return itemKey{"SIGNIN#" + hash, "LINK"} },
	title:   func(string) string { return "the sign-in link" },
	codec:   jsonCodec(func(a *access.SignInLink) *int64 { return &a.Version }),
	expires: func(a flags.Aggregate) time.Time { return a.(*access.SignInLink).ExpiresAt },
}
