package flags

import "time"

// A Signup is a public signup token: whoever has its link may become a user (contract: Public signup token).
type SignupToken struct {
	Version   int64
	Hash      string // of its secret, which is what it is found by
	Sealed    string // the secret, encrypted: the list returns it
	Name      string
	Enabled   bool // says less than Open: an expired token is never enabled
	ExpiresAt time.Time
	CreatedAt time.Time
	CreatedBy string
	Users     []int64
	Role      int64
}

// Key names the token by its hash.
func (s *SignupToken) Key() Key { return SignupTokenKey(s.Hash) }

func (s *SignupToken) version() int64 { return s.Version }

// Open tells whether somebody could sign up at now: the enabled of every answer.
func (s *SignupToken) EnabledAt(now time.Time) bool { return s.Enabled && now.Before(s.ExpiresAt) }
