// Package signin has the operations by which people sign in to the console and sign out. Their paths are outside of /api.
package signin

import (
	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/oidc"
)

// Group lists the operations.
func Group() httpapi.Group {
	return httpapi.Group{Name: "signin", Function: "access", Operations: []httpapi.Operation{
		{Route: "GET /auth/methods", Handle: httpapi.Handle(readMethods)},
		{Route: "POST /auth/link", Allow: (*httpapi.Tx).CheckSameOrigin, Status: 204, Handle: httpapi.DoBody(signInWithLink)},
		{Route: "GET " + login, Status: 302, Handle: httpapi.Do(beginOpenID)},
		{Route: "GET " + oidc.CallbackPath, Status: 302, Handle: httpapi.Do(finishOpenID)},
		{Route: "POST /auth/sign-out", Permission: access.Read, Allow: requireSession, Status: 204, Handle: httpapi.Do(signOut)},
		{Route: "POST /auth/sign-out-everywhere", Permission: access.Read, Allow: requireSession, Status: 204, Handle: httpapi.Do(signOutEverywhere)},
	}}
}

// A signInMethods says how people can sign in.
type signInMethods struct {
	Open bool          `json:"open"` // whether no sign-in is needed (AUTH_TYPE=none)
	Link bool          `json:"link"` // always true
	OIDC *oidcProvider `json:"oidc"` // null: there is no OpenID Connect provider
}

// An oidcProvider is an OpenID Connect provider.
type oidcProvider struct {
	Name string `json:"name"` // of the provider, for people
	URL  string `json:"url"`  // where the sign-in starts
}

func readMethods(tx *httpapi.Tx, _ httpapi.InService) (signInMethods, error) {
	tx.NoStore()
	methods := signInMethods{Open: tx.Open(), Link: true}
	provider, err := findProvider(tx)
	switch {
	case err != nil: // people can still sign in with a link
		warn(tx, oidc.Misconfigured, err)
	case provider != nil:
		methods.OIDC = &oidcProvider{Name: provider.Name(), URL: login}
	}
	return methods, nil
}

// A signInLinkBody is a sign-in link that is used.
type signInLinkBody struct {
	Secret  jsonbody.Maybe[string] `json:"secret"`
	Replace jsonbody.Maybe[bool]   `json:"replace"`
}

// maxSecret is the largest number of characters of a secret in a body. Real ones are shorter.
const maxSecret = 200

// Check checks that there is a secret. Whether it is valid is not said here.
func (b signInLinkBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.Secret.Value == "" {
		problems.Add("/secret", "is required: it is the part of the sign-in link after #link=")
	}
	flags.CheckLength("/secret", b.Secret.Value, maxSecret, problems)
}

// signInWithLink uses up a link and starts a session, in one transaction: of two requests with the same link, one is refused. A
// browser in which another user is signed in keeps that session until the person agrees: a page of another site can open a link too,
// to have the person work as somebody else.
func signInWithLink(tx *httpapi.Tx, _ httpapi.InService, in signInLinkBody) error {
	hash := access.SignInLinkHash(in.Secret.Value)
	if hash == "" {
		return access.ErrLinkInvalid
	}
	link := httpapi.Find[*access.SignInLink](tx, access.SignInLinkKey(hash))
	if link == nil {
		return access.ErrLinkInvalid
	}
	tx.Load(access.UserKey(link.User), access.SessionsKey(link.User))
	user := tx.FindUser(link.User)
	if err := link.Check(hash, user, findSessions(tx, link.User), tx.Now); err != nil {
		return err
	}
	if other := tx.SignedIn(); other != nil && other.ID != user.ID && !in.Replace.Value {
		return flags.Errorf(flags.Conflict, "you are signed in as %s, and the link is for %s: to sign in as %[2]s instead, send it again with \"replace\": true",
			other.DisplayName(), user.DisplayName())
	}
	tx.Delete(startSession(tx, user, access.SignInByLink), link, tx.Sessions(user.ID), user)
	return nil
}

// startSession starts a session of a user and has the browser keep it. The caller must save the user and the user's sessions with
// the event that it returns.
func startSession(tx *httpapi.Tx, user *access.User, how access.SignInMethod) flags.Event {
	secret := tx.Random()
	user.SeenAt = tx.Now
	tx.Sessions(user.ID).Start(tx.SignIn().New(how, secret, tx.Now))
	tx.SetCookie(tx.SignIn().Cookie(user.ID, secret))
	tx.Caller = access.Caller{Name: user.DisplayName(), User: user} // of the event
	return events.UserSignedIn(user.ID, how)
}

// requireSession refuses a token: it has no session to end.
func requireSession(tx *httpapi.Tx) error {
	if tx.Caller.Session == "" {
		return flags.Errorf(flags.Forbidden, "only a session can be ended, and this request has none; to make a token invalid, delete it")
	}
	return nil
}

// signOut ends the session of the request.
func signOut(tx *httpapi.Tx, _ httpapi.InService) error {
	sessions := tx.Sessions(tx.Caller.User.ID)
	sessions.End(tx.Caller.Session)
	tx.Save(events.UserSignedOut(sessions.User), sessions)
	tx.SetCookie(tx.SignIn().NoCookie())
	return nil
}

// signOutEverywhere ends all sessions of the caller, and makes the caller's unused sign-in links invalid.
func signOutEverywhere(tx *httpapi.Tx, _ httpapi.InService) error {
	sessions := tx.Sessions(tx.Caller.User.ID)
	sessions.EndAll()
	tx.Save(events.UserSignedOutEverywhere(sessions.User), sessions)
	tx.SetCookie(tx.SignIn().NoCookie())
	return nil
}

// findSessions returns the sessions of a user; nil if the user never signed in.
func findSessions(tx *httpapi.Tx, user int64) *access.Sessions {
	return httpapi.Find[*access.Sessions](tx, access.SessionsKey(user))
}
