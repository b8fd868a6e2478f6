package signin

import (
	"errors"
	"net/url"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/oidc"
	"guidon/pkg/session"
)

// login is where a sign-in at an OpenID provider starts. The query has "next", the path to go on to.
const login = "/auth/oidc/login"

// beginOpenID sends the browser to the provider.
func beginOpenID(tx *httpapi.Tx, _ httpapi.InService) error {
	tx.NoStore()
	provider, err := openIDProvider(tx)
	if err != nil {
		return refuse(tx, err)
	}
	location, cookies, err := begin(tx, provider)
	if err != nil {
		return refuse(tx, err)
	}
	for _, c := range cookies {
		tx.SetCookie(c)
	}
	tx.Redirect(location)
	return nil
}

// finishOpenID starts a session for a person who comes back from the provider.
func finishOpenID(tx *httpapi.Tx, _ httpapi.InService) error {
	tx.NoStore()
	provider, err := openIDProvider(tx)
	if err != nil {
		return refuse(tx, err)
	}
	who, next, cookies, err := finish(tx, provider)
	for _, c := range cookies {
		tx.SetCookie(c)
	}
	if err != nil {
		return refuse(tx, err)
	}
	user, err := signInAs(tx, *who, provider.Rules())
	if err != nil {
		return refuse(tx, err)
	}
	saved := []flags.Aggregate{tx.Sessions(user.ID)}
	if before := httpapi.Was(tx, user); before != nil && !changed(before, user) { // else signInAs saves the user
		saved = append(saved, user)
	}
	tx.Save(startSession(tx, user, access.SignInByOIDC), saved...)
	tx.Redirect(next)
	return nil
}

// openIDProvider is the provider. It returns an error if none is set, or if its settings cannot be read.
func openIDProvider(tx *httpapi.Tx) (session.Provider, error) {
	provider, err := findProvider(tx)
	if err == nil && provider == nil {
		err = oidc.Fail(oidc.Misconfigured, "no OpenID provider is set: see OIDC_ISSUER")
	}
	return provider, err
}

// refuse sends the browser to the sign-in page, which has a text for the code. An error without a code is that of the settings.
func refuse(tx *httpapi.Tx, err error) error {
	code := oidc.Misconfigured
	if failure := new(oidc.Error); errors.As(err, &failure) {
		code = failure.Code
	}
	warn(tx, code, err)
	tx.Redirect("/sign-in?" + url.Values{"error": {string(code)}}.Encode())
	return nil
}

// errNoAccess is the error for a person none of whose groups gives a root role.
var errNoAccess = oidc.Fail(oidc.NoAccess, "no group of the person has a root role in OIDC_GROUP_ROLES, and OIDC_DEFAULT_ROLE is none")

// signInAs returns the user as whom a person signs in, with the names and roles that follow from the identity. The first time, it
// is the user with the person's e-mail address, or a new one.
func signInAs(tx *httpapi.Tx, who access.Identity, rules access.SignInRules) (*access.User, error) {
	tx.Load(append(httpapi.ProjectKeys(rules.Projects()...), access.IdentityKey(who.Issuer, who.Subject), access.RolesKey())...)
	link := httpapi.Find[*access.IdentityLink](tx, access.IdentityKey(who.Issuer, who.Subject))
	if link != nil {
		tx.Load(access.UserKey(link.User), access.SessionsKey(link.User))
		if user := tx.FindUser(link.User); user != nil {
			return user, update(tx, user, who, rules)
		}
	}
	user, err := who.FindUser(tx.Users())
	switch {
	case errors.Is(err, access.ErrNotLinked):
		return nil, oidc.Fail(oidc.NotLinked, "a user with the person's e-mail address exists, and cannot be linked")
	case err != nil:
		return nil, err
	case user != nil:
		return connect(tx, link, tx.User(user.ID), who, rules)
	case link != nil:
		return nil, oidc.Fail(oidc.NoAccess, "the user %d was deleted", link.User)
	case !rules.CreateUsers:
		return nil, oidc.Fail(oidc.NoAccess, "the person has no user, and OIDC_CREATE_USERS is off")
	}
	return create(tx, who, rules)
}

