package flags

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/mail"
	"slices"
	"strings"
	"time"
)

// FirstUserID is there from the start: the administrator.
const FirstUserID int64 = 1

// A User is a person or a service account (contract: User record).
type User struct {
	Version        int64
	ID             int64 // never used again
	ServiceAccount bool
	Name           string
	Username       string // unique, "" for none
	Email          string // unique whatever its case, "" for none
	ImageURL       string
	RootRole       int64
	CreatedAt      time.Time
	SeenAt         time.Time
	Projects       []string    // ids of the projects that the user has a role in
	Tokens         []UserToken // by id
	NextToken      int64
}

// A UserToken is what a user acts with. Its secret is shown once, when it is made; it is found by the hash.
type UserToken struct {
	ID          int64
	Description string
	Hash        string
	CreatedAt   time.Time
	ExpiresAt   time.Time
	SeenAt      time.Time
}

// Key names the user.
func (u *User) Key() Key { return UserKey(u.ID) }

func (u *User) version() int64 { return u.Version }

// Clone is a copy to change.
func (u *User) Clone() *User {
	c := *u
	c.Projects, c.Tokens = slices.Clone(u.Projects), slices.Clone(u.Tokens)
	return &c
}

// The longest texts of a user, in characters. An e-mail address is never longer (RFC 5321).
const (
	maxUserName = 100
	maxEmail    = 254
)

// maxUserID is where the ids of users end: clients hold them in 32 bits, and print them as floats.
const maxUserID = 999_999

// NewUser gives a user its id. Conflict when there are no more ids.
func NewUser(u User, id int64, now time.Time) (*User, error) {
	if id > maxUserID {
		return nil, Errorf(Conflict, "there have been %d users, and there are no ids for more", maxUserID)
	}
	u.ID, u.CreatedAt = id, now
	return &u, nil
}

// Check says what is wrong with what the user is called.
func (u *User) Check(problems *Problems) {
	switch {
	case u.ServiceAccount && u.Username == "":
		problems.Add("/username", "is required")
	case u.Username == "" && u.Email == "":
		problems.Add("/username", "or email is required")
	}
	if u.ServiceAccount && u.Name == "" {
		problems.Add("/name", "is required")
	}
	CheckLength("/username", u.Username, maxUserName, problems)
	CheckLength("/name", u.Name, maxUserName, problems)
	CheckLength("/email", u.Email, maxEmail, problems)
	CheckPrintable("/username", u.Username, problems)
	CheckPrintable("/name", u.Name, problems)
	if u.Email == "" {
		return
	}
	if address, err := mail.ParseAddress(u.Email); err != nil || address.Address != u.Email {
		problems.Add("/email", "must be an e-mail address, such as someone@example.com")
	}
}

// SetRootRole changes what the user may in the whole service. Invalid for the first user, who stays an administrator: so
// there always is one.
func (u *User) SetRootRole(role int64) error {
	if u.ID == FirstUserID && role != RoleAdmin {
		return Errorf(Invalid, "user %d is the first administrator and stays one", u.ID)
	}
	u.RootRole = role
	return nil
}

// CheckDeletable checks that the user can be deleted. Invalid for the first one.
func (u *User) CheckDeletable() error {
	if u.ID == FirstUserID {
		return Errorf(Invalid, "user %d is the first administrator and cannot be deleted", u.ID)
	}
	return nil
}

// Matches tells whether the name, user name or e-mail begins with a text, in any case.
func (u *User) Matches(prefix string) bool {
	prefix = strings.ToLower(prefix)
	return slices.ContainsFunc([]string{u.Name, u.Username, u.Email}, func(s string) bool {
		return strings.HasPrefix(strings.ToLower(s), prefix)
	})
}

// Image is where a picture of the user would be found: a Gravatar address, by hash, which nobody here calls.
func (u *User) Image() string {
	if u.ImageURL != "" {
		return u.ImageURL
	}
	sum := sha256.Sum256([]byte(strings.ToLower(cmp.Or(u.Email, u.Username))))
	return "https://gravatar.com/avatar/" + hex.EncodeToString(sum[:]) + "?s=42&d=retro&r=g"
}

// DisplayName is what the user is called in events: the user name, or the e-mail, or the name.
func (u *User) DisplayName() string { return cmp.Or(u.Username, u.Email, u.Name) }
