#!/bin/sh
# Runs Guidon with `sam local start-api` over a local engine, until Ctrl-C stops it: `make sam-local`. It builds the functions for this
# machine, starts DynamoDB and Secrets Manager in a container (internal/samlocal/inside) on a network with the functions, creates the
# table, and writes a samconfig.toml for other `sam local` commands. DIR is the folder for all files, SAM the SAM CLI, and GUIDON the
# program that creates the table.
set -eu
cd "$(dirname "$0")/../.."
PORT=${PORT:-4242}
python=$(dirname "$SAM")/python
say() { echo "sam-local: $*" >&2; }
fail() { say "$*"; exit 1; }
listens() { "$python" -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$PORT" 2>/dev/null; }

! listens || fail "port $PORT is in use, maybe by \`make run\`: stop it, or set another PORT"
command -v docker >/dev/null || fail "docker is missing: sam local runs each function in a container. Install Docker from https://docs.docker.com/get-docker/, or use \`make run\`, which needs no Docker"
goarch=$(docker version --format '{{.Server.Arch}}') || fail "docker does not answer: start Docker (as root: dockerd), or use \`make run\`, which needs no Docker"
case $goarch in
amd64) arch=x86_64 ;;
arm64) arch=arm64 ;;
*) fail "docker runs on $goarch; Lambda supports only x86_64 and arm64" ;;
esac
gobuild() { CGO_ENABLED=0 GOOS=linux GOARCH=$goarch go build -trimpath -ldflags '-s -w' -o "$1" "$2"; }

# The developer's own credentials must not get into containers.
for variable in $(env | sed -n 's/^\(AWS_[A-Z0-9_]*\)=.*/\1/p'); do unset "$variable"; done
export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_REGION=us-east-1 SAM_CLI_TELEMETRY=0 SAM_CLI_CHECK_UPDATES=0