// create creates a user for a person.
func create(tx *httpapi.Tx, who access.Identity, rules access.SignInRules) (*access.User, error) {
	role := rules.RootRole(who.Groups, tx.Roles())
	if role == 0 {
		return nil, errNoAccess
	}
	names, err := who.NewUser(tx.Users())
	if err != nil {
		return nil, oidc.Fail(oidc.NotLinked, "the person's user name is taken, or too long")
	}
	user, err := access.NewUser(names, tx.NextID(access.EntityUser), tx.Now)
	if err != nil {
		return nil, err
	}
	user.SignInAs(who)
	if err := user.SetRootRole(role); err != nil {
		return nil, err
	}
	if err := wire.CheckListSize(tx, user); err != nil {
		return nil, err
	}
	projects := updateProjects(tx, user, who, rules)
	tx.Caller = access.Caller{Name: user.DisplayName(), User: user}
	// The link is first: of two first sign-ins at once, its condition has the second one run again.
	link := &access.IdentityLink{Issuer: who.Issuer, Subject: who.Subject, User: user.ID, CreatedAt: tx.Now}
	tx.Save(events.UserCreated(user), link, user)
	saveProjects(tx, user, projects)
	return user, nil
}

// connect has a person sign in as an existing user from now on. link is nil, or leads to a user that was deleted.
func connect(tx *httpapi.Tx, link *access.IdentityLink, user *access.User, who access.Identity, rules access.SignInRules) (*access.User, error) {
	if rules.MapsRootRoles() && user.ID != access.FirstUserID && rules.RootRole(who.Groups, tx.Roles()) == 0 {
		return nil, errNoAccess
	}
	if link == nil {
		link = &access.IdentityLink{Issuer: who.Issuer, Subject: who.Subject, CreatedAt: tx.Now}
	}
	link.User = user.ID
	return user, update(tx, user, who, rules, link)
}

// update gives a user the name of the person, and the roles of the person's groups. A user who is left without a root role is
// refused, loses the roles and is signed out. others are saved with the user.
func update(tx *httpapi.Tx, user *access.User, who access.Identity, rules access.SignInRules, others ...flags.Aggregate) error {
	user.SignInAs(who)
	if rules.MapsRootRoles() && user.ID != access.FirstUserID { // the first user stays an administrator
		user.RootRole = rules.RootRole(who.Groups, tx.Roles())
	}
	projects := updateProjects(tx, user, who, rules)
	tx.Caller = access.Caller{Name: user.DisplayName(), User: user}
	if before := httpapi.Was(tx, user); changed(before, user) {
		tx.Save(events.UserUpdated(before, user), append(others, user)...)
	}
	saveProjects(tx, user, projects)
	if user.RootRole != 0 {
		return nil
	}
	if sessions := findSessions(tx, user.ID); sessions != nil && len(sessions.List) > 0 {
		sessions.EndAll()
		tx.Save(events.UserSignedOutEverywhere(user.ID), sessions)
	}
	return errNoAccess
}

// changed tells whether a sign-in has changed a user.
func changed(before, after *access.User) bool {
	return before.Name != after.Name || before.RootRole != after.RootRole || before.Issuer != after.Issuer || before.Subject != after.Subject ||
		!slices.Equal(before.Projects, after.Projects)
}

// updateProjects gives a user the roles in projects that follow from the person's groups, and returns the projects that changed.
func updateProjects(tx *httpapi.Tx, user *access.User, who access.Identity, rules access.SignInRules) []*flags.Project {
	var list []*flags.Project
	for _, id := range rules.Projects() {
		if p := tx.FindProject(id); p != nil && rules.UpdateProjectRoles(p, user, who.Groups, tx.Roles()) {
			list = append(list, p)
		}
	}
	return list
}

// saveProjects saves projects in which the roles of a user changed.
func saveProjects(tx *httpapi.Tx, user *access.User, projects []*flags.Project) {
	for _, p := range projects {
		before := httpapi.Was(tx, p)
		event := events.ProjectUserRoleChanged
		switch {
		case len(before.RolesOf(user.ID)) == 0:
			event = events.ProjectUserAdded
		case len(p.RolesOf(user.ID)) == 0:
			event = events.ProjectUserRemoved
		}
		tx.Save(event(before, p, user.ID), p)
	}
}
