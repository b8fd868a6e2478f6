package flags

import "time"

// A Signup is a public signup token: whoever has its link may become a user (contract: Public signup token).
type Signup struct {
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
func (s *Signup) Key() Key { return SignupKey(s.Hash) }

func (s *Signup) version() int64 { return s.Version }

// Open tells whether somebody could sign up at now: the enabled of every answer.
func (s *Signup) Open(now time.Time) bool { return s.Enabled && now.Before(s.ExpiresAt) }
