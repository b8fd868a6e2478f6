package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"time"

	"guidon/pkg/flags"
)

// A TokenType says what a token can be used for.
type TokenType string

// The token types.
const (
	AdminToken    TokenType = "admin"
	ClientToken   TokenType = "client"
	BackendToken  TokenType = "backend" // how Unleash calls a client token since version 7: only a name, see Rights
	FrontendToken TokenType = "frontend"
	PersonalToken TokenType = "user" // belongs to a user, who acts with it; created and listed with the user
)

// Rights returns the type that says what tokens of this type can do. Every Token has that one as its Type.
func (t TokenType) Rights() TokenType {
	if t == BackendToken {
		return ClientToken
	}
	return t
}

// A Token is a credential: an API token (contract: API token) or the personal token of a user.
type Token struct {
	Version        int64     `json:"version,omitzero"`
	Hash           string    `json:"hash"`                    // of its secret; the token is looked up by it
	Sealed         string    `json:"sealed,omitzero"`         // the encrypted secret of an API token, which lists return
	Name           string    `json:"name"`                    // unique among API tokens
	Type           TokenType `json:"type"`                    // never BackendToken
	Backend        bool      `json:"backend,omitzero"`        // a client token that was created as BackendToken
	User           int64     `json:"user,omitzero"`           // the owner of a personal token
	Projects       []string  `json:"projects"`                // IDs, or only All
	ProjectUIDs    []string  `json:"projectUids,omitempty"`   // UIDs of those projects when the token was created, in the same order; see Scope
	Environment    string    `json:"environment"`             // name, or All
	EnvironmentUID string    `json:"environmentUid,omitzero"` // UID of that environment when the token was created
	CreatedAt      time.Time `json:"createdAt"`
	ExpiresAt      time.Time `json:"expiresAt,omitzero"` // zero for never
	Deleted        bool      `json:"deleted,omitzero"`   // the record stays, so that the secret cannot be used again
}

// A TokenUse records when a token was last used. It is written at most once an hour.
type TokenUse struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// Key returns the key of the record.
func (s *TokenUse) Key() flags.Key { return TokenUseKey(s.Hash) }

// StoredVersion returns 0, because a use has no version: the store overwrites the previous one.
func (s *TokenUse) StoredVersion() int64 { return 0 }

// HashSecret returns the hash by which a token is looked up.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// HasHash compares the token's hash in constant time.
func (t *Token) HasHash(hash string) bool {
	return subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hash)) == 1
}

// Key returns the key of the token.
func (t *Token) Key() flags.Key { return TokenKey(t.Hash) }

// StoredVersion returns the version at which the token was loaded. Using the token does not change it.
func (t *Token) StoredVersion() int64 { return t.Version }

// SetType sets what the token can be used for, and remembers the name of the type.
func (t *Token) SetType(named TokenType) { t.Type, t.Backend = named.Rights(), named == BackendToken }

// NamedType returns the type by the name with which the token was created.
func (t *Token) NamedType() TokenType {
	if t.Backend {
		return BackendToken
	}
	return t.Type
}

// Clone returns a copy that can be changed.
func (t *Token) Clone() *Token {
	c := *t
	c.Projects, c.ProjectUIDs = slices.Clone(t.Projects), slices.Clone(t.ProjectUIDs)
	return &c
}

// Served returns what responses to applications depend on. Tokens of administrators and users are not served: they are looked up when
// they are used.
func (t *Token) Served() flags.Aggregate {
	if t.Deleted || t.Type != ClientToken && t.Type != FrontendToken {
		return nil
	}
	return &Token{
		Version: t.Version, Hash: t.Hash, Type: t.Type, Projects: t.Projects, ProjectUIDs: t.ProjectUIDs,
		Environment: t.Environment, EnvironmentUID: t.EnvironmentUID, ExpiresAt: t.ExpiresAt,
	}
}

// FormatSecret returns the secret of a new token: project, environment and random digits. The project and
// environment are there for people to read; the service looks at the hash only.
func (t *Token) FormatSecret(random string) string {
	project := "[]"
	if len(t.Projects) == 1 {
		project = t.Projects[0]
	}
	return project + ":" + t.Environment + "." + random
}

// AsDeleted returns the token as it is stored after its deletion. The hash stays, so that no other token can
// have the same secret.
func (t *Token) AsDeleted() *Token {
	c := t.Clone()
	c.Deleted, c.Sealed = true, ""
	return c
}

// Expired reports whether the token has expired at that time.
func (t *Token) Expired(now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}

// A TokenUseStore records when tokens are used.
type TokenUseStore interface {
	// Touch records when a token was last used, unless a later use is recorded. It is not a change: it has no version and no event.
	Touch(ctx context.Context, use *TokenUse) error
}
