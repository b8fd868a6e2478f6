#!/bin/sh
# Runs a command that needs Docker: with the running engine, or with one that it starts and stops, as root. Without either,
# it prints a note and does not run the command.
set -eu

if docker info >/dev/null 2>&1; then
	exec "$@"
fi

command=$*
without() {
	echo "note: NOT RUN, because $1: $command" >&2
	exit 0
}
[ "$(uname)" = Linux ] || { echo "Docker is not running: start Docker" >&2; exit 1; }
command -v docker >/dev/null && command -v dockerd >/dev/null || without "Docker is not installed"
[ "$(id -u)" = 0 ] || without "Docker is not running, and only root can start it"

dir=$(mktemp -d)
dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" --host "unix://$dir/socket" >"$dir/log" 2>&1 &
engine=$!
end() {
	kill "$engine" 2>/dev/null || true
	wait "$engine" 2>/dev/null || true
	rm -rf "$dir"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export DOCKER_HOST="unix://$dir/socket"
tries=60
until docker info >/dev/null 2>&1; do
	tries=$((tries - 1))
	if [ $tries = 0 ] || ! kill -0 "$engine" 2>/dev/null; then
		tail -3 "$dir/log" >&2
		without "dockerd does not start"
	fi
	sleep 0.5
done
"$@"
