package dynamo

import (
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var signupEntity = entity{
	name:    access.EntitySignupToken,
	key:     func(hash string) itemKey { return itemKey{signupList, hash} },
	title:   tokenTitle,
	codec:   jsonCodec(storeSignup, signupDocument.signup),
	list:    signupList,
	history: func(a flags.Aggregate) string { return "SIGNUP#" + a.Key().ID },
}

const signupList = "SIGNUPS"

// A signupDocument is the stored form of a public signup token.
type signupDocument struct {
	Format    int       `json:"format"`
	Hash      string    `json:"hash"`
	Sealed    string    `json:"sealed"`
	Name      string    `json:"name"`
	Enabled   bool      `json:"enabled"`
	ExpiresAt time.Time `json:"expiresAt"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"`
	Users     []int64   `json:"users,omitempty"`
	Role      int64     `json:"role"`
}

func storeSignup(s *access.SignupToken) signupDocument {
	return signupDocument{
		Format: format, Hash: s.Hash, Sealed: s.Sealed, Name: s.Name, Enabled: s.Enabled, ExpiresAt: s.ExpiresAt,
		CreatedAt: s.CreatedAt, CreatedBy: s.CreatedBy, Users: s.Users, Role: s.Role,
	}
}

func (doc signupDocument) signup(version int64) *access.SignupToken {
	return &access.SignupToken{
		Version: version, Hash: doc.Hash, Sealed: doc.Sealed, Name: doc.Name, Enabled: doc.Enabled, ExpiresAt: doc.ExpiresAt,
		CreatedAt: doc.CreatedAt, CreatedBy: doc.CreatedBy, Users: doc.Users, Role: doc.Role,
	}
}
