package flags

import (
	"cmp"
	"time"
)

// FirstUser is there from the start: the administrator.
const FirstUser int64 = 1

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

// DisplayName is what the user is called in events: the user name, or the e-mail, or the name.
func (u *User) DisplayName() string { return cmp.Or(u.Username, u.Email, u.Name) }
