package dynamo

import "guidon/pkg/flags"

// A tokenDocument is an API token as it is stored. The secret is not in it.
type tokenDocument struct {
	Format      int             `json:"format"`
	Hash        string          `json:"hash"`
	Name        string          `json:"name"`
	Type        flags.TokenType `json:"type"`
	Projects    []string        `json:"projects"`
	Environment string          `json:"environment"`
	CreatedAt   stamp           `json:"createdAt"`
	ExpiresAt   stamp           `json:"expiresAt,omitzero"`
}

func storeToken(t *flags.Token) tokenDocument {
	return tokenDocument{
		Format: format, Hash: t.Hash, Name: t.Name, Type: t.Type, Projects: t.Projects,
		Environment: t.Environment, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
	}
}

func (doc tokenDocument) token(version int64) *flags.Token {
	return &flags.Token{
		Version: version, Hash: doc.Hash, Name: doc.Name, Type: doc.Type, Projects: doc.Projects,
		Environment: doc.Environment, CreatedAt: doc.CreatedAt, ExpiresAt: doc.ExpiresAt,
	}
}
