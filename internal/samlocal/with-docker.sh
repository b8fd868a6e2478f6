#!/bin/sh
# Runs a command with a Docker engine: the one that answers, or one that is started for it and ended after it, which takes
# root and dockerd. Where neither can be had, it says so and runs nothing.
set -eu

if docker info >/dev/null 2>&1; then
	exec "$@"
fi

without() {
	echo "note: $1, so nothing was run by sam local; the built functions were run as processes over the same Runtime API" >&2
	exit 0
}
[ "$(uname)" = Linux ] || { echo "there is no Docker engine, and only Linux runs the built functions without one: start Docker" >&2; exit 1; }
command -v docker >/dev/null && command -v dockerd >/dev/null || without "there is no Docker here"
[ "$(id -u)" = 0 ] || without "no Docker engine answers, and only root can start one"

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
