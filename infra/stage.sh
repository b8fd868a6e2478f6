# What the scripts of this folder know of a stage: `. infra/stage.sh`, in the folder of the repository, with the name of the stage in
# $stage. It sets $config and $stack, and the region and profile of the stage for the AWS CLI and the SAM CLI.
# shellcheck shell=sh

stop() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# setting prints a setting of the stage, from its table for deployments or else from its global table.
setting() {
	awk -v stage="$stage" -v name="$1" '
		/^[ \t]*\[/ { gsub(/[][ \t"]/, ""); table = $0; next }
		table == stage ".deploy.parameters" || table == stage ".global.parameters" {
			at = index($0, "=")
			key = substr($0, 1, at - 1); gsub(/[ \t]/, "", key)
			if (at == 0 || key != name) next
			value = substr($0, at + 1)
			sub(/^[ \t]*"/, "", value); sub(/".*$/, "", value)
			if (found == "" || table ~ /deploy/) found = value
		}
		END { print found }' "$config"
}

[ -n "${stage:-}" ] || stop "name a stage: infra/${0##*/} dev, or make ${0##*/} STAGE=dev"
command -v aws >/dev/null || stop "aws is missing: install the AWS CLI from https://aws.amazon.com/cli/, and sign in with it"
config=${SAMCONFIG:-samconfig.toml}
case $config in /*) ;; *) config=$PWD/$config ;; esac # the SAM CLI would look beside the template
[ -r "$config" ] || stop "$config is missing; it defines the stages"
stack=$(setting stack_name)
[ -n "$stack" ] || stop "$config has no stage \"$stage\" with a stack_name"
region=$(setting region)
profile=$(setting profile)
[ -z "$region" ] || export AWS_REGION="$region" AWS_DEFAULT_REGION="$region"
[ -z "$profile" ] || export AWS_PROFILE="$profile"
export AWS_PAGER=
