package metrics

import (
	"maps"
	"slices"

	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

type outdatedSDKs struct {
	SDKs []outdatedSDK `json:"sdks"`
}

// An outdatedSDK is an SDK that should be updated, with the applications that use it.
type outdatedSDK struct {
	SDK          string   `json:"sdkVersion"`
	Applications []string `json:"applications"`
}

func listOutdatedSDKs(tx *httpapi.Tx, _ httpapi.InService) (outdatedSDKs, error) {
	users := map[string][]string{}
	for _, a := range tx.Applications() {
		for _, sdk := range sdksOf(a, nil) {
			if usage.OutdatedSDK(sdk) {
				users[sdk] = append(users[sdk], a.Name)
			}
		}
	}
	answer := outdatedSDKs{SDKs: []outdatedSDK{}}
	for _, sdk := range slices.Sorted(maps.Keys(users)) {
		answer.SDKs = append(answer.SDKs, outdatedSDK{sdk, users[sdk]})
	}
	return answer, nil
}

// sdksOf are the SDKs of an application in some environments, or in all if environments is nil, each once and sorted.
func sdksOf(a *usage.Application, environments []string) []string {
	var all []string
	for name, e := range a.Environments {
		if environments == nil || slices.Contains(environments, name) {
			all = append(all, e.SDKs...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
