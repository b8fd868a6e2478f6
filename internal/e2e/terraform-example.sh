#!/usr/bin/env bash
# Runs examples/terraform/flags with Unleash's Terraform provider against a new Guidon: apply, plan, change, import, destroy.
# terraform-example.sh .local/bin/guidon folder: a checkout of github.com/Unleash/terraform-provider-unleash, which is built.
# It needs terraform (or TERRAFORM=program), git, curl and jq. Arguments: the built server, the folder of the provider.
set -euo pipefail
guidon=$1 provider=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

stop() {
	echo "terraform-example: $*" >&2
	exit 1
}

terraform=$(command -v "${TERRAFORM:-terraform}") || stop "terraform is not on the PATH; install it from https://developer.hashicorp.com/terraform/install"
[ -f "$provider/main.go" ] || stop "$provider is not a checkout of the Terraform provider: set PROVIDER to its folder"

work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || { kill $pid 2>/dev/null || true; wait $pid 2>/dev/null || true; }; rm -rf "$work"' EXIT

# The provider, where terraform looks for it instead of in the registry.
version=$(git -C "$provider" describe --tags --abbrev=0 | sed 's/^v//')
platform=$(go env GOOS)_$(go env GOARCH)
mirror=$work/providers/registry.terraform.io/unleash/unleash/$version/$platform
mkdir -p "$mirror"
(cd "$provider" && CGO_ENABLED=0 go build -o "$mirror/terraform-provider-unleash_v$version" .)
cat >"$work/terraformrc" <<EOF
provider_installation {
  filesystem_mirror {
    path = "$work/providers"
  }
}
EOF
export TF_CLI_CONFIG_FILE=$work/terraformrc CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_INPUT=0

PORT=0 DATA_DIR=$work/data "$guidon" serve >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	address=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$work/log" | head -n 1 || true)
	[ -n "$address" ] && curl -sf "$address/health" >/dev/null && break
	kill -0 $pid 2>/dev/null || { cat "$work/log" >&2; exit 1; }
	sleep 0.2
done
export UNLEASH_URL=$address AUTH_TOKEN='*:*.unleash-insecure-admin-api-token'
get() { curl -sS --fail-with-body "$UNLEASH_URL/api/admin/$1" -H "Authorization: $AUTH_TOKEN"; }

# same fails unless the two texts are the same: same <name> <got> <want>
same() { [ "$2" = "$3" ] || stop "$1: got $2, want $3"; }

# run runs terraform in the copy of the example, and shows its output only if it fails.
run() { "$terraform" -chdir="$work/flags" "$@" -no-color >"$work/out" 2>&1 || { cat "$work/out" >&2; stop "terraform $1 failed"; }; }

# unchanged fails if a plan has a change. -detailed-exitcode: 2 for a change.
unchanged() {
	run plan -detailed-exitcode "$@"
	echo "ok: a second plan has no changes"
}

before=$(get projects | jq -c '[.projects[].id]')
cp -r examples/terraform/flags "$work/flags"
run init
run validate
run apply -auto-approve
tail -n 20 "$work/out" | grep '^Apply complete!'
same "the projects" "$(get projects | jq -c '[.projects[].id] | sort')" '["checkout","default","search"]'
same "the environments of checkout" "$(get projects/checkout | jq -c '[.environments[].environment] | map(select(. == "staging" or . == "live")) | sort')" '["live","staging"]'
same "the context field" "$(get context/plan | jq -c '[.legalValues[].value]')" '["free","team","company"]'
unchanged

# Its tokens work: a server of checkout reads the flags of live, and nothing of the administration.
token=$("$terraform" -chdir="$work/flags" output -json server_tokens | jq -r '."checkout/live"')
same "flags with the server's token" "$(curl -sS "$UNLEASH_URL/api/client/features" -H "Authorization: $token" | jq -c .features)" '[]'
same "the administration with the server's token" "$(curl -sS -o "$work/refused" -w '%{http_code}' "$UNLEASH_URL/api/admin/projects" -H "Authorization: $token")" 403
account=$(get service-account | jq -r '.serviceAccounts[] | select(.username == "pipeline").id')
same "the tokens of the service account" "$(get "service-account/$account/token" | jq -c '[.pats[].description]')" '["made by Terraform"]'

