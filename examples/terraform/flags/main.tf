# Environments, and a project for each team that has all of them.

resource "unleash_environment" "all" {
  for_each = var.environments
  name     = each.key
  type     = each.value
}

resource "unleash_project" "team" {
  for_each    = var.teams
  id          = each.key
  name        = each.value.name
  description = each.value.description
  mode        = "protected"
}

locals {
  project_environments = {
    for pair in setproduct(keys(var.teams), keys(var.environments)) :
    "${pair[0]}/${pair[1]}" => { project = pair[0], environment = pair[1] }
  }
}

resource "unleash_project_environment" "team" {
  for_each         = local.project_environments
  project_id       = unleash_project.team[each.value.project].id
  environment_name = unleash_environment.all[each.value.environment].name
}

# What strategies can be constrained by, beside the fields that Guidon has from the start.

resource "unleash_context_field" "plan" {
  name        = "plan"
  description = "What the customer pays for"
  stickiness  = false
  legal_values = [
    { value = "free", description = "Costs nothing" },
    { value = "team", description = "Up to 50 people" },
    { value = "company", description = "Without a limit" },
  ]
}
