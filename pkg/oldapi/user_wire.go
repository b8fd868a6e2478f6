package oldapi

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// A userView is a user (contract: User record). What nobody gave, name, username or e-mail, is left out.
type userView struct {
	ID            int64      `json:"id"`
	IsAPI         bool       `json:"isAPI"` // deprecated, always false
	AccountType   string     `json:"accountType"`
	Name          string     `json:"name,omitzero"`
	Username      string     `json:"username,omitzero"`
	Email         string     `json:"email,omitzero"`
	ImageURL      string     `json:"imageUrl"`
	InviteLink    string     `json:"inviteLink"`    // always empty: nobody logs in here
	LoginAttempts int        `json:"loginAttempts"` // always 0, for the same reason
	RootRole      int64      `json:"rootRole"`
	SeenAt        *timestamp `json:"seenAt"`
	CreatedAt     timestamp  `json:"createdAt"`
	ScimID        *string    `json:"scimId"` // always null: there is no external provisioning
}

func userViewOf(u *flags.User) userView {
	kind := "User"
	if u.ServiceAccount {
		kind = "Service Account"
	}
	return userView{
		ID: u.ID, AccountType: kind, Name: u.Name, Username: u.Username, Email: u.Email, ImageURL: u.Image(),
		RootRole: u.RootRole, SeenAt: timestampOf(u.SeenAt), CreatedAt: timestamp(u.CreatedAt),
	}
}

// A createdUser is a user as its creation answers.
type createdUser struct {
	userView
	EmailSent bool `json:"emailSent"` // always false: no mail is sent
}

// A userList is every user, and the roles that they can have.
type userList struct {
	Users     []userView `json:"users"`
	RootRoles []roleView `json:"rootRoles"`
}

// A userNames is what a user is called. Null and "" are both none.
type userNames struct {
	Username maybe[*string] `json:"username"`
	Email    maybe[*string] `json:"email"`
	Name     maybe[*string] `json:"name"`
}

// over puts what the body says in the place of what the user was called.
func (n userNames) over(u *flags.User) {
	for _, member := range []struct {
		said maybe[*string]
		into *string
	}{{n.Username, &u.Username}, {n.Email, &u.Email}, {n.Name, &u.Name}} {
		switch {
		case member.said.Value != nil:
			*member.into = *member.said.Value
		case member.said.Set:
			*member.into = ""
		}
	}
}

// A createUserBody makes a user. Password and sendEmail are taken and not used: users act with personal tokens only.
type createUserBody struct {
	userNames
	RootRole  maybe[roleRef] `json:"rootRole"`
	Password  maybe[*string] `json:"password"`
	SendEmail maybe[*bool]   `json:"sendEmail"`
}

func (b createUserBody) user() flags.User {
	var u flags.User
	b.over(&u)
	return u
}

func (b createUserBody) check(_ flags.Limits, problems *flags.Problems) {
	u := b.user()
	u.Check(problems)
	flags.CheckLength("/password", orEmpty(b.Password.Value), flags.MaxTitle, problems)
	if !b.RootRole.Set {
		problems.Add("/rootRole", "is required")
	}
}

func (b createUserBody) review(c *call, problems *flags.Problems) {
	b.RootRole.Value.review(c, problems)
}

// An updateUserBody changes a user or service account; what it leaves out stays.
type updateUserBody struct {
	userNames
	RootRole maybe[roleRef] `json:"rootRole"`
}

// check finds what is wrong with the names by themselves; whether one is missing depends on what the user has.
func (b updateUserBody) check(_ flags.Limits, problems *flags.Problems) {
	u := flags.User{}
	b.over(&u)
	u.Username = cmp.Or(u.Username, "there")
	u.Check(problems)
}

func (b updateUserBody) review(c *call, problems *flags.Problems) {
	if b.RootRole.Set {
		b.RootRole.Value.review(c, problems)
	}
}

// A roleRef names a role by its id or its name.
type roleRef struct {
	ID   int64 // 0 for a name
	Name string
}

var errRoleRef = errors.New("must be the id of a role, or its name")

// UnmarshalJSONFrom takes a whole number above 0, or a string.
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

// review finds out whether there is such a root role, as soon as the roles are known.
func (r roleRef) review(c *call, problems *flags.Problems) {
	if c.rootRole(r) == 0 {
		problems.Add("/rootRole", "there is no root role %s", r)
	}
}

func (r roleRef) String() string {
	if r.ID != 0 {
		return strconv.FormatInt(r.ID, 10)
	}
	return strconv.Quote(shorten(r.Name))
}
