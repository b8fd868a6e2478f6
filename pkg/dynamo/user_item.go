package dynamo

import (
	"strconv"
	"strings"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var userEntity = entity{
	name:    access.EntityUser,
	key:     func(id string) itemKey { return itemKey{userList, id} },
	title:   func(id string) string { return "the user " + id },
	codec:   jsonCodec(storeUser, userDocument.user),
	kept:    true,
	list:    userList,
	history: func(a flags.Aggregate) string { return "USER#" + a.Key().ID },
	unique: func(a flags.Aggregate) []uniqueName {
		u := a.(*access.User)
		return append(
			unique("email", strings.ToLower(u.Email), flags.Errorf(flags.Invalid, "the email %s is taken", strconv.Quote(u.Email))),
			unique("username", u.Username, flags.Errorf(flags.Invalid, "the username %s is taken", strconv.Quote(u.Username)))...)
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		if after == nil {
			s.deleteAlways(tx, sessionsKey(before.Key().ID))
		}
		return nil
	},
}

const userList = "USERS"

// A userDocument is the stored form of a user.
type userDocument struct {
	Format         int                 `json:"format"`
	ID             int64               `json:"id"`
	ServiceAccount bool                `json:"serviceAccount,omitzero"`
	Name           string              `json:"name,omitzero"`
	Username       string              `json:"username,omitzero"`
	Email          string              `json:"email,omitzero"`
	ImageURL       string              `json:"imageUrl,omitzero"`
	RootRole       int64               `json:"rootRole"`
	CreatedAt      time.Time           `json:"createdAt"`
	SeenAt         time.Time           `json:"seenAt,omitzero"`
	Projects       []string            `json:"projects,omitempty"`
	Tokens         []userTokenDocument `json:"tokens,omitempty"`
	NextToken      int64               `json:"nextToken,omitzero"`
	Issuer         string              `json:"issuer,omitzero"`
	Subject        string              `json:"subject,omitzero"`
}

type userTokenDocument struct {
	ID          int64     `json:"id"`
	Description string    `json:"description"`
	Hash        string    `json:"hash"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt"`
	SeenAt      time.Time `json:"seenAt,omitzero"`
}

func storeUser(u *access.User) userDocument {
	return userDocument{
		Format: format, ID: u.ID, ServiceAccount: u.ServiceAccount, Name: u.Name, Username: u.Username, Email: u.Email,
		ImageURL: u.ImageURL, RootRole: u.RootRole, CreatedAt: u.CreatedAt, SeenAt: u.SeenAt, Projects: u.Projects,
		Tokens:    convert(u.Tokens, func(t access.UserToken) userTokenDocument { return userTokenDocument(t) }),
		NextToken: u.NextToken, Issuer: u.Issuer, Subject: u.Subject,
	}
}

func (doc userDocument) user(version int64) *access.User {
	return &access.User{
		Version: version, ID: doc.ID, ServiceAccount: doc.ServiceAccount, Name: doc.Name, Username: doc.Username, Email: doc.Email,
		ImageURL: doc.ImageURL, RootRole: doc.RootRole, CreatedAt: doc.CreatedAt, SeenAt: doc.SeenAt, Projects: doc.Projects,
		Tokens:    convert(doc.Tokens, func(t userTokenDocument) access.UserToken { return access.UserToken(t) }),
		NextToken: doc.NextToken, Issuer: doc.Issuer, Subject: doc.Subject,
	}
}
