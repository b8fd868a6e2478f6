package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/jsonbody"
	"guidon/pkg/usage"
)

// oddParts are values that SDKs send, or could send, in the place of others.
var oddParts = []string{
	"null", "[]", "{}", "true", "0", "-1", "1.5", "1e999", "18446744073709551616", `""`, `"x"`, `"\ud83d"`, "\"\xff\"", `"\u0000"`, "[1]", "[null]", `{"a": 1}`, `{"a": 1, "a": 2}`,
	`{"yes": null, "variants": []}`, `{"yes": {}, "no": [], "variants": [5]}`, `{"variants": {"\ud83d": 1, "\ud83e": 1}}`, `{"variants": {"a": {"b": {}}}}`,
	`{"featureName": 5, "appName": [], "environment": {}}`, `{"appName": "odd", "featureName": "odd", "environment": null, "yes": "3"}`, `"0001-01-01T00:00:00+01:00"`,
}

// reports are bodies with a hole in each place of an odd part. The neighbours of the hole must arrive.
var reports = []struct {
	path  string
	body  string // with %s for the part
	holes []string
}{
	{"/api/client/metrics", `{"appName": "shop", "bucket": {"toggles": {"first-flag": {"yes": 1}, %s "last-flag": {"no": 2, "variants": {"v": 3}}}}, "more": 1}`, []string{
		`"odd": %s,`, `"odd": {"yes": %s},`, `"odd": {"no": %s, "more": {}},`, `"odd": {"variants": %s},`, `"odd": {"variants": {"odd": %s}},`, `"odd": {"more": %s},`,
	}},
	{"/api/client/metrics", `{"appName": "shop", %s "bucket": {"toggles": {"first-flag": {"yes": 1}, "last-flag": {"no": 2, "variants": {"v": 3}}}}}`, []string{
		`"instanceId": %s,`, `"environment": %s,`, `"sdkVersion": %s,`, `"impactMetrics": %s,`, `"connectionId": %s,`, `"yggdrasilVersion": %s,`,
	}},
	{"/api/client/metrics", `{"appName": "shop", "bucket": {%s "toggles": {"first-flag": {"yes": 1}, "last-flag": {"no": 2, "variants": {"v": 3}}}}}`, []string{
		`"start": %s,`, `"stop": %s,`, `"more": %s,`,
	}},
	{"/api/client/metrics/bulk", `{"applications": [{"appName": "shop"}], "metrics": [{"appName": "shop", "featureName": "first-flag", "environment": "development", "yes": 1}, %s
		{"appName": "shop", "featureName": "last-flag", "environment": "development", "no": 2, "variants": {"v": 3}}]}`, []string{
		`%s,`, `{"appName": "odd", "featureName": "odd", "environment": "development", "yes": %s},`, `{"appName": "odd", "featureName": "odd", "environment": "development", "variants": %s},`,
		`{"appName": %s, "featureName": "odd", "environment": "development", "yes": 1},`, `{"appName": "odd", "featureName": %s, "environment": "development", "yes": 1},`,
		`{"appName": "odd", "featureName": "odd", "environment": %s, "yes": 1},`, `{"appName": "odd", "featureName": "odd", "timestamp": %s, "yes": 1},`,
	}},
	{"/api/client/metrics/bulk", `{"applications": [%s {"appName": "shop"}], "metrics": [{"appName": "shop", "featureName": "first-flag", "environment": "development", "yes": 1},
		{"appName": "shop", "featureName": "last-flag", "environment": "development", "no": 2, "variants": {"v": 3}}]}`, []string{
		`%s,`, `{"appName": %s},`, `{"appName": "odd", "instanceId": %s},`, `{"appName": "odd", "strategies": %s},`, `{"appName": "odd", "started": %s},`, `{"appName": "odd", "connectVia": %s},`,
		`{"appName": "odd", "environment": %s},`, `{"appName": "odd", "sdkVersion": %s},`,
	}},
	{"/api/client/register", `{"appName": "shop", %s "more": 1}`, []string{
		`"instanceId": %s,`, `"environment": %s,`, `"sdkVersion": %s,`, `"strategies": %s,`, `"strategies": ["a", %s],`, `"started": %s,`, `"interval": %s,`, `"more": %s,`,
	}},
}

// FuzzNeighbours puts any JSON into each place of each report, as Guidon and Guidon Edge read it. No neighbour of the odd part is lost.
func FuzzNeighbours(f *testing.F) {
	for _, part := range oddParts {
		f.Add(part)
	}
	kinds := map[string]Kind{"/api/client/register": Registration, "/api/client/metrics": Metrics, "/api/client/metrics/bulk": Bulk}
	f.Fuzz(func(t *testing.T, part string) {
		if !jsontext.Value(part).IsValid(jsonbody.Lenient) || strings.Count(part, "[")+strings.Count(part, "{") > 80 || len(part) > 10_000 {
			return
		}
		everyReport(part, func(path, body string) {
			post, err := Read(kinds[path], []byte(body), Sender{Environment: "development"})
			if err != nil {
				t.Errorf("%s with %s: %v", path, body, err)
			} else {
				checkArrived(t, path, body, post)
			}
		})
	})
}

// everyReport calls try with each report that has the part in one of its holes.
func everyReport(part string, try func(path, body string)) {
	for _, report := range reports {
		for _, hole := range report.holes {
			try(report.path, fmt.Sprintf(report.body, fmt.Sprintf(hole, part)))
		}
	}
}

// checkArrived fails unless a post has the parts that are in all reports.
func checkArrived(t *testing.T, path, body string, post *usage.Post) {
	t.Helper()
	if !slices.ContainsFunc(post.Instances, func(i usage.PostInstance) bool { return i.Application == "shop" }) {
		t.Errorf("%s with %s: the instance is lost: %+v", path, body, post.Instances)
	}
	if strings.HasSuffix(path, "/register") {
		return
	}
	var got []usage.Count
	for _, c := range post.Counts {
		if c.Feature == "first-flag" || c.Feature == "last-flag" {
			got = append(got, usage.Count{Feature: c.Feature, Yes: c.Yes, No: c.No, Variants: c.Variants})
		}
	}
	want := []usage.Count{{Feature: "first-flag", Yes: 1}, {Feature: "last-flag", No: 2, Variants: map[string]int64{"v": 3}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s with %s: counts are lost (-want +got):\n%s", path, body, diff)
	}
}
