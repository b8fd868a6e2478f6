package apitest

import "net/url"

// The paths that tests of several areas use. Project is the project that a new deployment has, and InProduction its environment.
const (
	Project  = "/api/admin/projects/default"
	Features = Project + "/features"

	Projects        = "/api/admin/projects"
	Environments    = "/api/admin/environments"
	Segments        = "/api/admin/segments"
	ContextFields   = "/api/admin/context"
	Addons          = "/api/admin/addons"
	Applications    = "/api/admin/metrics/applications"
	EventLog        = "/api/admin/events"
	Export          = "/api/admin/features-batch/export"
	Import          = "/api/admin/features-batch/import"
	ValidateImport  = "/api/admin/features-batch/validate"
	Users           = "/api/admin/user-admin"
	ServiceAccounts = "/api/admin/service-account"
	Roles           = "/api/admin/roles"
	Me              = "/api/admin/user"
	OwnTokens       = "/api/admin/user/tokens"
	APITokens       = "/api/admin/api-tokens"
	SignupTokens    = "/api/admin/invite-link/tokens"
	InProduction    = Project + "/environments/production"
	ReviewConfig    = InProduction + "/change-requests/config"
	ChangeRequests  = Project + "/change-requests"
)

// In is the path of an environment of a flag in the project "default".
func In(flag, environment string) string {
	return Features + "/" + flag + "/environments/" + environment
}

// BulkEnvironment is the path that enables and disables many flags of "default" in an environment.
func BulkEnvironment(environment string) string {
	return Project + "/bulk_features/environments/" + environment
}

// TokenPath is the path of the API token with a secret.
func TokenPath(secret string) string { return APITokens + "/" + url.PathEscape(secret) }
