package dynamo

import (
	"time"

	"guidon/pkg/access"
)

// identityEntity is a person at an OpenID provider, with the user as whom the person signs in.
var identityEntity = entity{
	name:  access.EntityIdentity,
	key:   func(hash string) itemKey { return itemKey{"IDENTITY#" + hash, "IDENTITY"} },
	title: func(string) string { return "the link of a person to a user" },
	codec: jsonCodec(storeIdentity, identityDocument.link),

	// Two first sign-ins of a person at once: the second one finds the user that the first one created.
	exists: registryExists,
}

// An identityDocument is the stored form of a link of a person to a user.
type identityDocument struct {
	Format    int       `json:"format"`
	Issuer    string    `json:"issuer"`
	Subject   string    `json:"subject"`
	User      int64     `json:"user"`
	CreatedAt time.Time `json:"createdAt"`
}

func storeIdentity(l *access.IdentityLink) identityDocument {
	return identityDocument{format, l.Issuer, l.Subject, l.User, l.CreatedAt}
}

func (doc identityDocument) link(version int64) *access.IdentityLink {
	return &access.IdentityLink{Version: version, Issuer: doc.Issuer, Subject: doc.Subject, User: doc.User, CreatedAt: doc.CreatedAt}
}
