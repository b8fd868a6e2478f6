package tokens

import (
	"cmp"
	"slices"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// signupTokens are the operations on public signup tokens. A person who has the secret of one can become a user with its
// role.
func signupTokens() []httpapi.Operation {
	const all = "/api/admin/invite-link/tokens"
	const one = all + "/{" + tokenParam + "}"
	ahead := []flags.Key{access.RolesKey()}
	return []httpapi.Operation{
		{Route: "GET " + all, Permission: access.Admin, Ahead: ahead, Handle: httpapi.Handle(listSignupTokens)},
		{Route: "POST " + all, Permission: access.Admin, Ahead: ahead, Status: 201, Handle: httpapi.HandleBody(createSignupToken)},
		{Route: "GET " + one, Permission: access.Admin, Ahead: ahead, Handle: httpapi.Handle(readSignupToken)},
		{Route: "PUT " + one, Permission: access.Admin, Ahead: ahead, Handle: httpapi.HandleBody(updateSignupToken)},
	}
}

// inSignupToken is the place of an operation on a public signup token.
type inSignupToken struct {
	httpapi.InService
	secretInPath
}

// Keys names the token.
func (at *inSignupToken) Keys() []flags.Key { return []flags.Key{access.SignupTokenKey(at.hash)} }

// token returns the public signup token of the path. It ends the transaction with NotFound if there is none. The message
// never repeats the secret: it may be a valid one of something else.
func (at inSignupToken) token(tx *httpapi.Tx) *access.SignupToken {
	s := httpapi.Find[*access.SignupToken](tx, access.SignupTokenKey(at.hash))
	if s == nil {
		tx.Fail(flags.Errorf(flags.NotFound, "there is no public signup token with this secret"))
	}
	return s
}

// A signupToken is the response for a public signup token (contract: Public signup token).
type signupToken struct {
	Secret    string       `json:"secret"`
	URL       *string      `json:"url"` // always null: there is no page to sign up at
	Name      string       `json:"name"`
	Enabled   bool         `json:"enabled"` // false once it has expired, whatever was set
	ExpiresAt shape.Time   `json:"expiresAt"`
	CreatedAt shape.Time   `json:"createdAt"`
	CreatedBy string       `json:"createdBy"`
	Users     []signupUser `json:"users"`
	Role      signupRole   `json:"role"`
}

// A signupUser is a user who signed up with the token.
type signupUser struct {
	ID       int64  `json:"id"`
	Name     string `json:"name,omitzero"`
	Username string `json:"username,omitzero"`
}

// A signupRole is the root role that those users get.
type signupRole struct {
	ID          int64           `json:"id"`
	Type        access.RoleType `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
}

// A signupTokenList is a list of public signup tokens.
type signupTokenList struct {
	Tokens []signupToken `json:"tokens"`
}

func signupTokenOf(tx *httpapi.Tx, s *access.SignupToken) (signupToken, error) {
	secret, err := decryptSecret(tx, s.Sealed, s.Hash, s.Name)
	if err != nil {
		return signupToken{}, err
	}
	answer := signupToken{
		Secret: secret, Name: s.Name, Enabled: s.EnabledAt(tx.Now), ExpiresAt: shape.Time(s.ExpiresAt),
		CreatedAt: shape.Time(s.CreatedAt), CreatedBy: s.CreatedBy, Users: []signupUser{},
	}
	tx.Load(httpapi.Each(s.Users, access.UserKey)...)
	for _, id := range s.Users {
		if u := tx.FindUser(id); u != nil {
			answer.Users = append(answer.Users, signupUser{u.ID, u.Name, u.Username})
		}
	}
	if role := tx.Roles().Find(s.Role); role != nil {
		answer.Role = signupRole{role.ID, role.Type, role.Name, role.Description}
	}
	return answer, nil
}

// listSignupTokens lists public signup tokens, the oldest first.
func listSignupTokens(tx *httpapi.Tx, _ httpapi.InService) (signupTokenList, error) {
	tx.NoStore()
	all := httpapi.List[*access.SignupToken](tx, access.EntitySignupToken)
	slices.SortFunc(all, func(a, b *access.SignupToken) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Hash, b.Hash))
	})
	page := httpapi.PageOf(tx.Query(), all)
	var users []flags.Key
	for _, s := range page {
		users = append(users, httpapi.Each(s.Users, access.UserKey)...)
	}
	tx.Load(users...)
	answer := signupTokenList{Tokens: make([]signupToken, len(page))}
	for i, s := range page {
		var err error
		if answer.Tokens[i], err = signupTokenOf(tx, s); err != nil {
			return signupTokenList{}, err
		}
	}
	return answer, nil
}

func readSignupToken(tx *httpapi.Tx, at inSignupToken) (signupToken, error) {
	return signupTokenOf(tx, at.token(tx))
}

// A createSignupBody is a new public signup token.
type createSignupBody struct {
	Name      jsonbody.Maybe[string] `json:"name"`
	ExpiresAt jsonbody.Maybe[string] `json:"expiresAt"`
}

// Check checks the name and the expiry.
func (b createSignupBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckTitle("/name", b.Name.Value, problems)
	checkRequiredExpiry(b.ExpiresAt, problems)
}

// createSignupToken creates a public signup token whose users become viewers.
func createSignupToken(tx *httpapi.Tx, _ httpapi.InService, in createSignupBody) (signupToken, error) {
	secret := tx.Random()
	s := &access.SignupToken{
		Hash: access.HashSecret(secret), Name: in.Name.Value, Enabled: true, ExpiresAt: httpapi.MomentOf(&in.ExpiresAt.Value),
		CreatedAt: tx.Now, CreatedBy: tx.Caller.Name, Role: access.RoleViewer,
	}
	s.Sealed = tx.Seal(secret, s.Hash)
	if err := wire.CheckListSize(tx, s); err != nil {
		return signupToken{}, err
	}
	tx.Save(events.SignupTokenCreated(s, tx.Now), s)
	return signupTokenOf(tx, s)
}

// An updateSignupBody changes a public signup token. Fields that are left out keep their values.
type updateSignupBody struct {
	ExpiresAt jsonbody.Maybe[string] `json:"expiresAt"`
	Enabled   jsonbody.Maybe[bool]   `json:"enabled"`
}

// Check checks the expiry.
func (b updateSignupBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.ExpiresAt.Set {
		httpapi.CheckMoment("/expiresAt", &b.ExpiresAt.Value, problems)
	}
}

func updateSignupToken(tx *httpapi.Tx, at inSignupToken, in updateSignupBody) (signupToken, error) {
	s := at.token(tx)
	if in.ExpiresAt.Set {
		s.ExpiresAt = httpapi.MomentOf(&in.ExpiresAt.Value)
	}
	s.Enabled = in.Enabled.Or(s.Enabled)
	tx.Save(events.SignupTokenUpdated(httpapi.Was(tx, s), s, tx.Now), s)
	return signupTokenOf(tx, s)
}
