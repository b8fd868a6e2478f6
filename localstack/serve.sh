#!/bin/sh
# Starts LocalStack and a Guidon server that uses it, until Ctrl-C stops both: `make localstack`. GUIDON_LOCAL is the folder
# with localstack/guidon, built for the container, and bin/guidon, built for this machine.
set -eu
cd "$(dirname "$0")"
local=$GUIDON_LOCAL/localstack

# Create the key that encrypts tokens here, so that this user owns it and the container can only read it.
if ! [ -s "$local/token.key" ]; then
	(umask 077 && od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$local/token.key")
fi

down() {
	trap '' INT TERM # ignore a second Ctrl-C
	docker compose -f compose.yaml down --volumes
}
trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if ! docker compose -f compose.yaml up --detach --wait; then
	docker compose -f compose.yaml logs
	exit 1
fi

export AWS_ENDPOINT_URL_DYNAMODB="http://127.0.0.1:${LOCALSTACK_PORT:-4566}"
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1
unset AWS_PROFILE AWS_SESSION_TOKEN
DATA_DIR=$local "$GUIDON_LOCAL/bin/guidon" serve
