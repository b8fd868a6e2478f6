package access

import (
	"crypto/subtle"
	"slices"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// A SignInMethod says how a person signed in.
type SignInMethod string

// The ways to sign in.
const (
	SignInByLink SignInMethod = "link" // a one-time link, see SignInLink
	SignInByOIDC SignInMethod = "oidc" // an OpenID Connect provider
)

// A Session is a person who is signed in to the console in one browser. Its secret is in a cookie, and the store has the hash.
type Session struct {
	Hash      string       `json:"hash"`
	How       SignInMethod `json:"how"`
	CreatedAt time.Time    `json:"createdAt"`
	ExpiresAt time.Time    `json:"expiresAt"`
}

// Sessions are the sessions of one user. They are one aggregate, so that all of them can be ended by a single write. It is
// apart from the user, because lists of users would otherwise read it.
type Sessions struct {
	Version int64     `json:"version,omitzero"`
	User    int64     `json:"user"`
	List    []Session `json:"list,omitempty"` // oldest first

	// Link is the hash of the user's newest sign-in link; all others are invalid.
	Link string `json:"link,omitzero"`
}

// MaxSessions is how many sessions a user can have. Another one ends the oldest.
const MaxSessions = 20

// How long sign-in links are valid: those for people who have never signed in, all others, and the one that a server prints when it
// starts.
const (
	InvitationLifetime      = 7 * 24 * time.Hour
	SignInLinkLifetime      = 15 * time.Minute
	FirstSignInLinkLifetime = 24 * time.Hour
)

// LinkLifetime returns how long a new sign-in link for the user is valid.
func (u *User) LinkLifetime() time.Duration {
	if u.SeenAt.IsZero() && u.ID != FirstUserID {
		return InvitationLifetime
	}
	return SignInLinkLifetime
}

// DefaultSessionLifetime is how long a session lasts if nothing else is set.
const DefaultSessionLifetime = 12 * time.Hour

var (
	// ErrSessionEnded is the error for a cookie that is not that of a current session.
	ErrSessionEnded = flags.Errorf(flags.Unauthenticated, "the session has ended; sign in again")

	// ErrLinkInvalid is the error for every sign-in link that cannot be used. It does not tell why, so that a caller who guesses
	// learns nothing.
	ErrLinkInvalid = flags.Errorf(flags.Unauthenticated, "the sign-in link is not valid: it was used, has expired, was replaced by a newer one or was never issued; ask an administrator for a new link")
)

// Key returns the key of the sessions of the user.
func (s *Sessions) Key() flags.Key { return SessionsKey(s.User) }

// StoredVersion returns the version at which the sessions were loaded: all sessions of a user share one.
func (s *Sessions) StoredVersion() int64 { return s.Version }

// Clone returns a copy that can be changed.
func (s *Sessions) Clone() *Sessions {
	c := *s
	c.List = slices.Clone(s.List)
	return &c
}

// Start adds a session, and removes those that have expired. If there are too many, the oldest ends.
func (s *Sessions) Start(session Session) {
	s.List = slices.DeleteFunc(s.List, func(old Session) bool { return old.expired(session.CreatedAt) })
	s.List = append(s.List, session)
	s.List = s.List[max(0, len(s.List)-MaxSessions):]
}

// End ends the session of that hash.
func (s *Sessions) End(hash string) {
	s.List = slices.DeleteFunc(s.List, func(session Session) bool { return session.hasHash(hash) })
}

// EndAll ends all sessions, and makes the sign-in links of the user invalid that were created before.
func (s *Sessions) EndAll() { s.List, s.Link = nil, "" }

func (s Session) expired(now time.Time) bool { return !now.Before(s.ExpiresAt) }

// hasHash compares the session's hash in constant time.
func (s Session) hasHash(hash string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Hash), []byte(hash)) == 1
}

// Has reports whether there is a session of that hash that has neither ended nor expired.
func (s *Sessions) Has(hash string, now time.Time) bool {
	return s != nil && slices.ContainsFunc(s.List, func(one Session) bool { return one.hasHash(hash) && !one.expired(now) })
}

