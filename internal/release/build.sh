#!/bin/sh
# build.sh release builds a release, as `make release VERSION=1.2.3` does: docs/development/releasing.md. build.sh image and
# build.sh edge-image build container images for this machine. The Makefile builds the programs, and internal/release packs them.
set -eu
cd "$(dirname "$0")/../.."
LOCAL=${GUIDON_LOCAL:-$PWD/.local}
fail() { echo "release: $*" >&2; exit 1; }
build() { make --no-print-directory ${VERSION:+"VERSION=$VERSION"} "$@"; }

if [ "$1" != release ]; then
	case $(uname -m) in arm64 | aarch64) arch=arm64 ;; *) arch=amd64 ;; esac
	case $1 in image) target=guidon name=guidon ;; *) target=edge name=guidon-edge ;; esac
	program=$LOCAL/image/$name
	build $target GOOS=linux GOARCH=$arch OUT="$program"
	version=${VERSION:-$(sed -n 's/^const source = "\(.*\)"/\1/p' pkg/version/version.go)}
	go run ./internal/release image $name "$program" $arch "$version" "$program.tar.gz"
	docker load --quiet --input "$program.tar.gz"
	[ "$1" != image ] || [ "${IMAGE:-guidon}" = guidon ] || docker tag guidon "$IMAGE"
	exit
fi

# Refuse a release that could not be completed, before anything is built.
number='(0|[1-9][0-9]*)'
example="use make release VERSION=1.2.3, or VERSION=1.2.3-rc.1 for a pre-release"
[ -n "$VERSION" ] || fail "VERSION is missing on the command line of make: $example"
case $VERSION in *[!0-9A-Za-z.-]*) false ;; esac && [ ${#VERSION} -le 64 ] &&
	echo "$VERSION" | grep -qE "^$number\.$number\.$number(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$" ||
	fail "VERSION is \"$VERSION\", which is not a semantic version without build metadata of at most 64 characters: $example"
section() { awk -v head="## [$1]" '/^## / { on = index($0, head) == 1; next } on' CHANGELOG.md | sed '/./,$!d'; }
changes=$(section "$VERSION")
case $VERSION in
*-*) changes=${changes:-$(section Unreleased)} changes=${changes:-No changes are listed.} ;;
*)
	[ -n "$changes" ] || fail "CHANGELOG.md has no section \"## [$VERSION]\", or an empty one: rename \"## [Unreleased]\" to \"## [$VERSION] - <date>\", and add an empty \"## [Unreleased]\" above it"
	changed=$(git status --porcelain 2>/dev/null | head -5) || true # a folder without Git, such as the archive of a tag, is not checked
	[ -z "$changed" ] || fail "the work tree has changes that are not committed, so others could not build the same release:
$changed
commit or remove them, or build a pre-release such as VERSION=$VERSION-rc.1" ;;
esac
out=${OUT:-$LOCAL/release/$VERSION} functions=$LOCAL/release/functions
rm -rf "$functions"
[ -n "${OUT:-}" ] || rm -rf "$out"
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty: choose an empty folder with OUT"

# The settings of Go are fixed, because they change the programs.
export GOFLAGS=-mod=readonly GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT= GOFIPS140=off GOWORK=off
umask 022
for platform in ${PLATFORMS:-linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64.exe}; do
	arch=${platform#*-}
	echo "$platform"
	build guidon GOOS="${platform%%-*}" GOARCH="${arch%.exe}" OUT="$out/guidon-$VERSION-$platform"
	case $platform in windows-*) ;; *) build edge GOOS="${platform%%-*}" GOARCH="$arch" OUT="$out/guidon-edge-$VERSION-$platform" ;; esac
done
for arch in ${ARCHITECTURES:-arm64 x86_64}; do build build ARCH="$arch" BUILD="$functions/$arch"; done
go run ./internal/release pack "$VERSION" "$out" "$functions"
printf '# Guidon %s\n\n%s\n' "$VERSION" "$changes" >"$out/CHANGELOG.md"
cp LICENSE "$out/"
sed "s/@VERSION@/$VERSION/g; s/@GO@/$(go env GOVERSION)/; s/@NODE@/$(node --version)/" internal/release/text/readme.md >"$out/README.md"
chmod 644 "$out/LICENSE"
(cd "$out" && LC_ALL=C && for file in *; do (sha256sum "$file" 2>/dev/null || shasum -a 256 "$file"); done >"$functions/SHA256SUMS" && mv "$functions/SHA256SUMS" .)
echo "Guidon $VERSION is in $out"
