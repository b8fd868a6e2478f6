package access

import (
	"slices"
	"time"

	"guidon/pkg/flags"
)

// A SignupToken is a public signup token: people with its link can create a user for themselves (contract:
// Public signup token).
type SignupToken struct {
	Version   int64     `json:"version,omitzero"`
	Hash      string    `json:"hash"`   // of its secret; the token is looked up by it
	Sealed    string    `json:"sealed"` // the encrypted secret, which lists return
	Name      string    `json:"name"`
	Enabled   bool      `json:"enabled"` // as set by users; responses use EnabledAt, since an expired token is never enabled
	ExpiresAt time.Time `json:"expiresAt"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"`
	Users     []int64   `json:"users,omitempty"`
	Role      int64     `json:"role"`
}

// Key returns the key of the token.
func (s *SignupToken) Key() flags.Key { return SignupTokenKey(s.Hash) }

// StoredVersion returns the version at which the token was loaded.
func (s *SignupToken) StoredVersion() int64 { return s.Version }

// Clone returns a copy to change.
func (s *SignupToken) Clone() *SignupToken {
	c := *s
	c.Users = slices.Clone(s.Users)
	return &c
}

// EnabledAt reports whether the token can be used at that time. It is the field enabled of responses.
func (s *SignupToken) EnabledAt(now time.Time) bool { return s.Enabled && now.Before(s.ExpiresAt) }