// AuthenticateSession returns the caller behind the session of that hash. It returns Unauthenticated if the session has ended or
// expired, or if the user no longer exists.
func AuthenticateSession(sessions *Sessions, hash string, user *User, roles *Roles, now time.Time) (Caller, error) {
	if !sessions.Has(hash, now) || user == nil || roles == nil || user.ServiceAccount || sessions.User != user.ID {
		return Caller{}, ErrSessionEnded
	}
	caller := callerOf(user, roles)
	caller.Session = hash
	return caller, nil
}

// FormatSession returns what the cookie of a session holds: the user's ID, by which the session is found, and the secret.
func FormatSession(user int64, secret string) string {
	return strconv.FormatInt(user, 10) + "." + secret
}

// ParseSession returns the user's ID and the hash of the secret in the cookie of a session. ok is false if it cannot be one.
func ParseSession(cookie string) (user int64, hash string, ok bool) {
	id, secret, _ := strings.Cut(cookie, ".")
	user, err := strconv.ParseInt(id, 10, 64)
	if err != nil || user < 1 || user > maxUserID || strconv.FormatInt(user, 10) != id || !isSecret(secret) {
		return 0, "", false
	}
	return user, HashSecret(secret), true
}

// isSecret reports whether a text has the form of a random secret: 256 bits as hexadecimal digits.
func isSecret(s string) bool {
	const digits = 64
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// A SignInLink lets a person sign in once, without a password. The address has the secret, and the store has its hash.
type SignInLink struct {
	Version   int64     `json:"version,omitzero"`
	Hash      string    `json:"hash"`
	User      int64     `json:"user"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Key returns the key of the link.
func (l *SignInLink) Key() flags.Key { return SignInLinkKey(l.Hash) }

// StoredVersion returns the version at which the link was loaded; it is what keeps it from being redeemed twice.
func (l *SignInLink) StoredVersion() int64 { return l.Version }

// Clone returns a copy that can be changed.
func (l *SignInLink) Clone() *SignInLink {
	c := *l
	return &c
}

// NewSignInLink returns a link with that secret for a user, and notes it in the user's sessions, so that earlier links are invalid. It
// returns Invalid for a service account.
func NewSignInLink(u *User, sessions *Sessions, secret string, now time.Time, lifetime time.Duration) (*SignInLink, error) {
	if err := u.CheckCanSignIn(); err != nil {
		return nil, err
	}
	sessions.Link = HashSecret(secret)
	return &SignInLink{Hash: sessions.Link, User: u.ID, CreatedAt: now, ExpiresAt: now.Add(lifetime)}, nil
}

// SignInURL returns the address of the page that uses a sign-in link. The secret is in the fragment, which browsers send to no
// server.
func SignInURL(publicURL, secret string) string { return publicURL + "/sign-in#link=" + secret }

// CheckCanSignIn returns Invalid for a service account, which is a program and has tokens.
func (u *User) CheckCanSignIn() error {
	if u.ServiceAccount {
		return flags.Errorf(flags.Invalid, "user %d is a service account and cannot sign in; create a token for it", u.ID)
	}
	return nil
}

// SignInLinkHash returns the hash of the secret of a sign-in link; "" if the text cannot be such a secret.
func SignInLinkHash(secret string) string {
	if !isSecret(secret) {
		return ""
	}
	return HashSecret(secret)
}

// Check returns ErrLinkInvalid unless the link can be used. The user and the user's sessions are nil if they do not exist.
func (l *SignInLink) Check(hash string, user *User, sessions *Sessions, now time.Time) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(l.Hash), []byte(hash)) != 1, // an item that was not written by Guidon gives no access
		!now.Before(l.ExpiresAt), user == nil, user.ID != l.User, user.ServiceAccount,
		sessions == nil, sessions.Link != l.Hash:
		return ErrLinkInvalid
	}
	return nil
}
