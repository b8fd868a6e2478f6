package dynamo

import (
	"strconv"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var tokenEntity = entity{
	name:  access.EntityToken,
	key:   func(hash string) itemKey { return itemKey{"TOKEN#" + hash, "TOKEN"} },
	title: tokenTitle,
	codec: jsonCodec(storeToken, tokenDocument.token),
	kept:  true,
	list:  tokenList,
	row: func(a flags.Aggregate) (string, itemKey, error) {
		t := a.(*access.Token)
		if !isListed(t) {
			return "", itemKey{}, nil
		}
		document, err := encode(storeToken(t))
		return document, itemKey{tokenList, t.Hash}, err
	},
	unique: func(a flags.Aggregate) []uniqueName {
		t := a.(*access.Token)
		if !isListed(t) {
			return nil
		}
		return unique("token", t.Name, flags.Errorf(flags.NameExists, "an API token named %s already exists", strconv.Quote(t.Name)))
	},
}

const tokenList = "TOKENS"

// tokenTitle does not have the hash: it is not for callers.
func tokenTitle(string) string { return "the token" }

// isListed tells whether a token is an API token that was not deleted. Others are in no list, and their names are free.
func isListed(t *access.Token) bool { return !t.Deleted && t.Type != access.PersonalToken }

// A tokenDocument is the stored form of a token. Its secret is stored encrypted or not at all.
type tokenDocument struct {
	Format         int              `json:"format"`
	Hash           string           `json:"hash"`
	Sealed         string           `json:"sealed,omitzero"`
	Name           string           `json:"name"`
	Type           access.TokenType `json:"type"`
	User           int64            `json:"user,omitzero"`
	Projects       []string         `json:"projects"`
	ProjectUIDs    []string         `json:"projectUids,omitempty"`
	Environment    string           `json:"environment"`
	EnvironmentUID string           `json:"environmentUid,omitzero"`
	CreatedAt      time.Time        `json:"createdAt"`
	ExpiresAt      time.Time        `json:"expiresAt,omitzero"`
	Deleted        bool             `json:"deleted,omitzero"`
}

func storeToken(t *access.Token) tokenDocument {
	return tokenDocument{
		Format: format, Hash: t.Hash, Sealed: t.Sealed, Name: t.Name, Type: t.Type, User: t.User, Projects: t.Projects,
		ProjectUIDs: t.ProjectUIDs, Environment: t.Environment, EnvironmentUID: t.EnvironmentUID,
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, Deleted: t.Deleted,
	}
}

func (doc tokenDocument) token(version int64) *access.Token {
	return &access.Token{
		Version: version, Hash: doc.Hash, Sealed: doc.Sealed, Name: doc.Name, Type: doc.Type, User: doc.User, Projects: doc.Projects,
		ProjectUIDs: doc.ProjectUIDs, Environment: doc.Environment, EnvironmentUID: doc.EnvironmentUID,
		CreatedAt: doc.CreatedAt, ExpiresAt: doc.ExpiresAt, Deleted: doc.Deleted,
	}
}

// tokenUseEntity is when a token was last used. Touch writes it, outside transactions.
var tokenUseEntity = entity{
	name:  access.EntityTokenUse,
	key:   func(hash string) itemKey { return itemKey{"TOKEN#" + hash, "SEEN"} },
	title: func(string) string { return "the last use of the token" },
	codec: jsonCodec(storeTokenUse, tokenUseDocument.tokenUse),
}

// A tokenUseDocument is the stored form of when a token was last used.
type tokenUseDocument struct {
	Format int       `json:"format"`
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
}

func storeTokenUse(u *access.TokenUse) tokenUseDocument {
	return tokenUseDocument{format, u.Hash, u.At}
}

func (doc tokenUseDocument) tokenUse(int64) *access.TokenUse {
	return &access.TokenUse{Hash: doc.Hash, At: doc.At}
}
