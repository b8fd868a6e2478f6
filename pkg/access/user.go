package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/mail"
	"slices"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// FirstUserID is the ID of the administrator that a new service starts with.
const FirstUserID int64 = 1

// A User is a person or a service account (contract: User record).
type User struct {
	Version        int64       `json:"version,omitzero"`
	ID             int64       `json:"id"` // never used again
	ServiceAccount bool        `json:"serviceAccount,omitzero"`
	Name           string      `json:"name,omitzero"`
	Username       string      `json:"username,omitzero"` // unique; "" for none
	Email          string      `json:"email,omitzero"`    // unique, ignoring case; "" for none
	ImageURL       string      `json:"imageUrl,omitzero"`
	RootRole       int64       `json:"rootRole"`
	CreatedAt      time.Time   `json:"createdAt"`
	SeenAt         time.Time   `json:"seenAt,omitzero"`
	Projects       []string    `json:"projects,omitempty"` // IDs of the projects in which the user has a role
	Tokens         []UserToken `json:"tokens,omitempty"`   // by ID
	NextToken      int64       `json:"nextToken,omitzero"`

	// The person at the OpenID provider who signs in as the user; "" for none.
	Issuer  string `json:"issuer,omitzero"`
	Subject string `json:"subject,omitzero"`
}

// A UserToken describes a personal token. Its secret is only shown when it is created; it is looked up by the
// hash.
type UserToken struct {
	ID          int64     `json:"id"`
	Description string    `json:"description"`
	Hash        string    `json:"hash"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt"`
	SeenAt      time.Time `json:"seenAt,omitzero"`
}

// Key returns the key of the user.
func (u *User) Key() flags.Key { return UserKey(u.ID) }

// StoredVersion returns the version at which the user was loaded. Tokens and sessions of the user have versions of their own.
func (u *User) StoredVersion() int64 { return u.Version }

// Clone returns a copy that can be changed.
func (u *User) Clone() *User {
	c := *u
	c.Projects, c.Tokens = slices.Clone(u.Projects), slices.Clone(u.Tokens)
	return &c
}

// The maximum length of a user's texts in characters. No e-mail address is longer (RFC 5321).
const (
	MaxUserName = 100
	MaxEmail    = 254
)

// maxUserID is the largest user ID. Clients store IDs in 32 bits and print them as floats.
const maxUserID = 999_999

// NewUser returns the user with its ID. It returns Conflict if all IDs are used up.
func NewUser(u User, id int64, now time.Time) (*User, error) {
	if id > maxUserID {
		return nil, flags.Errorf(flags.Conflict, "no user can be created: all %d user IDs are used up", maxUserID)
	}
	u.ID, u.CreatedAt = id, now
	return &u, nil
}

// Check adds all problems of the user's names and e-mail address.
func (u *User) Check(problems *flags.Problems) {
	switch {
	case u.ServiceAccount && u.Username == "":
		problems.Add("/username", "is required")
	case u.Username == "" && u.Email == "":
		problems.Add("/username", "is required if there is no email")
	}
	if u.ServiceAccount && u.Name == "" {
		problems.Add("/name", "is required")
	}
	flags.CheckLength("/username", u.Username, MaxUserName, problems)
	flags.CheckLength("/name", u.Name, MaxUserName, problems)
	flags.CheckLength("/email", u.Email, MaxEmail, problems)
	flags.CheckPrintable("/username", u.Username, problems)
	flags.CheckPrintable("/name", u.Name, problems)
	if u.Email == "" {
		return
	}
	if !IsEmail(u.Email) {
		problems.Add("/email", "must be an e-mail address, such as someone@example.com")
	}
}

// IsEmail reports whether the text is an e-mail address, without a name beside it and at a domain with a dot: bo@example is a typing
// error far more often than an address.
func IsEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text && strings.Contains(text[strings.LastIndexByte(text, '@'):], ".")
}

// SetRootRole sets the user's role in the whole service. It returns Invalid for the first user, who must stay an
// administrator, so that there is always one.
func (u *User) SetRootRole(role int64) error {
	if u.ID == FirstUserID && role != RoleAdmin {
		return flags.Errorf(flags.Invalid, "user %d is the first administrator and must stay one", u.ID)
	}
	u.RootRole = role
	return nil
}

// CheckDeletable returns Invalid for the first user, who cannot be deleted.
func (u *User) CheckDeletable() error {
	if u.ID == FirstUserID {
		return flags.Errorf(flags.Invalid, "user %d is the first administrator and cannot be deleted", u.ID)
	}
	return nil
}

// Matches reports whether the name, user name or e-mail address begins with the prefix, ignoring case.
func (u *User) Matches(prefix string) bool {
	prefix = strings.ToLower(prefix)
	return slices.ContainsFunc([]string{u.Name, u.Username, u.Email}, func(s string) bool {
		return strings.HasPrefix(strings.ToLower(s), prefix)
	})
}

// IsNamed reports whether a text is the user's name, user name or e-mail address, ignoring case.
func (u *User) IsNamed(text string) bool {
	return text != "" && slices.ContainsFunc([]string{u.Name, u.Username, u.Email}, func(s string) bool { return strings.EqualFold(s, text) })
}

// Image returns the address of a picture of the user: the one that was set, or a Gravatar address. Guidon does
// not call Gravatar.
func (u *User) Image() string {
	if u.ImageURL != "" {
		return u.ImageURL
	}
	sum := sha256.Sum256([]byte(strings.ToLower(cmp.Or(u.Email, u.Username))))
	return "https://gravatar.com/avatar/" + hex.EncodeToString(sum[:]) + "?s=42&d=retro&r=g"
}

// DisplayName returns the user's name in events: the user name, the e-mail address or the name, whichever is set
// first.
func (u *User) DisplayName() string { return cmp.Or(u.Username, u.Email, u.Name) }
