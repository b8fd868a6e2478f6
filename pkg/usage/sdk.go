package usage

import (
	"slices"
	"strings"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
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

// KnowsOperator reports whether an SDK, as a name and version, knows the operator of a constraint. It assumes so of
// SDKs and versions that it does not recognize.
func KnowsOperator(sdk string, operator flags.Operator) bool {
	name, version := CutSDK(sdk)
	order, known := evaluate.CompareVersions(strings.TrimPrefix(version, "v"), operator.LackedUntil(name))
	return !known || order > 0
}

// LacksOperators reports whether an SDK does not know all operators.
func LacksOperators(sdk string) bool {
	return slices.ContainsFunc(flags.Operators(), func(operator flags.Operator) bool { return !KnowsOperator(sdk, operator) })
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
