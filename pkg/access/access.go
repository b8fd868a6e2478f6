// Package access is the part of the domain that decides who may do what: users, service accounts, roles and their permissions,
// API tokens, personal tokens and sign-up tokens, sessions and sign-ins. Like package flags, it does no I/O and knows neither
// HTTP nor AWS.
//
//	caller.go       the user or token behind a request, and what it may do
//	permission.go, role.go, membership.go    permissions, roles, and who holds which role in a project
//	token.go, tokenscope.go, usertoken.go, signuptoken.go    tokens, and which projects they give access to
//	user.go, identity.go, session.go         users, people at an OpenID provider, and sessions
//
// It imports flags, because permissions hold in projects and environments. Flags and projects know nothing of access.
package access
