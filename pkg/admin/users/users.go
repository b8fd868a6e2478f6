package users

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

func listUsers(tx *httpapi.Tx, _ httpapi.InService) (userList, error) {
	return userList{
		Users:     httpapi.Each(httpapi.PageOf(tx.Query(), usersWhere(tx, isPerson)), shape.UserViewOf),
		RootRoles: httpapi.Each(tx.Roles().RootRoles(), shape.RoleViewOf),
	}, nil
}

// minSearch is how many characters a search must have. A shorter one finds no users.
const minSearch = 2

func searchUsers(tx *httpapi.Tx, _ httpapi.InService) ([]shape.UserView, error) {
	q := tx.Query().Get("q")
	if utf8.RuneCountInString(q) < minSearch {
		return []shape.UserView{}, nil
	}
	return httpapi.Each(usersWhere(tx, func(u *access.User) bool { return isPerson(u) && u.Matches(q) }), shape.UserViewOf), nil
}

func readUser(tx *httpapi.Tx, at inUser) (shape.UserView, error) {
	return shape.UserViewOf(at.user(tx)), nil
}

func createUser(tx *httpapi.Tx, _ httpapi.InService, in createUserBody) (createdUser, error) {
	u, err := newUser(tx, in.user(), in.RootRole.Value)
	if err != nil {
		return createdUser{}, err
	}
	tx.Save(events.UserCreated(u), u)
	tx.Created("/api/admin/user-admin", strconv.FormatInt(u.ID, 10))
	return createdUser{UserView: shape.UserViewOf(u)}, nil
}

// newUser returns u with a new ID and the root role that the body names.
func newUser(tx *httpapi.Tx, u access.User, ref roleRef) (*access.User, error) {
	role, err := findRootRole(tx, ref)
	if err != nil {
		return nil, err
	}
	created, err := access.NewUser(u, tx.NextID(access.EntityUser), tx.Now)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckListSize(tx, created); err != nil {
		return nil, err
	}
	return created, created.SetRootRole(role)
}

func updateUser(tx *httpapi.Tx, at inUser, in updateUserBody) (shape.UserView, error) {
	u, err := update(tx, in, at.user)
	if err != nil {
		return shape.UserView{}, err
	}
	return shape.UserViewOf(u), nil
}

// update changes the user or service account that find returns. The root role of the body is checked first: an unknown one
// returns 400 even if the user does not exist.
func update(tx *httpapi.Tx, in updateUserBody, find func(tx *httpapi.Tx) *access.User) (*access.User, error) {
	var role int64
	if in.RootRole.Set {
		var err error
		if role, err = findRootRole(tx, in.RootRole.Value); err != nil {
			return nil, err
		}
	}
	u := find(tx)
	before := httpapi.Was(tx, u)
	in.applyTo(u)
	var had, has flags.Problems
	before.Check(&had)
	u.Check(&has)
	if err := has.Without(had).Err(); err != nil {
		return nil, err
	}
	if err := wire.CheckListSize(tx, u); err != nil {
		return nil, err
	}
	if in.RootRole.Set {
		if err := u.SetRootRole(role); err != nil {
			return nil, err
		}
	}
	tx.Save(events.UserUpdated(before, u), u)
	return u, nil
}

func deleteUser(m *httpapi.Many, at inUser) error {
	return m.Until(func(tx *httpapi.Tx) (last bool, err error) { return remove(tx, at.user(tx)) })
}

// leaveAtOnce is how many projects a deleted user leaves in one transaction. A transaction can have a hundred items, and
// each project takes two of them, itself and its list row. A user in more projects leaves them in several transactions, and
// is deleted by the last one. Until then only the roles in the projects already left are gone.
const leaveAtOnce = 20

// remove takes a user or service account out of the next of its projects, and deletes it if they were the last ones. Its
// names are free again, and its tokens are invalid at once: the user of a token is loaded with each request.
func remove(tx *httpapi.Tx, u *access.User) (last bool, err error) {
	if err := u.CheckDeletable(); err != nil {
		return false, err
	}
	next := u.Projects[:min(leaveAtOnce, len(u.Projects))]
	tx.Load(httpapi.ProjectKeys(next...)...)
	var left []flags.Aggregate
	for _, id := range next {
		if p := tx.FindProject(id); p != nil { // nil: the project was deleted in the meantime
			p.RemoveMember(u.ID)
			left = append(left, p)
		}
	}
	if len(next) == len(u.Projects) {
		tx.Delete(events.UserDeleted(u), u, left...)
		return true, nil
	}
	u.Projects = u.Projects[len(next):]
	tx.Save(events.UserLeftProjects(httpapi.Was(tx, u)), append([]flags.Aggregate{u}, left...)...)
	return false, nil
}

func isPerson(u *access.User) bool { return !u.ServiceAccount }

func isAccount(u *access.User) bool { return u.ServiceAccount }

// usersWhere are the users and service accounts that match, by ID.
func usersWhere(tx *httpapi.Tx, match func(*access.User) bool) []*access.User {
	var list []*access.User
	for _, u := range tx.Users() {
		if match(u) {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b *access.User) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// findRootRole is the ID of the root role that a body names. Invalid when there is none.
func findRootRole(tx *httpapi.Tx, ref roleRef) (int64, error) {
	for _, role := range tx.Roles().RootRoles() {
		if role.ID == ref.ID || ref.ID == 0 && role.Name == ref.Name {
			return role.ID, nil
		}
	}
	var problems flags.Problems
	problems.Add("/rootRole", "there is no root role %s", ref)
	return 0, problems.Err()
}
