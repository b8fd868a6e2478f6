package flags

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// TokenType says what an API token is for.
type TokenType string

// The token types.
const (
	AdminToken    TokenType = "admin"
	ClientToken   TokenType = "client"
	FrontendToken TokenType = "frontend"
)

// A Token is an API token. Its secret is not here: it is found by the secret's hash.
type Token struct {
	Version     int64
	Hash        string
	Name        string // unique
	Type        TokenType
	Projects    []string // ids; "*" is all
	Environment string   // "*" is all
	CreatedAt   time.Time
	ExpiresAt   time.Time // zero for never
}

// HashSecret is what a token is looked up by.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Key names the token by its hash.
func (t *Token) Key() Key { return TokenKey(t.Hash) }

func (t *Token) version() int64 { return t.Version }

// Expired tells whether the token is no longer good at now.
func (t *Token) Expired(now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}

// A Caller is whoever an operation is done for.
type Caller struct {
	Name  string
	Admin bool // may everything
}

// Authenticate tells who calls. Unauthenticated without a token, or with one that has expired.
func Authenticate(token *Token, now time.Time) (Caller, error) {
	if token == nil || token.Expired(now) {
		return Caller{}, Errorf(Unauthenticated, "the Authorization header must carry a valid API token; this one is missing, unknown, deleted or expired")
	}
	return Caller{Name: token.Name, Admin: token.Type == AdminToken}, nil
}

// Authorize checks that the caller holds a permission. Forbidden when not.
func (c Caller) Authorize(p Permission) error {
	if c.Admin {
		return nil
	}
	return Errorf(Forbidden, "%s needs the permission %s, which an admin token has; client and frontend tokens have none under /api/admin", c.Name, p)
}

// Permission is the right to do one sort of thing; the names are those that Unleash publishes.
type Permission string

// The permissions. Read covers everything that a viewer may see.
const (
	Read                     Permission = "READ"
	CreateProject            Permission = "CREATE_PROJECT"
	UpdateProject            Permission = "UPDATE_PROJECT"
	CreateEnvironment        Permission = "CREATE_ENVIRONMENT"
	CreateFeature            Permission = "CREATE_FEATURE"
	UpdateFeature            Permission = "UPDATE_FEATURE"
	DeleteFeature            Permission = "DELETE_FEATURE"
	UpdateFeatureEnvironment Permission = "UPDATE_FEATURE_ENVIRONMENT"
	UpdateFeatureVariants    Permission = "UPDATE_FEATURE_ENVIRONMENT_VARIANTS"
	CreateFeatureStrategy    Permission = "CREATE_FEATURE_STRATEGY"
	UpdateFeatureStrategy    Permission = "UPDATE_FEATURE_STRATEGY"
	DeleteFeatureStrategy    Permission = "DELETE_FEATURE_STRATEGY"
)
