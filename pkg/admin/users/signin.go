package users

import (
	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// inSessions is the place of an operation on the sessions of a user.
type inSessions struct{ inUser }

// Keys names the user and the user's sessions.
func (at *inSessions) Keys() []flags.Key {
	return []flags.Key{access.UserKey(at.UserID), access.SessionsKey(at.UserID)}
}

// A signInLinkView is a new sign-in link. The store has only its hash, so that it cannot be shown again.
type signInLinkView struct {
	URL       string     `json:"url"`
	ExpiresAt shape.Time `json:"expiresAt"`
}

func createSignInLink(tx *httpapi.Tx, at inSessions) (signInLinkView, error) {
	secret := tx.Random()
	sessions := tx.Sessions(at.UserID)
	user := tx.User(at.UserID)
	link, err := access.NewSignInLink(user, sessions, secret, tx.Now, user.LinkLifetime())
	if err != nil {
		return signInLinkView{}, withTokenRoute(err, at.UserID)
	}
	tx.Save(events.SignInLinkCreated(link), link, sessions)
	tx.NoStore()
	return signInLinkView{URL: access.SignInURL(tx.PublicURL(), secret), ExpiresAt: shape.Time(link.ExpiresAt)}, nil
}

// signOutUser ends all sessions of a user, and makes the user's unused sign-in links invalid.
func signOutUser(tx *httpapi.Tx, at inSessions) error {
	u := tx.User(at.UserID)
	if err := u.CheckCanSignIn(); err != nil {
		return withTokenRoute(err, u.ID)
	}
	sessions := tx.Sessions(u.ID)
	sessions.EndAll()
	tx.Save(events.UserSignedOutEverywhere(u.ID), sessions)
	return nil
}

// withTokenRoute adds to the refusal for a service account how to create a token for it.
func withTokenRoute(err error, user int64) error {
	return flags.Errorf(flags.KindOf(err), "%s with POST /api/admin/service-account/%d/token", err, user)
}
