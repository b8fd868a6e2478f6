#!/usr/bin/env bash
# Runs the acceptance tests of Unleash's Terraform provider against a new Guidon: terraform-acceptance.sh .local/bin/guidon folder.
# The folder is a checkout of github.com/Unleash/terraform-provider-unleash. It needs terraform on the PATH.
# Arguments: the built server, the folder of the provider. It fails if other tests fail than those listed here.
set -euo pipefail
gateway=$1 provider=$2

# Features that Guidon does not have (docs/from-unleash.md): groups, OIDC, SAML.
absent="TestAccGroupDataSource TestAccGroupResource TestAccGroupResource_MinimalConfig TestAccGroupResource_RemoveOptionalFields
TestAccOidcResource TestAccSamlResource"

[ -d "$provider/internal/provider" ] || { echo "$provider is not a checkout of the Terraform provider: set PROVIDER to its folder" >&2; exit 1; }
terraform=$(command -v terraform) || { echo "terraform is not on the PATH; install it from https://developer.hashicorp.com/terraform/install" >&2; exit 1; }

data=$(mktemp -d)
export PORT=${PORT:-4299} DATA_DIR=$data
"$gateway" serve >"$data/log" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; wait $pid 2>/dev/null || true; rm -rf "$data"' EXIT
for _ in $(seq 100); do
  curl -sf "http://127.0.0.1:$PORT/health" >/dev/null && break
  kill -0 $pid 2>/dev/null || { cat "$data/log" >&2; exit 1; }
  sleep 0.2
done

cd "$provider"
export UNLEASH_URL=http://127.0.0.1:$PORT AUTH_TOKEN='*:*.unleash-insecure-admin-api-token' UNLEASH_ENTERPRISE=true
export TF_ACC=1 TF_ACC_TERRAFORM_PATH=$terraform CHECKPOINT_DISABLE=1
go test -count=1 -v ./internal/provider >"$data/tests" 2>&1 || true

failed=$(sed -n 's/^--- FAIL: \([^ ]*\).*/\1/p' "$data/tests" | sort)
passed=$(grep -c '^--- PASS: ' "$data/tests" || true)
echo "$passed acceptance tests of the Terraform provider passed"
if [ "$passed" = 0 ] || ! diff <(printf '%s\n' $absent | sort) <(printf '%s\n' "$failed"); then
  echo "other tests failed than the expected ones (<); the output:" >&2
  grep -v '^=== ' "$data/tests" | tail -n 100 >&2
  exit 1
fi
