package oldapi

import "guidon/pkg/flags"

// removed says why a route of Unleash does not exist. It goes with the group users.
func removed(route string) *flags.Error {
	return flags.Errorf(flags.NotFound, "%s: inactive users are not known: Guidon does not record sign-ins yet; GET /api/admin/user-admin lists all users", route)
}
