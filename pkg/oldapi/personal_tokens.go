package oldapi

import (
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// personalTokens are the tokens that persons and service accounts act with: everybody makes their own, and admins those
// of service accounts. A secret is shown once, when it is made; what is stored is its hash.
func personalTokens() []Operation {
	const own, ofAccount = "/api/admin/user/tokens", "/api/admin/service-account/{userId}/token"
	return []Operation{
		{"GET " + own, flags.Read, 0, does(listPersonal(theCaller)).allowing(person).loading(seenKeys(theCaller)).answers(200, personalTokenList{})},
		{"POST " + own, flags.Read, 0, takes(createPersonal(theCaller)).allowing(person).answers(201, personalToken{})},
		{"DELETE " + own + "/{tokenId}", flags.Read, 0, does(deletePersonal(theCaller)).allowing(person).loading(tokenKey(theCaller)).answers(200)},
		{"GET " + ofAccount, flags.Admin, theUser, does(listPersonal(theAccount)).loading(seenKeys(theAccount)).answers(200, personalTokenList{})},
		{"POST " + ofAccount, flags.Admin, theUser, takes(createPersonal(theAccount)).listing(flags.EntityUser).answers(201, personalToken{})},
		{"DELETE " + ofAccount + "/{tokenId}", flags.Admin, theUser, does(deletePersonal(theAccount)).loading(tokenKey(theAccount)).answers(200)},
	}
}

// An owner is whose tokens an operation is about.
type owner func(c *call) (*flags.User, error)

func theCaller(c *call) (*flags.User, error) { return c.caller.User, nil }

// person refuses API tokens, which are nobody's.
func person(c *call) error {
	if c.caller.User == nil {
		return flags.Errorf(flags.Forbidden, "personal tokens belong to persons and service accounts, and %s is neither: call this with a personal token", c.caller.Name)
	}
	return nil
}

func theAccount(c *call) (*flags.User, error) {
	if !c.user.ServiceAccount {
		return nil, flags.Errorf(flags.NotFound, "there is no service account %d; it is a person, whose tokens nobody else makes", c.user.ID)
	}
	return c.user, nil
}

// A personalToken is a token of a user on the wire.
type personalToken struct {
	ID          int64      `json:"id"`
	Secret      string     `json:"secret,omitzero"` // in the answer to its creation alone
	Description string     `json:"description"`
	UserID      int64      `json:"userId"`
	CreatedAt   timestamp  `json:"createdAt"`
	ExpiresAt   timestamp  `json:"expiresAt"`
	SeenAt      *timestamp `json:"seenAt"`
}

// A personalTokenList is a list of a user's tokens.
type personalTokenList struct {
	Tokens []personalToken `json:"pats"`
}

func (c *call) personalToken(u *flags.User, t flags.UserToken) personalToken {
	return personalToken{
		ID: t.ID, Description: t.Description, UserID: u.ID,
		CreatedAt: timestamp(t.CreatedAt), ExpiresAt: timestamp(t.ExpiresAt), SeenAt: c.seenAt(t.Hash),
	}
}

func listPersonal(of owner) func(c *call) (decision, error) {
	return func(c *call) (decision, error) {
		u, err := of(c)
		if err != nil {
			return decision{}, err
		}
		return ok(personalTokenList{each(u.Tokens, func(t flags.UserToken) personalToken { return c.personalToken(u, t) })})
	}
}

func seenKeys(of owner) func(c *call) []flags.Key {
	return func(c *call) []flags.Key {
		u, err := of(c)
		if err != nil {
			return nil // the decision says why
		}
		return each(u.Tokens, func(t flags.UserToken) flags.Key { return flags.TokenUseKey(t.Hash) })
	}
}

// A createPersonalTokenBody makes a token of a user.
type createPersonalTokenBody struct {
	Description maybe[string] `json:"description"`
	ExpiresAt   maybe[string] `json:"expiresAt"`
}

func (b createPersonalTokenBody) check(_ flags.Limits, problems *flags.Problems) {
	checkTitle("/description", b.Description.Value, problems)
	if !b.ExpiresAt.Set {
		problems.Add("/expiresAt", "is required: a date-time such as 2030-01-31T12:00:00Z")
		return
	}
	checkExpiry(&b.ExpiresAt.Value, problems)
}

func createPersonal(of owner) func(c *call, in createPersonalTokenBody) (decision, error) {
	return func(c *call, in createPersonalTokenBody) (decision, error) {
		u, err := of(c)
		if err != nil {
			return decision{}, err
		}
		secret := string(flags.PersonalToken) + ":" + c.random()
		after, token, err := u.WithToken(in.Description.Value, flags.HashSecret(secret), c.now, momentOf(&in.ExpiresAt.Value))
		if err != nil {
			return decision{}, err
		}
		if err := flags.CheckListSize(c.lists[flags.EntityUser], u, after); err != nil {
			return decision{}, err
		}
		t := after.Tokens[len(after.Tokens)-1]
		answer := c.personalToken(after, t)
		answer.Secret = secret
		return c.changesAll([]flags.Write{{Before: u, After: after}, {After: token}}, events.PersonalTokenCreated(u, t), http.StatusCreated, answer)
	}
}

func deletePersonal(of owner) func(c *call) (decision, error) {
	return func(c *call) (decision, error) {
		u, t, err := ownToken(c, of)
		if err != nil {
			return decision{}, err
		}
		after, err := u.WithoutToken(t.ID)
		if err != nil {
			return decision{}, err
		}
		writes := []flags.Write{{Before: u, After: after}}
		if token := flags.Find[*flags.Token](c.more, flags.TokenKey(t.Hash)); token != nil {
			writes = append(writes, flags.Write{Before: token, After: token.AsDeleted()})
		}
		return c.changesAll(writes, events.PersonalTokenDeleted(u, t), http.StatusOK, nil)
	}
}

// ownToken is the user's token that the path names.
func ownToken(c *call, of owner) (*flags.User, flags.UserToken, error) {
	u, err := of(c)
	if err != nil {
		return nil, flags.UserToken{}, err
	}
	id, err := intParam(c.param, userTokenParam)
	if err != nil {
		return nil, flags.UserToken{}, err
	}
	t, err := u.Token(id)
	return u, t, err
}

func tokenKey(of owner) func(c *call) []flags.Key {
	return func(c *call) []flags.Key {
		_, t, err := ownToken(c, of)
		if err != nil {
			return nil // the decision says why
		}
		return []flags.Key{flags.TokenKey(t.Hash)}
	}
}
