package dynamo

import "guidon/pkg/flags"

// A tokenDocument is a token as it is stored: its secret is there encrypted, or not at all.
type tokenDocument struct {
	Format         int             `json:"format"`
	Hash           string          `json:"hash"`
	Sealed         string          `json:"sealed,omitzero"`
	Name           string          `json:"name"`
	Type           flags.TokenType `json:"type"`
	User           int64           `json:"user,omitzero"`
	Projects       []string        `json:"projects"`
	ProjectUIDs    []string        `json:"projectUids,omitempty"`
	Environment    string          `json:"environment"`
	EnvironmentUID string          `json:"environmentUid,omitzero"`
	CreatedAt      stamp           `json:"createdAt"`
	ExpiresAt      stamp           `json:"expiresAt,omitzero"`
	Deleted        bool            `json:"deleted,omitzero"`
}

func storeToken(t *flags.Token) tokenDocument {
	return tokenDocument{
		Format: format, Hash: t.Hash, Sealed: t.Sealed, Name: t.Name, Type: t.Type, User: t.User, Projects: t.Projects,
		ProjectUIDs: t.ProjectUIDs, Environment: t.Environment, EnvironmentUID: t.EnvironmentUID,
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, Deleted: t.Deleted,
	}
}

func (doc tokenDocument) token(version int64) *flags.Token {
	return &flags.Token{
		Version: version, Hash: doc.Hash, Sealed: doc.Sealed, Name: doc.Name, Type: doc.Type, User: doc.User, Projects: doc.Projects,
		ProjectUIDs: doc.ProjectUIDs, Environment: doc.Environment, EnvironmentUID: doc.EnvironmentUID,
		CreatedAt: doc.CreatedAt, ExpiresAt: doc.ExpiresAt, Deleted: doc.Deleted,
	}
}

// A seenDocument is when a token was last used.
type seenDocument struct {
	Format int    `json:"format"`
	Hash   string `json:"hash"`
	At     stamp  `json:"at"`
}

func (doc seenDocument) seen() *flags.TokenUse { return &flags.TokenUse{Hash: doc.Hash, At: doc.At} }

// A signupDocument is a public signup token as it is stored.
type signupDocument struct {
	Format    int     `json:"format"`
	Hash      string  `json:"hash"`
	Sealed    string  `json:"sealed"`
	Name      string  `json:"name"`
	Enabled   bool    `json:"enabled"`
	ExpiresAt stamp   `json:"expiresAt"`
	CreatedAt stamp   `json:"createdAt"`
	CreatedBy string  `json:"createdBy"`
	Users     []int64 `json:"users,omitempty"`
	Role      int64   `json:"role"`
}

func storeSignup(s *flags.SignupToken) signupDocument {
	return signupDocument{
		Format: format, Hash: s.Hash, Sealed: s.Sealed, Name: s.Name, Enabled: s.Enabled, ExpiresAt: s.ExpiresAt,
		CreatedAt: s.CreatedAt, CreatedBy: s.CreatedBy, Users: s.Users, Role: s.Role,
	}
}

func (doc signupDocument) signup(version int64) *flags.SignupToken {
	return &flags.SignupToken{
		Version: version, Hash: doc.Hash, Sealed: doc.Sealed, Name: doc.Name, Enabled: doc.Enabled, ExpiresAt: doc.ExpiresAt,
		CreatedAt: doc.CreatedAt, CreatedBy: doc.CreatedBy, Users: doc.Users, Role: doc.Role,
	}
}
