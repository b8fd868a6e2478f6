//go:build migration

package migration

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestManyFlags prints the time of one import of FLAGS flags into Guidon, of the same import repeated, and of two runs of the
// command from Unleash.
func TestManyFlags(tt *testing.T) {
	t := newTest(tt)
	many, err := strconv.Atoi(os.Getenv("FLAGS"))
	t.must(err)
	data := manyFlags(0, many)
	body, err := json.Marshal(data)
	t.must(err)
	one := t.guidon("one")
	for _, again := range []string{"into an empty Guidon", "repeated"} {
		var report struct{ Created, Overwritten, Unchanged, Skipped int }
		began := time.Now()
		one.call("POST", importPath, object{"project": "default", "environment": "development", "data": data}, &report)
		t.Logf("one import of %d flags (%.2f MiB), %s: %.1f s, %+v", many, float64(len(body))/(1<<20), again, time.Since(began).Seconds(), report)
	}
	from := t.unleash("many")
	api := from.Token
	from.Token = from.personalToken()
	const atOnce = 100 // flags in one import
	for i := 0; i < many; i += atOnce {
		from.call("POST", importPath, object{"project": "default", "environment": "development", "data": manyFlags(i, min(i+atOnce, many))}, nil)
	}
	from.Token = api
	t.Logf("Unleash has %d flags", many)
	to := t.guidon("many")
	for range 2 {
		out := t.migrate(from, to)
		t.Logf("%s", strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]))
	}
}

const importPath = "/api/admin/features-batch/import"

// manyFlags returns import data of flags with a strategy and texts of a usual length.
func manyFlags(first, end int) object {
	features, strategies, in := list{}, list{}, list{}
	for i := first; i < end; i++ {
		name := fmt.Sprintf("checkout-flow-%05d", i)
		features = append(features, object{"name": name, "type": "release", "description": strings.Repeat("What it does. ", 6), "project": "default"})
		strategies = append(strategies, object{
			"featureName": name, "name": "flexibleRollout", "segments": list{}, "variants": list{},
			"parameters":  object{"rollout": "50", "stickiness": "default", "groupId": name},
			"constraints": list{object{"contextName": "appName", "operator": "IN", "values": list{"web", "ios", "android"}, "inverted": false, "caseInsensitive": false}},
		})
		in = append(in, object{"name": name, "featureName": name, "environment": "development", "enabled": i%2 == 0, "variants": list{}})
	}
	return object{"features": features, "featureStrategies": strategies, "featureEnvironments": in, "contextFields": list{}, "featureTags": list{}, "segments": list{}, "tagTypes": list{}, "dependencies": list{}}
}
