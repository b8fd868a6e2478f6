package users

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// A createdUser is the response to the creation of a user.
type createdUser struct {
	shape.UserView
	EmailSent bool `json:"emailSent"` // always false: no mail is sent
}

// A userList is all users, and the roles that they can have.
type userList struct {
	Users     []shape.UserView `json:"users"`
	RootRoles []shape.RoleView `json:"rootRoles"`
}

// userNames are the names of a user in a body. Null and "" both remove a name.
type userNames struct {
	Username jsonbody.Maybe[*string] `json:"username"`
	Email    jsonbody.Maybe[*string] `json:"email"`
	Name     jsonbody.Maybe[*string] `json:"name"`
}

// applyTo sets the names that the body has.
func (n userNames) applyTo(u *access.User) {
	u.Username = wire.TextOver(n.Username, u.Username)
	u.Email = wire.TextOver(n.Email, u.Email)
	u.Name = wire.TextOver(n.Name, u.Name)
}

// A createUserBody creates a user. Password and sendEmail are accepted and ignored: users only have personal tokens.
type createUserBody struct {
	userNames
	RootRole  jsonbody.Maybe[roleRef] `json:"rootRole"`
	Password  jsonbody.Maybe[*string] `json:"password"`
	SendEmail jsonbody.Maybe[*bool]   `json:"sendEmail"`
}

// user is the user of the body.
func (b createUserBody) user() access.User {
	var u access.User
	b.applyTo(&u)
	return u
}

// Check adds all problems of the body, except an unknown root role: see findRootRole.
func (b createUserBody) Check(_ flags.Limits, problems *flags.Problems) {
	u := b.user()
	u.Check(problems)
	flags.CheckLength("/password", wire.TextOver(b.Password, ""), flags.MaxTitle, problems)
	if !b.RootRole.Set {
		problems.Add("/rootRole", "is required")
	}
}

// An updateUserBody changes a user or service account. Fields that are absent stay as they are.
type updateUserBody struct {
	userNames
	RootRole jsonbody.Maybe[roleRef] `json:"rootRole"`
}

// Check adds the problems of the names that the body has. Whether one is missing depends on the stored user: see update.
func (b updateUserBody) Check(_ flags.Limits, problems *flags.Problems) {
	u := access.User{}
	b.applyTo(&u)
	u.Username = cmp.Or(u.Username, "any")
	u.Check(problems)
}

// A roleRef names a role by its ID or its name.
type roleRef struct {
	ID   int64 // 0 for a name
	Name string
}

var errRoleRef = errors.New("must be the id of a role, or its name")

// UnmarshalJSONFrom reads a whole number above 0, or a string.
func (r *roleRef) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '"':
		return json.UnmarshalDecode(d, &r.Name)
	case '0':
		if err := json.UnmarshalDecode(d, &r.ID); err != nil || r.ID < 1 {
			return errRoleRef
		}
		return nil
	}
	return errRoleRef
}

func (r roleRef) String() string {
	if r.ID != 0 {
		return strconv.FormatInt(r.ID, 10)
	}
	return strconv.Quote(jsonbody.Shorten(r.Name))
}
