package access

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"guidon/pkg/flags"
)

// An Identity is a person at an OpenID provider, as a sign-in told it. Issuer and Subject never change; all else can.
type Identity struct {
	Issuer        string
	Subject       string
	Email         string // "" for none
	EmailVerified bool   // whether the provider vouches for the address
	Name          string // for people, "" for none
	Username      string // "" for none
	Groups        []string
}

// An IdentityLink says as which user a person at an OpenID provider signs in. It stays when the user is deleted, so that the next
// sign-in does not create the user again.
type IdentityLink struct {
	Version   int64     `json:"version,omitzero"`
	Issuer    string    `json:"issuer"`
	Subject   string    `json:"subject"`
	User      int64     `json:"user"`
	CreatedAt time.Time `json:"createdAt"`
}

// Key returns the key of the link.
func (l *IdentityLink) Key() flags.Key { return IdentityKey(l.Issuer, l.Subject) }

// StoredVersion returns the version at which the link was loaded; 0 for a person who has not signed in at this provider before.
func (l *IdentityLink) StoredVersion() int64 { return l.Version }

// Clone returns a copy that can be changed.
func (l *IdentityLink) Clone() *IdentityLink {
	c := *l
	return &c
}

// A GroupRole gives the members of a group of an OpenID provider a role, in the whole service or in a project.
type GroupRole struct {
	Group   string
	Project string // "" for a root role
	Role    string // the name of the role
}

// SignInRules say what people of an OpenID provider may do.
type SignInRules struct {
	CreateUsers bool   // whether the first sign-in of a person creates a user
	DefaultRole string // the root role of a person none of whose groups has one; "" for no access
	GroupRoles  []GroupRole
}

// ErrNotLinked is the error for a person who cannot sign in as the user with the same names.
var ErrNotLinked = flags.Errorf(flags.Conflict, "a user with this e-mail address or user name exists, and the person is not known to be the same")

// FindUser returns the user with the person's e-mail address, or nil if there is none. It returns ErrNotLinked if the person cannot
// sign in as that user: the provider does not vouch for the address, the user is a service account, or another person at the
// provider signs in as the user. Companies give addresses to new people.
func (who Identity) FindUser(users []*User) (*User, error) {
	if who.Email == "" {
		return nil, nil
	}
	i := slices.IndexFunc(users, func(u *User) bool { return isSameAddress(u.Email, who.Email) })
	if i < 0 {
		if slices.ContainsFunc(users, func(u *User) bool { return strings.EqualFold(u.Email, who.Email) }) {
			return nil, ErrNotLinked
		}
		return nil, nil
	}
	u := users[i]
	if !who.EmailVerified || u.ServiceAccount || u.Issuer == who.Issuer && u.Subject != who.Subject {
		return nil, ErrNotLinked
	}
	return u, nil
}

// isSameAddress tells whether two e-mail addresses are the same one. The case of ASCII letters does not count. That of others does:
// in Unicode, "ſ" is a small form of "S", and a provider can vouch for an address with it to another person.
func isSameAddress(a, b string) bool {
	return a == b || isASCII(a) && isASCII(b) && strings.EqualFold(a, b)
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// NewUser returns a user for the person. An e-mail address that the provider does not vouch for becomes no address of the user:
// the person who has it could not sign in as another user later. It returns ErrNotLinked if another user has the user name as its own or as its e-mail
// address, ignoring case: people choose their user names at many providers, and the event log would confuse the two.
func (who Identity) NewUser(users []*User) (User, error) {
	u := User{Name: who.Name}
	if who.EmailVerified && who.Email != "" {
		u.Email = who.Email
		return u, nil
	}
	u.Username = cmp.Or(who.Username, who.Email, who.Subject)
	taken := slices.ContainsFunc(users, func(other *User) bool {
		return strings.EqualFold(other.Username, u.Username) || strings.EqualFold(other.Email, u.Username)
	})
	if taken || len([]rune(u.Username)) > MaxUserName {
		return u, ErrNotLinked
	}
	return u, nil
}

// SignInAs has the person sign in as the user, whose name becomes that of the person.
func (u *User) SignInAs(who Identity) {
	u.Issuer, u.Subject = who.Issuer, who.Subject
	u.Name = cmp.Or(who.Name, u.Name)
}

// RootRole returns the root role of a person with groups: that of the first rule that names one of the groups, or the default
// role. It is 0 if there is none. Rules for roles that do not exist count for nothing.
func (r SignInRules) RootRole(groups []string, roles *Roles) int64 {
	for _, rule := range r.GroupRoles {
		if rule.Project != "" || !slices.Contains(groups, rule.Group) {
			continue
		}
		if id := rootRoleNamed(rule.Role, roles); id != 0 {
			return id
		}
	}
	return rootRoleNamed(r.DefaultRole, roles)
}

func rootRoleNamed(name string, roles *Roles) int64 {
	if role := roles.FindByName(name); role != nil && !role.Type.IsProjectRole() {
		return role.ID
	}
	return 0
}

// MapsRootRoles tells whether groups decide on root roles. If not, they are given in Guidon.
func (r SignInRules) MapsRootRoles() bool {
	return slices.ContainsFunc(r.GroupRoles, func(rule GroupRole) bool { return rule.Project == "" })
}

// Projects returns the projects in which groups decide on roles.
func (r SignInRules) Projects() []string {
	var projects []string
	for _, rule := range r.GroupRoles {
		if rule.Project != "" && !slices.Contains(projects, rule.Project) {
			projects = append(projects, rule.Project)
		}
	}
	return projects
}

// UpdateProjectRoles gives a person with groups the roles in the project that the rules name, and takes away those whose group the
// person has left. Roles that no rule names stay. It reports whether something changed: the project and the user, both clones.
func (r SignInRules) UpdateProjectRoles(p *flags.Project, u *User, groups []string, roles *Roles) bool {
	held := slices.Clone(p.RolesOf(u.ID))
	var given []int64
	for _, rule := range r.GroupRoles {
		role := roles.FindByName(rule.Role)
		if rule.Project != p.ID || role == nil || !role.Type.IsProjectRole() {
			continue
		}
		held = slices.DeleteFunc(held, func(id int64) bool { return id == role.ID })
		if slices.Contains(groups, rule.Group) {
			given = append(given, role.ID)
		}
	}
	held = append(held, given...)
	slices.Sort(held)
	held = slices.Compact(held)
	if slices.Equal(held, p.RolesOf(u.ID)) {
		return false
	}
	u.SetRoles(p, held)
	return true
}
