package usage

import (
	"maps"
	"slices"
	"strings"

	"guidon/pkg/evaluate"
)

// oldestSDKs maps the names of Unleash SDKs to the oldest version that Unleash 5.12.8 does not call outdated.
var oldestSDKs = map[string]string{
	"unleash-client-node":   "5.3.2",
	"unleash-client-java":   "9.2.0",
	"unleash-client-go":     "4.1.0",
	"unleash-client-python": "5.11.0",
	"unleash-client-ruby":   "5.0.0",
	"unleash-client-dotnet": "4.1.3",
	"unleash-client-php":    "2.3.0",
}

// newestWithout maps operators to SDKs that do not know them, up to a version, and switch off the strategies that use them. The
// table in docs/reference/sdk-behavior.md is the same.
var newestWithout = map[string]map[string]string{
	"REGEX": {
		"unleash-client-go": "4.5.0", "unleash-go-sdk": "5.1.0", "unleash-client-java": "11.999.999",
		"unleash-client-dotnet": "6.0.999", "unleash-dotnet-sdk": "6.0.999", "unleash-client-php": "2.10.999", "unleash-php-sdk": "2.10.999",
		"unleash-client-ruby": "6.4.999", "unleash-ruby-sdk": "6.4.999",
	},
	"SEMVER_GTE": newestWithoutGTE, "SEMVER_LTE": newestWithoutGTE, "IN_CIDR": newestWithoutGTE,
}

// newestWithoutGTE is for three operators that SDKs have learned together.
var newestWithoutGTE = map[string]string{
	"unleash-client-go": "4.5.0", "unleash-go-sdk": "5.1.0", "unleash-client-java": "12.2.999",
	"unleash-client-dotnet": "6.1.999", "unleash-dotnet-sdk": "6.1.999", "unleash-client-php": "2.10.999", "unleash-php-sdk": "2.10.999",
	"unleash-client-ruby": "6.6.999", "unleash-ruby-sdk": "6.6.999",
}

// KnowsOperator reports whether an SDK, as a name and version, knows the operator of a constraint. Unknown SDKs and versions do.
func KnowsOperator(sdk, operator string) bool {
	name, version := CutSDK(sdk)
	order, known := evaluate.CompareVersions(strings.TrimPrefix(version, "v"), newestWithout[operator][name])
	return !known || order > 0
}

// LacksOperators reports whether an SDK does not know all operators.
func LacksOperators(sdk string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(newestWithout)), func(operator string) bool { return !KnowsOperator(sdk, operator) })
}

// CutSDK splits what an SDK sends about itself into its name and version, which is "" if it sends none.
func CutSDK(sdk string) (name, version string) {
	name, version, _ = strings.Cut(sdk, ":")
	return name, version
}

// OutdatedSDK reports whether an SDK, as a name and version, is older than Unleash recommends. Unknown SDKs and versions are not.
func OutdatedSDK(sdk string) bool {
	name, version := CutSDK(sdk)
	order, known := evaluate.CompareVersions(strings.TrimPrefix(version, "v"), oldestSDKs[name])
	return known && order < 0
}
