package oldapi

import (
	"net/http"
	"slices"
	"strings"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// signupTokens are the public signup tokens: whoever has the secret of one may become a user with its role.
func signupTokens() []Operation {
	const all, one = "/api/admin/invite-link/tokens", "/api/admin/invite-link/tokens/{token}"
	return []Operation{
		{"GET " + all, flags.Admin, theRoles, does(listSignups).listing(flags.EntitySignupToken).loading(listedSignupUsers).sealing().answers(200, signupTokenList{})},
		{"POST " + all, flags.Admin, theRoles, takes(createSignup).listing(flags.EntitySignupToken).sealing().answers(201, signupToken{})},
		{"GET " + one, flags.Admin, theSignup | theRoles, does(readSignup).loading(signupUsers).sealing().answers(200, signupToken{})},
		{"PUT " + one, flags.Admin, theSignup | theRoles, takes(updateSignup).loading(signupUsers).sealing().answers(200, signupToken{})},
	}
}

// A signupToken is a public signup token on the wire (contract: Public signup token).
type signupToken struct {
	Secret    string       `json:"secret"`
	URL       *string      `json:"url"` // null: there is no page to sign up at
	Name      string       `json:"name"`
	Enabled   bool         `json:"enabled"` // false once it has expired, whatever was set
	ExpiresAt timestamp    `json:"expiresAt"`
	CreatedAt timestamp    `json:"createdAt"`
	CreatedBy string       `json:"createdBy"`
	Users     []signupUser `json:"users"`
	Role      signupRole   `json:"role"`
}

// A signupUser is somebody who signed up with the token.
type signupUser struct {
	ID       int64  `json:"id"`
	Name     string `json:"name,omitzero"`
	Username string `json:"username,omitzero"`
}

// A signupRole is the role that they got.
type signupRole struct {
	ID          int64          `json:"id"`
	Type        flags.RoleType `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
}

// A signupTokenList is a list of public signup tokens.
type signupTokenList struct {
	Tokens []signupToken `json:"tokens"`
}

func (c *call) signupToken(s *flags.SignupToken) (signupToken, error) {
	secret, err := c.open(s.Sealed, s.Hash, s.Name)
	wire := signupToken{
		Secret: secret, Name: s.Name, Enabled: s.EnabledAt(c.now), ExpiresAt: timestamp(s.ExpiresAt),
		CreatedAt: timestamp(s.CreatedAt), CreatedBy: s.CreatedBy, Users: []signupUser{},
	}
	for _, id := range s.Users {
		if u := flags.Find[*flags.User](c.more, flags.UserKey(id)); u != nil {
			wire.Users = append(wire.Users, signupUser{u.ID, u.Name, u.Username})
		}
	}
	if role := c.roles.Find(s.Role); role != nil {
		wire.Role = signupRole{role.ID, role.Type, role.Name, role.Description}
	}
	return wire, err
}

func signupUsers(c *call) []flags.Key { return each(c.signup.Users, flags.UserKey) }

func listedSignupUsers(c *call) []flags.Key {
	var keys []flags.Key
	for _, a := range c.lists[flags.EntitySignupToken] {
		keys = append(keys, each(a.(*flags.SignupToken).Users, flags.UserKey)...)
	}
	return compact(keys)
}

// listSignups lists them, the oldest first.
func listSignups(c *call) (decision, error) {
	all := make([]*flags.SignupToken, 0, len(c.lists[flags.EntitySignupToken]))
	for _, a := range c.lists[flags.EntitySignupToken] {
		all = append(all, a.(*flags.SignupToken))
	}
	slices.SortFunc(all, func(a, b *flags.SignupToken) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.Hash, b.Hash)
	})
	answer := signupTokenList{Tokens: make([]signupToken, 0, len(all))}
	for _, s := range pageOf(c.query, all) {
		wire, err := c.signupToken(s)
		if err != nil {
			return decision{}, err
		}
		answer.Tokens = append(answer.Tokens, wire)
	}
	return ok(answer)
}

func readSignup(c *call) (decision, error) {
	answer, err := c.signupToken(c.signup)
	if err != nil {
		return decision{}, err
	}
	return ok(answer)
}

// A createSignupBody makes a public signup token.
type createSignupBody struct {
	Name      maybe[string] `json:"name"`
	ExpiresAt maybe[string] `json:"expiresAt"`
}

func (b createSignupBody) check(_ flags.Limits, problems *flags.Problems) {
	checkTitle("/name", b.Name.Value, problems)
	if !b.ExpiresAt.Set {
		problems.Add("/expiresAt", "is required: a date-time such as 2030-01-31T12:00:00Z")
		return
	}
	checkExpiry(&b.ExpiresAt.Value, problems)
}

// createSignup makes one whose users become viewers.
func createSignup(c *call, in createSignupBody) (decision, error) {
	secret := c.random()
	s := &flags.SignupToken{
		Hash: flags.HashSecret(secret), Name: in.Name.Value, Enabled: true, ExpiresAt: momentOf(&in.ExpiresAt.Value),
		CreatedAt: c.now, CreatedBy: c.caller.Name, Role: flags.RoleViewer,
	}
	s.Sealed = c.sealer.Seal(secret, s.Hash)
	if err := flags.CheckListSize(c.lists[flags.EntitySignupToken], nil, s); err != nil {
		return decision{}, err
	}
	return c.changesSignup(nil, s, events.SignupTokenCreated(s, c.now), http.StatusCreated)
}

// An updateSignupBody changes a public signup token; what is left out stays.
type updateSignupBody struct {
	ExpiresAt maybe[string] `json:"expiresAt"`
	Enabled   maybe[bool]   `json:"enabled"`
}

func (b updateSignupBody) check(_ flags.Limits, problems *flags.Problems) {
	if b.ExpiresAt.Set {
		checkExpiry(&b.ExpiresAt.Value, problems)
	}
}

func updateSignup(c *call, in updateSignupBody) (decision, error) {
	after := *c.signup
	if in.ExpiresAt.Set {
		after.ExpiresAt = momentOf(&in.ExpiresAt.Value)
	}
	after.Enabled = in.Enabled.or(after.Enabled)
	return c.changesSignup(c.signup, &after, events.SignupTokenUpdated(c.signup, &after, c.now), http.StatusOK)
}

func (c *call) changesSignup(before flags.Aggregate, after *flags.SignupToken, event flags.Event, status int) (decision, error) {
	answer, err := c.signupToken(after)
	if err != nil {
		return decision{}, err
	}
	return c.changes(before, after, event, status, answer)
}
