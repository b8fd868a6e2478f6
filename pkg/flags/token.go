package flags

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"time"
)

// TokenType says what an API token is for.
type TokenType string

// The token types.
const (
	AdminToken    TokenType = "admin"
	ClientToken   TokenType = "client"
	FrontendToken TokenType = "frontend"
	PersonalToken TokenType = "user" // what a user acts with; made and listed with the user
)

// All is what a token names to reach every project, or every environment.
const All = "*"

// A Token is a credential: an API token (contract: API token), or a user's personal one.
type Token struct {
	Version        int64
	Hash           string // of its secret, which is what it is found by
	Sealed         string // the secret of an API token, encrypted: the list returns it
	Name           string // unique among API tokens
	Type           TokenType
	User           int64    // whose personal token it is
	Projects       []string // ids; All alone is all of them
	ProjectUIDs    []string // of those projects, one each, when the token was made: see Reach
	Environment    string   // All is all
	EnvironmentUID string   // of that environment, when the token was made
	CreatedAt      time.Time
	ExpiresAt      time.Time // zero for never
	Deleted        bool      // for good: what is left keeps the secret from being used again
}

// A Seen is when a token was last used, to the hour.
type TokenUse struct {
	Hash string
	At   time.Time
}

// Key names the use by the token's hash.
func (s *TokenUse) Key() Key { return TokenUseKey(s.Hash) }

func (s *TokenUse) version() int64 { return 0 }

// HashSecret is what a token is looked up by.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Is tells whether the token is the one whose secret has that hash, in a time that does not depend on where they differ.
func (t *Token) HasHash(hash string) bool {
	return subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hash)) == 1
}

// Key names the token by its hash.
func (t *Token) Key() Key { return TokenKey(t.Hash) }

func (t *Token) version() int64 { return t.Version }

// Clone is a copy to change.
func (t *Token) Clone() *Token {
	c := *t
	c.Projects, c.ProjectUIDs = slices.Clone(t.Projects), slices.Clone(t.ProjectUIDs)
	return &c
}

// Secret is what a new token of that scope is called by, made with some random digits. It names the project when there
// is one, and the token is found by its hash all the same: what a secret says of its scope is for people.
func (t *Token) FormatSecret(random string) string {
	project := "[]"
	if len(t.Projects) == 1 {
		project = t.Projects[0]
	}
	return project + ":" + t.Environment + "." + random
}

// Delete is the token as it is left when it is deleted: its hash, so that no token has that secret ever again.
func (t *Token) AsDeleted() *Token {
	c := t.Clone()
	c.Deleted, c.Sealed = true, ""
	return c
}

// Expired tells whether the token is no longer good at now.
func (t *Token) Expired(now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}