mkdir -p "$DIR/bin" "$DIR/image" && chmod 700 "$DIR"
DIR=$(cd "$DIR" && pwd)
random() { [ -s "$1" ] || (umask 077 && od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$1"); }
random "$DIR/token.key"    # encrypts tokens
random "$DIR/guard.secret" # is in the path of requests to DynamoDB and Secrets Manager, and so in the image of the functions
secret=$(cat "$DIR/guard.secret")

say "building the functions for $arch: sam build"
ARCH=$arch "$SAM" build --build-dir "$DIR/build" --parameter-overrides "Architecture=$arch" Alarms=off >"$DIR/build.log" 2>&1 ||
	{ cat "$DIR/build.log" >&2; exit 1; }

# The image of the functions: AWS's base image, or a minimal one if the registry cannot be reached. It contains the addresses of DynamoDB
# and Secrets Manager, because the SAM CLI passes only variables that the template declares. The SAM CLI adds its runtime interface
# emulator, and keeps the result as rapid-….
image=guidon-lambda:$arch base=public.ecr.aws/lambda/provided:al2023-$arch
if docker image inspect "$base" >/dev/null 2>&1 || docker pull --quiet "$base" >/dev/null 2>&1; then
	echo "FROM $base" >"$DIR/image/Dockerfile"
else
	say "AWS's base image cannot be downloaded, so a minimal image replaces it"
	(cd "$DIR/image" && mkdir -p root/opt root/tmp root/var/rapid root/var/runtime root/var/task)
	gobuild "$DIR/image/root/bin/sh" ./internal/samlocal/shell
	printf '%s\n' 'FROM scratch' 'COPY root /' 'ENV PATH=/bin LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime' 'WORKDIR /var/task' >"$DIR/image/Dockerfile"
fi
echo "ENV AWS_ENDPOINT_URL_DYNAMODB=http://guidon-aws:8000/$secret AWS_ENDPOINT_URL_SECRETS_MANAGER=http://guidon-aws:8001/$secret" >>"$DIR/image/Dockerfile"
before=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null) || true
docker build --quiet --tag "$image" "$DIR/image" >/dev/null
[ "$before" = "$(docker image inspect --format '{{.Id}}' "$image")" ] || docker image rm --force "guidon-lambda:rapid-$arch" >/dev/null 2>&1 || true

# The network and the container have the same name on every start with a port, so that a start finds what a killed run left behind.
name=guidon-sam-local-$PORT api=
remove() {
	containers=$(docker ps --all --quiet --filter "network=$name")
	[ -z "$containers" ] || docker rm --force $containers >/dev/null
	docker network rm "$name" >/dev/null 2>&1 || true
}
end() {
	trap '' INT TERM # ignore a second Ctrl-C
	[ -z "$api" ] || { kill "$api" 2>/dev/null && wait "$api" || true; }
	remove
}
remove
trap end EXIT
trap 'exit 0' INT TERM
docker network create "$name" >/dev/null

cp "$(go run ./internal/engine/path linux "$goarch")" "$DIR/bin/dynoxide"
gobuild "$DIR/bin/inside" ./internal/samlocal/inside
export GUARD="$secret" SECRETS="{\"guidon-token-key\":\"$(cat "$DIR/token.key")\",\"guidon-admin-token\":\"\"}" # other users can see arguments
docker run --detach --name "$name" --network "$name" --network-alias guidon-aws --publish 127.0.0.1::8000 --volume "$DIR/bin:/guidon:ro" \
	--env DYNAMODB_ADDRESS=:8000 --env SECRETS_ADDRESS=:8001 --env SECRETS --env GUARD --entrypoint /guidon/inside "$image" /guidon/dynoxide mcp >/dev/null
address=$(docker port "$name" 8000 | head -1)
DATA_DIR=$DIR TOKEN_KEY_FILE=$DIR/token.key TABLE_NAME=guidon AWS_ENDPOINT_URL_DYNAMODB=http://$address/$secret PORT= "$GUIDON" setup >/dev/null ||
	{ docker logs "$name" >&2; fail "the table was not created; the engine printed the lines above"; }

variables='"TABLE_NAME": "guidon", "TOKEN_KEY_SECRET": "guidon-token-key", "ADMIN_TOKEN_SECRET": "guidon-admin-token"'
for setting in AUTH_TYPE LOG_LEVEL LIMITS; do
	eval "value=\${$setting:-}"
	[ -z "$value" ] || variables="$variables, \"$setting\": \"$value\""
done
echo "{\"Parameters\": {$variables}}" >"$DIR/env.json"
shared="env_vars = '$DIR/env.json'
docker_network = '$name'
invoke_image = ['$image']
skip_pull_image = true"
cat >"$DIR/samconfig.toml" <<END
# Written by make sam-local, for other sam local commands (--config-file).
version = 0.1

[default.global.parameters]
template_file = '$DIR/build/template.yaml'
parameter_overrides = 'Architecture=$arch Alarms=off'
region = '$AWS_REGION'

[default.local_invoke.parameters]
$shared

[default.local_start_api.parameters]
$shared
warm_containers = 'LAZY'
END

"$SAM" local start-api --config-file "$DIR/samconfig.toml" --port "$PORT" &
api=$!
until listens; do
	kill -0 "$api" 2>/dev/null || fail "sam local start-api ended by itself"
	sleep 0.2
done
token=${INIT_ADMIN_API_TOKENS:-*:*.unleash-insecure-admin-api-token}
cat <<END

Guidon is ready, with sam local. Ctrl-C stops it and deletes its data.

  address      http://127.0.0.1:$PORT
  admin token  $token

Try:  curl -s -H 'Authorization: $token' http://127.0.0.1:$PORT/api/admin/projects/default/features

To invoke one function, in another terminal:

  $SAM local invoke FeaturesFunction --event internal/samples/features.json --config-file '$DIR/samconfig.toml'

END
wait "$api" || true
fail "sam local start-api ended by itself"