# Terraform does not see flags: the provider has no resource for them.
curl -sS --fail-with-body -o "$work/flag" "$UNLEASH_URL/api/admin/projects/checkout/features" -H "Authorization: $AUTH_TOKEN" \
	-H 'Content-Type: application/json' -d '{"name":"new-button"}'
unchanged

# A change in a file, and one by hand, which terraform takes back.
cat >"$work/flags/terraform.tfvars" <<'EOF'
environments = { staging = "preproduction", live = "production", demo = "test" }
EOF
curl -sS --fail-with-body -o "$work/by-hand" -X PUT "$UNLEASH_URL/api/admin/projects/search" -H "Authorization: $AUTH_TOKEN" \
	-H 'Content-Type: application/json' -d '{"name":"By hand","mode":"protected"}'
run apply -auto-approve
tail -n 20 "$work/out" | grep '^Apply complete!'
same "the name of search" "$(get projects/search | jq -r .name)" Search
same "the environments" "$(get environments | jq -c '[.environments[].name] | map(select(. == "demo"))')" '["demo"]'
unchanged

# Take over a project that exists.
cat >"$work/flags/default.tf" <<'EOF'
import {
  id = "default"
  to = unleash_project.default
}

resource "unleash_project" "default" {
  id          = "default"
  name        = "Default"
  description = "Now in Terraform"
}
EOF
run apply -auto-approve
grep -E '^Apply complete! Resources: 1 imported' "$work/out"
unchanged
rm "$work/flags/default.tf"
run state rm unleash_project.default

# Change requests, also when they were switched off by hand. The destruction below switches them off and removes the environment.
cat >"$work/flags/reviews.tf" <<'EOF'
resource "unleash_project" "reviewed" {
  id   = "reviewed"
  name = "Reviewed"
}

resource "unleash_project_environment" "reviewed" {
  project_id              = unleash_project.reviewed.id
  environment_name        = unleash_environment.all["live"].name
  change_requests_enabled = true
  required_approvals      = 2
}
EOF
reviewed() { get projects/reviewed/change-requests/config | jq -c '[.[] | select(.environment == "live") | .changeRequestEnabled, .requiredApprovals]'; }
run apply -auto-approve
same "change requests" "$(reviewed)" '[true,2]'
unchanged
curl -sS --fail-with-body -X PUT "$UNLEASH_URL/api/admin/projects/reviewed/environments/live/change-requests/config" -H "Authorization: $AUTH_TOKEN" \
	-H 'Content-Type: application/json' -d '{"changeRequestsEnabled":false}'
run apply -auto-approve
same "change requests after a change by hand" "$(reviewed)" '[true,2]'
unchanged

# A project with flags is not deleted by mistake: archive them first.
if "$terraform" -chdir="$work/flags" destroy -auto-approve -no-color >"$work/out" 2>&1; then stop "a project with a flag was deleted"; fi
grep -q 'checkout' "$work/out" || { cat "$work/out" >&2; stop "the refusal does not name the project"; }
echo "ok: a project with a flag is not deleted"
curl -sS --fail-with-body -X DELETE "$UNLEASH_URL/api/admin/projects/checkout/features/new-button" -H "Authorization: $AUTH_TOKEN"
curl -sS --fail-with-body -X POST "$UNLEASH_URL/api/admin/environments/live/off" -H "Authorization: $AUTH_TOKEN" # of the type production
run destroy -auto-approve
grep '^Destroy complete!' "$work/out"
same "the projects after destroy" "$(get projects | jq -c '[.projects[].id]')" "$before"
echo "the example of the Terraform provider $version works with $("$terraform" version | head -n 1)"
