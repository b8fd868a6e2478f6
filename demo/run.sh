#!/bin/sh
# Runs what `make demo` shows: Guidon with four flags, Guidon Edge, and two applications that use the flags. The first application serves
# the dashboard, can pause Guidon, and posts a signal when a release goes wrong. Ctrl-C ends them, and so does the end of one of them. GUIDON and APPLICATION are programs, NODE is
# the folder of the application in JavaScript, and DIR one for data.
set -eu
origin=http://127.0.0.1:${PORT:-4242} dashboard=http://127.0.0.1:${DEMO_PORT:-4300}
admin='*:*.unleash-insecure-admin-api-token' client=default:development.unleash-insecure-client-api-token
free() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'; }
node=127.0.0.1:$(free) edge=$(free)
mkdir -p "$DIR" && chmod 700 "$DIR"
for url in "$origin" "$dashboard"; do
	! curl -s -o /dev/null --max-time 1 "$url" || { echo "demo: something runs at $url: stop it, or set PORT and DEMO_PORT to other ports" >&2; exit 1; }
done

processes=
end() {
	trap '' INT TERM # ignore a second Ctrl-C
	for process in $processes; do # the last one first; a paused one has to go on
		kill "$process" 2>/dev/null && kill -CONT "$process" && wait "$process" || true
	done
}
trap end EXIT
trap 'exit 0' INT TERM

# start runs a program with its settings, and waits until a URL is answered: start <url> <setting=value …> <program …>
start() {
	url=$1 && shift
	env "$@" &
	processes="$! $processes"
	until curl -sf -o /dev/null --max-time 1 "$url"; do
		kill -0 "${processes%% *}" 2>/dev/null || { echo "demo: a program ended; see what it printed" >&2; exit 1; }
		sleep 0.1
	done
}
# Requests are logged at the level info, and the applications send two each second.
start "$origin/health" PORT="${PORT:-4242}" DATA_DIR="$DIR/data" LOG_LEVEL=warn PRINT_SECRETS=always INIT_ADMIN_API_TOKENS="$admin" INIT_CLIENT_API_TOKENS="$client" "$GUIDON" serve
pid=${processes%% *}
GUIDON_URL=$origin GUIDON_TOKEN=$admin "$GUIDON" import "$(dirname "$0")/flags.json" --environment development >/dev/null
secret=$(GUIDON_URL=$origin GUIDON_TOKEN=$admin SIGNAL=demo-errors node "$NODE/release.mjs")
start "http://127.0.0.1:$edge/ready" UPSTREAM_URL="$origin" TOKENS="$client" INTERFACE=127.0.0.1 PORT="$edge" FEATURES_REFRESH_INTERVAL_SECONDS=1 \
	METRICS_INTERVAL_SECONDS=10 "$GUIDON" edge
export GUIDON_URL="http://127.0.0.1:$edge" TOKEN="$client" TMPDIR="$DIR" # SDKs keep a copy of the flags in TMPDIR
start "http://$node" ADDRESS="$node" node "$NODE/app.mjs"
start "$dashboard/data" ADDRESS="${dashboard#http://}" PEER="http://$node" CONSOLE="$origin" ORIGIN_PID="$pid" \
	SIGNAL_URL="$origin/api/signals/demo-errors" SIGNAL_SECRET="$secret" "$APPLICATION"
printf 'The demo is ready: open the dashboard, then the sign-in link above in another tab, and change a flag.\n\n  dashboard       %s\n\n' "$dashboard"

all_run() { for process in $processes; do kill -0 "$process" 2>/dev/null || return 1; done; }
while all_run; do
	sleep 1 &
	wait $! # which a signal ends
done
echo "demo: a program ended; see what it printed" >&2
exit 1
