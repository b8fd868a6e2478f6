package users

import (
	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A service account is a user that is a program. It has no e-mail address, and paths of its own.

// A serviceAccountList is all service accounts, and the roles that they can have.
type serviceAccountList struct {
	ServiceAccounts []shape.ServiceAccountView `json:"serviceAccounts"`
	RootRoles       []shape.RoleView           `json:"rootRoles"`
}

func listAccounts(tx *httpapi.Tx, _ httpapi.InService) (serviceAccountList, error) {
	return serviceAccountList{
		ServiceAccounts: httpapi.Each(httpapi.PageOf(tx.Query(), usersWhere(tx, isAccount)), shape.ServiceAccountViewOf),
		RootRoles:       httpapi.Each(tx.Roles().RootRoles(), shape.RoleViewOf),
	}, nil
}

// A createAccountBody creates a service account.
type createAccountBody struct {
	Username string                  `json:"username"`
	Name     string                  `json:"name"`
	RootRole jsonbody.Maybe[roleRef] `json:"rootRole"`
}

// user is the service account of the body.
func (b createAccountBody) user() access.User {
	return access.User{ServiceAccount: true, Username: b.Username, Name: b.Name}
}

// Check adds all problems of the body, except an unknown root role: see findRootRole.
func (b createAccountBody) Check(_ flags.Limits, problems *flags.Problems) {
	u := b.user()
	u.Check(problems)
	if !b.RootRole.Set {
		problems.Add("/rootRole", "is required")
	}
}

func createAccount(tx *httpapi.Tx, _ httpapi.InService, in createAccountBody) (shape.ServiceAccountView, error) {
	u, err := newUser(tx, in.user(), in.RootRole.Value)
	if err != nil {
		return shape.ServiceAccountView{}, err
	}
	tx.Save(events.UserCreated(u), u)
	return shape.ServiceAccountViewOf(u), nil
}

// An updateAccountBody changes a service account. Fields that are absent stay as they are.
type updateAccountBody struct {
	Username jsonbody.Maybe[*string] `json:"username"`
	Name     jsonbody.Maybe[*string] `json:"name"`
	RootRole jsonbody.Maybe[roleRef] `json:"rootRole"`
}

// asUserBody is the body that changes a user in the same way.
func (b updateAccountBody) asUserBody() updateUserBody {
	return updateUserBody{userNames{Username: b.Username, Name: b.Name}, b.RootRole}
}

// Check adds the problems of the names that the body has.
func (b updateAccountBody) Check(limits flags.Limits, problems *flags.Problems) {
	b.asUserBody().Check(limits, problems)
}

func updateAccount(tx *httpapi.Tx, at inUser, in updateAccountBody) (shape.ServiceAccountView, error) {
	u, err := update(tx, in.asUserBody(), at.account)
	if err != nil {
		return shape.ServiceAccountView{}, err
	}
	return shape.ServiceAccountViewOf(u), nil
}

func deleteAccount(m *httpapi.Many, at inUser) error {
	return m.Until(func(tx *httpapi.Tx) (last bool, err error) { return remove(tx, at.account(tx)) })
}
