package apitest

import "net/url"

// BulkEnvironment is the path that enables and disables many flags of "default" in an environment.
func BulkEnvironment(environment string) string {
	return Project + "/bulk_features/environments/" + environment
}

const Environments = "/api/admin/environments"

const EventLog = "/api/admin/events"

const Export = "/api/admin/features-batch/export"

const Import = "/api/admin/features-batch/import"

const ValidateImport = "/api/admin/features-batch/validate"

const Me = "/api/admin/user"

const ContextFields = "/api/admin/context"

const Segments = "/api/admin/segments"

const Addons = "/api/admin/addons"

const Applications = "/api/admin/metrics/applications"

const OwnTokens = "/api/admin/user/tokens"

const Projects = "/api/admin/projects"

const ChangeRequests = Project + "/change-requests"

const ReviewConfig = Project + "/environments/production/change-requests/config"

const InProduction = Project + "/environments/production"

const Roles = "/api/admin/roles"

const SignupTokens = "/api/admin/invite-link/tokens"

const APITokens = "/api/admin/api-tokens"

func TokenPath(secret string) string { return APITokens + "/" + url.PathEscape(secret) }

const Users = "/api/admin/user-admin"

const ServiceAccounts = "/api/admin/service-account"
