package dynamo

import "guidon/pkg/flags"

// A userDocument is a user as it is stored.
type userDocument struct {
	Format         int                 `json:"format"`
	ID             int64               `json:"id"`
	ServiceAccount bool                `json:"serviceAccount,omitzero"`
	Name           string              `json:"name,omitzero"`
	Username       string              `json:"username,omitzero"`
	Email          string              `json:"email,omitzero"`
	ImageURL       string              `json:"imageUrl,omitzero"`
	RootRole       int64               `json:"rootRole"`
	CreatedAt      stamp               `json:"createdAt"`
	SeenAt         stamp               `json:"seenAt,omitzero"`
	Projects       []string            `json:"projects,omitempty"`
	Tokens         []userTokenDocument `json:"tokens,omitempty"`
	NextToken      int64               `json:"nextToken,omitzero"`
}

type userTokenDocument struct {
	ID          int64  `json:"id"`
	Description string `json:"description"`
	Hash        string `json:"hash"`
	CreatedAt   stamp  `json:"createdAt"`
	ExpiresAt   stamp  `json:"expiresAt"`
	SeenAt      stamp  `json:"seenAt,omitzero"`
}

func storeUser(u *flags.User) userDocument {
	return userDocument{
		Format: format, ID: u.ID, ServiceAccount: u.ServiceAccount, Name: u.Name, Username: u.Username, Email: u.Email,
		ImageURL: u.ImageURL, RootRole: u.RootRole, CreatedAt: u.CreatedAt, SeenAt: u.SeenAt, Projects: u.Projects,
		Tokens:    each(u.Tokens, func(t flags.UserToken) userTokenDocument { return userTokenDocument(t) }),
		NextToken: u.NextToken,
	}
}

func (doc userDocument) user(version int64) *flags.User {
	return &flags.User{
		Version: version, ID: doc.ID, ServiceAccount: doc.ServiceAccount, Name: doc.Name, Username: doc.Username, Email: doc.Email,
		ImageURL: doc.ImageURL, RootRole: doc.RootRole, CreatedAt: doc.CreatedAt, SeenAt: doc.SeenAt, Projects: doc.Projects,
		Tokens:    each(doc.Tokens, func(t userTokenDocument) flags.UserToken { return flags.UserToken(t) }),
		NextToken: doc.NextToken,
	}
}
