package dynamo

import "guidon/pkg/access"

// identityEntity is a person at an OpenID provider, with the user as whom the person signs in.
var identityEntity = entity{
	name:  access.EntityIdentity,
	key:   func(hash string) itemKey { return itemKey{"IDENTITY#" + hash, "IDENTITY"} },
	title: func(string) string { return "the link of a person to a user" },
	codec: jsonCodec(func(a *access.IdentityLink) *int64 { return &a.Version }),

	// Two first sign-ins of a person at once: the second one finds the user that the first one created.
	exists: registryExists,
}
