package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// measure prints the time of one import into Guidon, of the same import repeated, and of two runs of the command from Unleash.
func (t *test) measure(ctx context.Context, many int) error {
	data := manyFlags(0, many)
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	one, err := t.guidon(ctx, "one")
	if err != nil {
		return err
	}
	for _, again := range []string{"into an empty Guidon", "repeated"} {
		var report struct{ Created, Overwritten, Unchanged, Skipped int }
		began := time.Now()
		if err := one.Call(ctx, "POST", "/api/admin/features-batch/import", object{"project": "default", "environment": "development", "data": data}, &report); err != nil {
			return err
		}
		t.logf("one import of %d flags (%.2f MiB), %s: %.1f s, %+v", many, float64(len(body))/(1<<20), again, time.Since(began).Seconds(), report)
	}
	from, err := t.unleash(ctx, "many")
	if err != nil {
		return err
	}
	api := from.Token
	if from.Token, err = personalToken(ctx, from); err != nil {
		return err
	}
	const atOnce = 100 // flags in one import
	for i := 0; i < many; i += atOnce {
		err := from.Call(ctx, "POST", "/api/admin/features-batch/import", object{"project": "default", "environment": "development", "data": manyFlags(i, min(i+atOnce, many))}, nil)
		if err != nil {
			return err
		}
	}
	from.Token = api
	t.logf("Unleash has %d flags", many)
	to, err := t.guidon(ctx, "many")
	if err != nil {
		return err
	}
	for range 2 {
		out := t.migrate(ctx, from, to)
		t.logf("%s", strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]))
	}
	return nil
}

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
