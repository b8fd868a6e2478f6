# People sign in to the console by a link or at an OpenID provider, so no password is here.

data "unleash_role" "viewer" {
  name = "Viewer"
}

data "unleash_role" "owner" {
  name = "Owner"
}

resource "unleash_user" "person" {
  for_each   = var.users
  email      = each.key
  name       = each.value
  root_role  = data.unleash_role.viewer.id
  send_email = false
}

# Members may do everything with flags in staging, but may only switch them in live.

resource "unleash_role" "developer" {
  name        = "Developer"
  description = "Changes flags in staging, and switches them in live"
  type        = "custom"
  permissions = [
    { name = "CREATE_FEATURE" },
    { name = "UPDATE_FEATURE" },
    { name = "CREATE_FEATURE_STRATEGY", environment = unleash_environment.all["staging"].name },
    { name = "UPDATE_FEATURE_STRATEGY", environment = unleash_environment.all["staging"].name },
    { name = "DELETE_FEATURE_STRATEGY", environment = unleash_environment.all["staging"].name },
    { name = "UPDATE_FEATURE_ENVIRONMENT", environment = unleash_environment.all["staging"].name },
    { name = "UPDATE_FEATURE_ENVIRONMENT", environment = unleash_environment.all["live"].name },
  ]
}

resource "unleash_project_access" "team" {
  for_each = var.teams
  project  = unleash_project.team[each.key].id
  roles = concat(
    [{ role = data.unleash_role.owner.id, users = [unleash_user.person[each.value.owner].id], groups = [] }],
    length(each.value.members) == 0 ? [] : [{
      role   = unleash_role.developer.id
      users  = [for email in each.value.members : unleash_user.person[email].id]
      groups = []
    }],
  )
}

# Servers of each team read its flags with a token of one environment.

resource "unleash_api_token" "server" {
  for_each    = local.project_environments
  token_name  = "${each.value.project}-${each.value.environment}"
  type        = "client"
  projects    = [each.value.project]
  environment = each.value.environment
  expires_at  = var.tokens_expire_at
  depends_on  = [unleash_project_environment.team]
}

# A pipeline changes flags as a service account, whose token has its role.

data "unleash_role" "editor" {
  name = "Editor"
}

resource "unleash_service_account" "pipeline" {
  name      = "Pipeline"
  username  = "pipeline"
  root_role = data.unleash_role.editor.id
}

# The provider knows the secret of this token only in the run that creates it. Pass it on in that run: for example with an
# aws_secretsmanager_secret_version that ignores later changes of its secret_string. An output would be empty after the next plan.
resource "unleash_service_account_token" "pipeline" {
  service_account_id = unleash_service_account.pipeline.id
  description        = "made by Terraform"
  expires_at         = var.tokens_expire_at
}
