package flags

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// oldestSDKs maps the names of Unleash's SDKs to the oldest version that Unleash 5.12.8 does not call outdated.
var oldestSDKs = map[string]*semver.Version{
	"unleash-client-node":   semver.MustParse("5.3.2"),
	"unleash-client-java":   semver.MustParse("9.2.0"),
	"unleash-client-go":     semver.MustParse("4.1.0"),
	"unleash-client-python": semver.MustParse("5.11.0"),
	"unleash-client-ruby":   semver.MustParse("5.0.0"),
	"unleash-client-dotnet": semver.MustParse("4.1.3"),
	"unleash-client-php":    semver.MustParse("2.3.0"),
}

// CutSDK splits what an SDK sends about itself into its name and version, which is "" if it sends none.
func CutSDK(sdk string) (name, version string) {
	name, version, _ = strings.Cut(sdk, ":")
	return name, version
}

// OutdatedSDK reports whether an SDK, as a name and version, is older than Unleash recommends. Unknown SDKs and versions are not.
func OutdatedSDK(sdk string) bool {
	name, version := CutSDK(sdk)
	oldest := oldestSDKs[name]
	if oldest == nil {
		return false
	}
	v, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil && v.LessThan(oldest)
}
