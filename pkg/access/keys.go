package access

import (
	"strconv"

	"guidon/pkg/flags"
)

// The entities.
const (
	EntityToken       flags.Entity = "token" // an API token or personal token, by the hash of its secret
	EntityRoles       flags.Entity = "roles" // registry of all roles
	EntityUser        flags.Entity = "user"
	EntitySignupToken flags.Entity = "signup token"
	EntityTokenUse    flags.Entity = "token use"    // when a token was last used
	EntitySessions    flags.Entity = "sessions"     // of a user
	EntitySignInLink  flags.Entity = "sign-in link" // by the hash of its secret
	EntityIdentity    flags.Entity = "identity"     // a person at an OpenID provider, by the hash of issuer and subject
)

// TokenKey returns the key of a token by the hash of its secret, see HashSecret.
func TokenKey(hash string) flags.Key { return flags.Key{Entity: EntityToken, ID: hash} }

// RolesKey returns the key of the registry of roles.
func RolesKey() flags.Key { return flags.Key{Entity: EntityRoles} }

// SignupTokenKey returns the key of a public signup token by the hash of its secret.
func SignupTokenKey(hash string) flags.Key { return flags.Key{Entity: EntitySignupToken, ID: hash} }

// TokenUseKey returns the key of the last use of a token, by the hash of its secret.
func TokenUseKey(hash string) flags.Key { return flags.Key{Entity: EntityTokenUse, ID: hash} }

// UserKey returns the key of a user by ID.
func UserKey(id int64) flags.Key { return flags.Key{Entity: EntityUser, ID: strconv.FormatInt(id, 10)} }

// SessionsKey returns the key of the sessions of a user, by the user's ID.
func SessionsKey(user int64) flags.Key {
	return flags.Key{Entity: EntitySessions, ID: strconv.FormatInt(user, 10)}
}

// SignInLinkKey returns the key of a sign-in link by the hash of its secret.
func SignInLinkKey(hash string) flags.Key { return flags.Key{Entity: EntitySignInLink, ID: hash} }

// IdentityKey returns the key of the link of a person at an OpenID provider to a user.
func IdentityKey(issuer, subject string) flags.Key {
	return flags.Key{Entity: EntityIdentity, ID: HashSecret(strconv.Itoa(len(issuer)) + " " + issuer + subject)}
}
