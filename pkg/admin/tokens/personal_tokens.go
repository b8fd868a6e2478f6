package tokens

import (
	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// personalTokens are the operations on the tokens of users and service accounts. Users create their own, and administrators
// create those of service accounts. The secret is returned only when a token is created; the store has its hash.
func personalTokens() []httpapi.Operation {
	const own, ofAccount = "/api/admin/user/tokens", "/api/admin/service-account/{userId}/token"
	const one = "/{tokenId}"
	return []httpapi.Operation{
		{Route: "GET " + own, Permission: access.Read, Allow: requireUser, Handle: httpapi.Handle(listOwnTokens)},
		{Route: "POST " + own, Permission: access.Read, Allow: requireUser, Status: 201, Handle: httpapi.HandleBody(createOwnToken)},
		{Route: "DELETE " + own + one, Permission: access.Read, Allow: requireUser, Handle: httpapi.Do(deleteOwnToken)},
		{Route: "GET " + ofAccount, Permission: access.Admin, Handle: httpapi.Handle(listAccountTokens)},
		{Route: "POST " + ofAccount, Permission: access.Admin, Status: 201, Handle: httpapi.HandleBody(createAccountToken)},
		{Route: "DELETE " + ofAccount + one, Permission: access.Admin, Handle: httpapi.Do(deleteAccountToken)},
	}
}

// requireUser rejects API tokens, which do not belong to a user.
func requireUser(tx *httpapi.Tx) error {
	if tx.Caller.User == nil {
		return flags.Errorf(flags.Forbidden, "personal tokens belong to users and service accounts, and %s is neither; send a personal token in the Authorization header", tx.Caller.Name)
	}
	return nil
}

// inOwnToken is the place of an operation on a token of the caller.
type inOwnToken struct {
	httpapi.InService
	TokenID int64 `path:"tokenId"`
}

// inAccount is the place of an operation on a service account.
type inAccount struct {
	httpapi.InService
	UserID int64 `path:"userId"`
}

// Keys names the service account.
func (at *inAccount) Keys() []flags.Key { return []flags.Key{access.UserKey(at.UserID)} }

// account returns the service account of the path. It ends the transaction with NotFound if there is none, or if the ID
// belongs to a user.
func (at inAccount) account(tx *httpapi.Tx) *access.User {
	u := tx.User(at.UserID)
	if !u.ServiceAccount {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no service account %d: it is a user, and users create their own tokens", u.ID))
	}
	return u
}

// inAccountToken is the place of an operation on a token of a service account.
type inAccountToken struct {
	inAccount
	TokenID int64 `path:"tokenId"`
}

// A personalToken is the response for a user's token.
type personalToken struct {
	ID          int64       `json:"id"`
	Secret      string      `json:"secret,omitzero"` // only when the token is created
	Description string      `json:"description"`
	UserID      int64       `json:"userId"`
	CreatedAt   shape.Time  `json:"createdAt"`
	ExpiresAt   shape.Time  `json:"expiresAt"`
	SeenAt      *shape.Time `json:"seenAt"`
}

// A personalTokenList is a list of a user's tokens.
type personalTokenList struct {
	Tokens []personalToken `json:"pats"`
}

// personalTokenOf is the response for a token, without its last use.
func personalTokenOf(u *access.User, t access.UserToken) personalToken {
	return personalToken{
		ID: t.ID, Description: t.Description, UserID: u.ID, CreatedAt: shape.Time(t.CreatedAt), ExpiresAt: shape.Time(t.ExpiresAt),
	}
}

func listOwnTokens(tx *httpapi.Tx, _ httpapi.InService) (personalTokenList, error) {
	return personalTokensOf(tx, caller(tx)), nil
}

func listAccountTokens(tx *httpapi.Tx, at inAccount) (personalTokenList, error) {
	return personalTokensOf(tx, at.account(tx)), nil
}

// caller returns a copy of the calling user. It costs no call of the store, because authentication has loaded the user.
func caller(tx *httpapi.Tx) *access.User { return tx.User(tx.Caller.User.ID) }

func personalTokensOf(tx *httpapi.Tx, u *access.User) personalTokenList {
	tx.Again(httpapi.Each(u.Tokens, func(t access.UserToken) flags.Key { return access.TokenUseKey(t.Hash) })...) // anew: this request may have stored a use
	return personalTokenList{httpapi.Each(u.Tokens, func(t access.UserToken) personalToken {
		answer := personalTokenOf(u, t)
		answer.SeenAt = seenAt(tx, t.Hash)
		return answer
	})}
}

// A createPersonalTokenBody is a new token of a user.
type createPersonalTokenBody struct {
	Description jsonbody.Maybe[string] `json:"description"`
	ExpiresAt   jsonbody.Maybe[string] `json:"expiresAt"`
}

// Check checks the description and the expiry.
func (b createPersonalTokenBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckTitle("/description", b.Description.Value, problems)
	checkRequiredExpiry(b.ExpiresAt, problems)
}

// checkRequiredExpiry checks an expiry that must not be left out.
func checkRequiredExpiry(expiresAt jsonbody.Maybe[string], problems *flags.Problems) {
	if !expiresAt.Set {
		problems.Add("/expiresAt", "is required, and must be a date-time such as 2030-01-31T12:00:00Z")
		return
	}
	httpapi.CheckMoment("/expiresAt", &expiresAt.Value, problems)
}

// createOwnToken does not check the size of the list of users, because that costs a query. A user has at most 100 tokens.
func createOwnToken(tx *httpapi.Tx, _ httpapi.InService, in createPersonalTokenBody) (personalToken, error) {
	_, answer, err := newPersonalToken(tx, caller(tx), in)
	return answer, err
}

func createAccountToken(tx *httpapi.Tx, at inAccount, in createPersonalTokenBody) (personalToken, error) {
	after, answer, err := newPersonalToken(tx, at.account(tx), in)
	if err != nil {
		return personalToken{}, err
	}
	if err := wire.CheckListSize(tx, after); err != nil {
		return personalToken{}, err
	}
	return answer, nil
}

// newPersonalToken creates a token of a user. It returns the user with that token, and the response with its secret.
func newPersonalToken(tx *httpapi.Tx, u *access.User, in createPersonalTokenBody) (*access.User, personalToken, error) {
	secret := string(access.PersonalToken) + ":" + tx.Random()
	after, token, err := u.WithToken(in.Description.Value, access.HashSecret(secret), tx.Now, httpapi.MomentOf(&in.ExpiresAt.Value))
	if err != nil {
		return nil, personalToken{}, err
	}
	t := after.Tokens[len(after.Tokens)-1]
	tx.Save(events.PersonalTokenCreated(u, t), after, token)
	tx.NoStore()
	answer := personalTokenOf(u, t)
	answer.Secret = secret
	return after, answer, nil
}

func deleteOwnToken(tx *httpapi.Tx, at inOwnToken) error {
	return removePersonalToken(tx, caller(tx), at.TokenID)
}

func deleteAccountToken(tx *httpapi.Tx, at inAccountToken) error {
	return removePersonalToken(tx, at.account(tx), at.TokenID)
}

// removePersonalToken deletes a token of a user. NotFound when the user has no token of that ID.
func removePersonalToken(tx *httpapi.Tx, u *access.User, id int64) error {
	t, err := u.Token(id)
	if err != nil {
		return err
	}
	after, err := u.WithoutToken(id)
	if err != nil {
		return err
	}
	changed := []flags.Aggregate{after}
	if token := findToken(tx, t.Hash); token != nil {
		changed = append(changed, token.AsDeleted())
	}
	tx.Save(events.PersonalTokenDeleted(u, t), changed...)
	return nil
}
