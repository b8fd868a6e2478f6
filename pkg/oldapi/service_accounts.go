package oldapi

import (
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// A service account is a user that is a program: it has no e-mail, and lists of its own. Its tokens are made and taken
// away by the tokens group.

// A serviceAccountView is a service account with its tokens, but not their secrets.
type serviceAccountView struct {
	userView
	Tokens []accountToken `json:"tokens"`
}

type accountToken struct {
	ID          int64      `json:"id"`
	Description string     `json:"description"`
	CreatedAt   timestamp  `json:"createdAt"`
	ExpiresAt   timestamp  `json:"expiresAt"`
	SeenAt      *timestamp `json:"seenAt"`
}

func serviceAccountOf(u *flags.User) serviceAccountView {
	return serviceAccountView{userViewOf(u), each(u.Tokens, func(t flags.UserToken) accountToken {
		return accountToken{t.ID, t.Description, timestamp(t.CreatedAt), timestamp(t.ExpiresAt), timestampOf(t.SeenAt)}
	})}
}

// A serviceAccountList is every service account, and the roles that they can have.
type serviceAccountList struct {
	ServiceAccounts []serviceAccountView `json:"serviceAccounts"`
	RootRoles       []roleView           `json:"rootRoles"`
}

// A createAccountBody makes a service account.
type createAccountBody struct {
	Username string         `json:"username"`
	Name     string         `json:"name"`
	RootRole maybe[roleRef] `json:"rootRole"`
}

func (b createAccountBody) user() flags.User {
	return flags.User{ServiceAccount: true, Username: b.Username, Name: b.Name}
}

func (b createAccountBody) check(_ flags.Limits, problems *flags.Problems) {
	u := b.user()
	u.Check(problems)
	if !b.RootRole.Set {
		problems.Add("/rootRole", "is required")
	}
}

func (b createAccountBody) review(c *call, problems *flags.Problems) {
	b.RootRole.Value.review(c, problems)
}

func listAccounts(c *call) (decision, error) {
	return ok(serviceAccountList{
		ServiceAccounts: each(pageOf(c.query, c.usersWhere(isAccount)), serviceAccountOf), RootRoles: each(c.roles.RootRoles(), roleViewOf),
	})
}

func createAccount(c *call, in createAccountBody) (decision, error) {
	u, err := c.newUser(in.user(), in.RootRole)
	if err != nil {
		return decision{}, err
	}
	return c.changes(nil, u, events.UserCreated(u), http.StatusCreated, serviceAccountOf(u))
}

func updateAccount(c *call, in updateAccountBody) (decision, error) {
	if err := c.findKind(isAccount, "service account"); err != nil {
		return decision{}, err
	}
	u, err := c.updated(in.asUser())
	if err != nil {
		return decision{}, err
	}
	return c.changes(c.user, u, events.UserUpdated(c.user, u), http.StatusOK, serviceAccountOf(u))
}

// An updateAccountBody changes a service account; what it leaves out stays.
type updateAccountBody struct {
	Username maybe[*string] `json:"username"`
	Name     maybe[*string] `json:"name"`
	RootRole maybe[roleRef] `json:"rootRole"`
}

func (b updateAccountBody) asUser() updateUserBody {
	return updateUserBody{userNames{Username: b.Username, Name: b.Name}, b.RootRole}
}

func (b updateAccountBody) check(limits flags.Limits, problems *flags.Problems) {
	b.asUser().check(limits, problems)
}

func (b updateAccountBody) review(c *call, problems *flags.Problems) { b.asUser().review(c, problems) }

func deleteAccount(c *call) (decision, error) {
	if err := c.findKind(isAccount, "service account"); err != nil {
		return decision{}, err
	}
	return c.removeUser()
}
