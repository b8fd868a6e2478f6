package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

// TestLeniencies sends values of other types than those of the description. A report is refused if nothing else in it counts. Unleash 5.12.8
// refused each that is refused here, and more.
func TestLeniencies(t *testing.T) {
	s := serve(t, nil)
	metrics := func(field, value string) string {
		fields := map[string]string{
			"appName": `"shop"`, "instanceId": `"i"`, "environment": `"default"`, "sdkVersion": `"raw:1"`,
			"start": `"2026-11-22T14:00:00Z"`, "stop": `"2026-11-22T14:01:00Z"`, "yes": "1", "no": "2", "variants": `{"a": 1}`, "toggle": "", "toggles": "", "bucket": "",
		}
		fields[field] = value
		members := func(names ...string) string {
			var list []string
			for _, name := range names {
				if fields[name] != "-" {
					list = append(list, fmt.Sprintf("%q: %s", name, fields[name]))
				}
			}
			return "{" + strings.Join(list, ", ") + "}"
		}
		whole := func(name, otherwise string) {
			if fields[name] == "" {
				fields[name] = otherwise
			}
		}
		whole("toggle", members("yes", "no", "variants"))
		whole("toggles", `{"f1": `+fields["toggle"]+`}`)
		whole("bucket", members("start", "stop", "toggles"))
		return members("appName", "instanceId", "environment", "sdkVersion", "bucket")
	}
	register := func(field, value string) string {
		body := `{"appName": "shop"`
		for name, otherwise := range map[string]string{
			"instanceId": `"i"`, "interval": "10", "started": `"2026-11-22T14:00:00Z"`, "strategies": `["default"]`, "sdkVersion": `"raw:1"`,
		} {
			if name == field {
				otherwise = value
			}
			if otherwise != "-" {
				body += fmt.Sprintf(", %q: %s", name, otherwise)
			}
		}
		return body + "}"
	}
	bulk := func(field, value string) string {
		application, counts := `{"appName": "shop", "instanceId": "i", "environment": "development"`, `{"featureName": "f1", "appName": "shop", "environment": "development"`
		if strings.HasPrefix(field, "application.") {
			application += fmt.Sprintf(", %q: %s", strings.TrimPrefix(field, "application."), value)
		} else {
			counts += fmt.Sprintf(", %q: %s", field, value)
		}
		return `{"applications": [` + application + `}], "metrics": [` + counts + `}]}`
	}
	const path, registerPath, bulkPath = "/api/client/metrics", "/api/client/register", "/api/client/metrics/bulk"
	absent := "-"
	for _, tt := range []struct {
		path, field, value string
		body               func(field, value string) string
		want               string // a part of the error; "" for none
	}{
		{path, "none", "", metrics, ""},
		{path, "instanceId", absent, metrics, ""},
		{path, "instanceId", "null", metrics, ""},
		{path, "instanceId", "5", metrics, ""},
		{path, "instanceId", `""`, metrics, ""},
		{path, "appName", "5", metrics, ""},
		{path, "appName", "true", metrics, ""},
		{path, "appName", `" "`, metrics, ""},
		{path, "appName", `""`, metrics, "/appName: is required"},
		{path, "appName", "null", metrics, "/appName: is required"},
		{path, "appName", absent, metrics, "/appName: is required"},
		{path, "appName", `["x"]`, metrics, "/appName: must be a string"},
		{path, "appName", `{"x": 1}`, metrics, "/appName: must be a string"},
		{path, "start", "1795000000000", metrics, ""},
		{path, "start", `"1795000000000"`, metrics, ""},
		{path, "start", "-5", metrics, ""},
		{path, "start", `"yesterday"`, metrics, ""},
		{path, "start", `""`, metrics, ""},
		{path, "start", "null", metrics, ""},
		{path, "start", "true", metrics, ""},
		{path, "start", "1e300", metrics, ""},
		{path, "start", `"1e300"`, metrics, ""},
		{path, "start", `"0001-01-01T00:00:00+02:00"`, metrics, ""},
		{path, "start", "1e15", metrics, ""}, // the year 33658
		{path, "start", absent, metrics, ""},
		{path, "stop", `"2020-01-01T00:00:00Z"`, metrics, ""},
		{path, "stop", absent, metrics, ""},
		{path, "bucket", "null", metrics, ""},
		{path, "bucket", absent, metrics, "/bucket: is required"},
		{path, "bucket", `"x"`, metrics, "/bucket: must be an object, not a string"},
		{path, "bucket", "[1]", metrics, "/bucket: must be an object, not a list"},
		{path, "bucket", "{}", metrics, "/bucket/toggles: is required"},
		{path, "toggles", "{}", metrics, ""},
		{path, "toggles", absent, metrics, "/bucket/toggles: is required"},
		{path, "toggles", "null", metrics, ""},
		{path, "toggles", "[]", metrics, ""},
		{path, "toggles", "[1]", metrics, "/bucket/toggles: must be an object, not a list"},
		{path, "toggles", "5", metrics, "/bucket/toggles: must be an object, not a number"},
		{path, "toggle", "{}", metrics, ""},
		{path, "toggle", "null", metrics, ""},
		{path, "toggle", "[]", metrics, ""},
		{path, "toggle", "3", metrics, "/bucket/toggles/f1: must be an object, not a number"},
		{path, "yes", absent, metrics, ""},
		{path, "yes", `"3"`, metrics, ""},
		{path, "yes", "null", metrics, ""},
		{path, "yes", "1000000000000", metrics, ""},
		{path, "yes", "1099511627776", metrics, ""},
		{path, "yes", "1099511627777", metrics, ""},
		{path, "yes", `"x"`, metrics, ""},
		{path, "yes", `"NaN"`, metrics, ""},
		{path, "yes", `"Infinity"`, metrics, ""},
		{path, "yes", "1e30", metrics, ""},
		{path, "yes", "1.5", metrics, ""},
		{path, "no", "-1", metrics, ""},
		{path, "variants", absent, metrics, ""},
		{path, "variants", `{"a": "2", "b": null, "": 1}`, metrics, ""},
		{path, "variants", "null", metrics, ""},
		{path, "variants", "[]", metrics, ""},
		{path, "variants", `{"a": -1}`, metrics, ""},
		{path, "variants", `{"a": 1.5}`, metrics, ""},
		{path, "variants", `{"a": "x"}`, metrics, ""},
		{path, "environment", "5", metrics, ""},
		{path, "environment", "null", metrics, ""},
		{path, "environment", `"nowhere"`, metrics, ""},
		{path, "sdkVersion", "5", metrics, ""},
		{path, "toggles", `{"": {"yes": 1}}`, metrics, ""},
		{path, "toggles", `{"a b/ü\u0000": {"yes": 1}}`, metrics, ""},

		{registerPath, "none", "", register, ""},
		{registerPath, "instanceId", absent, register, ""},
		{registerPath, "started", absent, register, ""},
		{registerPath, "strategies", absent, register, ""},
		{registerPath, "interval", absent, register, ""},
		{registerPath, "interval", `"10"`, register, ""},
		{registerPath, "interval", "null", register, ""},
		{registerPath, "interval", "1.5", register, ""},
		{registerPath, "interval", `"x"`, register, ""},
		{registerPath, "interval", "[]", register, ""},
		{registerPath, "started", "1795000000000", register, ""},
		{registerPath, "started", "1.5", register, ""},
		{registerPath, "started", `"2026-11-22T14:00:00"`, register, ""},
		{registerPath, "started", `"2026-11-22T14:00:00+0000"`, register, ""},
		{registerPath, "started", `"2026-11-22 14:00:00Z"`, register, ""},
		{registerPath, "started", `"2026-11-22t14:00:00z"`, register, ""},
		{registerPath, "started", `"2026-11-22"`, register, ""},
		{registerPath, "started", `"2026-02-30T14:00:00Z"`, register, ""},
		{registerPath, "started", `"0000-01-01T00:00:00Z"`, register, ""},
		{registerPath, "strategies", `"default"`, register, ""},
		{registerPath, "strategies", "null", register, ""},
		{registerPath, "strategies", "[1, null, \"a\", \"a\", \"\"]", register, ""},
		{registerPath, "strategies", "[{}]", register, ""},

		{bulkPath, "none", "1", bulk, ""},
		{bulkPath, "timestamp", "1795000000000", bulk, ""},
		{bulkPath, "timestamp", `"x"`, bulk, ""},
		{bulkPath, "yes", `"4"`, bulk, ""},
		{bulkPath, "yes", "1.5", bulk, ""},
		{bulkPath, "yes", "-4", bulk, ""},
		{bulkPath, "variants", "null", bulk, ""},
		{bulkPath, "application.connectVia", "null", bulk, ""}, // a 400 in Unleash
		{bulkPath, "application.sdkVersion", "null", bulk, ""}, // Edge sends it if it does not know it
		{bulkPath, "application.started", "null", bulk, ""},    // a 400 in Unleash
	} {
		t.Run(tt.path+" "+tt.field+" "+tt.value, func(t *testing.T) {
			body := tt.body(tt.field, tt.value)
			w := s.post(tt.path, dynamotest.ClientToken, body)
			switch {
			case tt.want == "" && w.Code != 202:
				t.Errorf("%s: %d %s, want 202", body, w.Code, w.Body)
			case tt.want != "" && (w.Code != 400 || !strings.Contains(messageOf(t, w), tt.want)):
				t.Errorf("%s: %d %s, want 400 %s", body, w.Code, w.Body, tt.want)
			}
		})
	}
}

// TestNothingCounts sends reports of which no part counts, because the only one is odd. The error names it.
func TestNothingCounts(t *testing.T) {
	s := serve(t, nil)
	for toggle, want := range map[string]string{
		`3`:                                 "/bucket/toggles/f1: must be an object, not a number",
		`"x"`:                               "/bucket/toggles/f1: must be an object, not a string",
		`{"yes": -1}`:                       "/bucket/toggles/f1/yes: must be >= 0, not -1",
		`{"yes": 1.5}`:                      "/bucket/toggles/f1/yes: must be a whole number, not 1.5",
		`{"yes": "x"}`:                      "/bucket/toggles/f1/yes: must be a whole number, not x",
		`{"yes": "NaN"}`:                    "/bucket/toggles/f1/yes: must be a whole number, not NaN",
		`{"yes": "Infinity"}`:               "/bucket/toggles/f1/yes: must be at most 1099511627776, not Infinity",
		`{"no": 1099511627777}`:             "/bucket/toggles/f1/no: must be at most 1099511627776, not 1099511627777",
		`{"no": 1e30}`:                      "/bucket/toggles/f1/no: must be at most",
		`{"no": [1]}`:                       "/bucket/toggles/f1/no: must be a whole number",
		`{"variants": 5}`:                   "/bucket/toggles/f1/variants: must be an object, not a number",
		`{"variants": {"a": 1.5, "b": -1}}`: "/bucket/toggles/f1/variants/a: must be a whole number, not 1.5 (and 1 more)",
		`{"variants": {"` + strings.Repeat("v", usage.MaxName+1) + `": 1}}`: "/bucket/toggles/f1/variants: must have at most 255 characters; one has 256",
	} {
		w := s.post("/api/client/metrics", dynamotest.ClientToken, metricsOf(`"f1": `+toggle))
		if w.Code != 400 || !strings.Contains(messageOf(t, w), want) {
			t.Errorf("%s: %d %s, want 400 %s", toggle, w.Code, w.Body, want)
		}
	}
	for body, want := range map[string]string{
		`{"applications": 5, "metrics": null}`:                                                         "/applications: must be a list, not a number",
		`{"applications": [{"instanceId": "i"}], "metrics": [5]}`:                                      "/metrics/0: must be an object, not a number (and 2 more)",
		`{"applications": [], "metrics": [{"appName": "a"}]}`:                                          "/metrics/0/featureName: is required",
		`{"applications": [], "metrics": [{"featureName": "f"}]}`:                                      "/metrics/0/appName: is required",
		`{"metrics": [{"featureName": "f", "appName": "a", "yes": -1, "environment": "development"}]}`: "/metrics/0/yes: must be >= 0, not -1",
	} {
		w := s.post("/api/client/metrics/bulk", dynamotest.ClientToken, body)
		if w.Code != 400 || !strings.Contains(messageOf(t, w), want) {
			t.Errorf("%s: %d %s, want 400 %s", body, w.Code, w.Body, want)
		}
	}
}

// TestBodies checks bodies as a whole.
func TestBodies(t *testing.T) {
	s := serve(t, nil)
	for body, want := range map[string]string{
		"":                                     "a JSON body is required",
		"{":                                    "not valid JSON",
		"[]":                                   "must be an object, not a list",
		`"x"`:                                  "must be an object, not a string",
		"null":                                 "must be an object, not null",
		"5":                                    "must be an object, not a number",
		`{"appName": "a"} {}`:                  "more text after the end",
		`{"applications": []}`:                 "is required",
		`{"applications": null}`:               "is required",
		`{"applications": [], "metrics": [5]}`: "is required",
	} {
		w := s.post("/api/client/metrics", dynamotest.ClientToken, body)
		if w.Code != 400 || !strings.Contains(messageOf(t, w), want) {
			t.Errorf("%s: %d %s, want 400 %s", body, w.Code, w.Body, want)
		}
	}
	const body = `{"appName": "shop", "instanceId": "i", "bucket": {"start": 0, "stop": 0, "toggles": {}}}`
	for media, want := range map[string]int{
		"application/json": 202, "application/json; charset=utf-8": 202, "Application/JSON": 202,
		"text/plain": 415, "application/vnd.api+json": 415, "application/x-www-form-urlencoded": 415, "": 415, "x/": 415,
	} {
		if w := s.post("/api/client/metrics", dynamotest.ClientToken, body, "Content-Type: "+media); w.Code != want {
			t.Errorf("type %q: %d %s, want %d", media, w.Code, w.Body, want)
		}
	}
}

// TestPosts checks what is stored of a report.
func TestPosts(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 8_900_000, time.UTC)
	s := serve(t, nil, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	hash := access.HashSecret(dynamotest.ClientToken)
	for _, tt := range []struct {
		name, path, body, header string
		instances                []usage.PostInstance
		counts                   []usage.Count
	}{
		{
			name: "registration", path: "/api/client/register", header: "Unleash-Sdk: other:1",
			body: `{"appName": "shop", "instanceId": "web-1", "environment": "default", "sdkVersion": "sdk:2", "strategies": ["b", "a", null, "b", 7],
				"started": "2026-01-02T03:04:05.678901+01:00", "interval": 1}`,
			instances: []usage.PostInstance{{
				Application: "shop", Instance: "web-1", Environment: "development", SDK: "sdk:2", Address: "192.0.2.1", Registered: true,
				Strategies: []string{"7", "a", "b"}, Started: time.Date(2026, 1, 2, 2, 4, 5, 678_000_000, time.UTC),
			}},
		},
		{
			name: "metrics", path: "/api/client/metrics", header: "Unleash-Sdk: unleash-node-sdk:6.12.1",
			body: `{"appName": "shop", "bucket": {"start": 1, "stop": 2, "toggles": {"b": {"yes": "3", "no": 4.0, "variants": {"x": 1, "y": 0}},
				"a": {"yes": 1e3}, "zero": {"yes": 0, "no": null, "variants": {"x": 0}}, "": {"yes": 1}, "only-variant": {"variants": {"": 2}}}}}`,
			instances: []usage.PostInstance{{Application: "shop", Environment: "development", SDK: "unleash-node-sdk:6.12.1", Address: "192.0.2.1"}},
			counts: []usage.Count{
				{Feature: "a", Application: "shop", Environment: "development", Yes: 1000},
				{Feature: "b", Application: "shop", Environment: "development", Yes: 3, No: 4, Variants: map[string]int64{"x": 1}},
				{Feature: "only-variant", Application: "shop", Environment: "development", Variants: map[string]int64{"": 2}},
			},
		},
		{
			name: "no usage", path: "/api/client/metrics", header: "Unleash-Sdk: " + strings.Repeat("x", 256),
			body:      `{"appName": "shop", "instanceId": "i", "bucket": {"start": 1, "stop": 2, "toggles": {}}}`,
			instances: []usage.PostInstance{{Application: "shop", Instance: "i", Environment: "development", Address: "192.0.2.1"}},
		},
		{
			name: "bulk", path: "/api/client/metrics/bulk", header: "Unleash-Sdk: edge:1",
			body: `{"applications": [{"appName": "shop", "instanceId": "1", "environment": "production", "sdkVersion": "s:1", "strategies": ["a"], "started": 1000},
				{"appName": "shop", "instanceId": null, "environment": null}],
				"metrics": [{"featureName": "a", "appName": "shop", "environment": "development", "yes": 1},
				{"featureName": "a", "appName": "shop", "environment": "development", "yes": 2, "timestamp": "2026-11-22T14:00:00Z"},
				{"featureName": "a", "appName": "other", "environment": "production", "no": 5},
				{"featureName": "b", "appName": "other", "environment": "development", "no": 5, "variants": {"x": 5}}]}`,
			instances: []usage.PostInstance{
				{
					Application: "shop", Instance: "1", Environment: "production", SDK: "s:1", Registered: true, Strategies: []string{"a"},
					Started: time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC),
				},
				{Application: "shop", Environment: "development", Registered: true},
			},
			counts: []usage.Count{
				{Feature: "a", Application: "shop", Environment: "development", Yes: 1},
				{Feature: "a", Application: "shop", Environment: "development", Yes: 2},
				{Feature: "b", Application: "other", Environment: "development", No: 5, Variants: map[string]int64{"x": 5}},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if w := s.post(tt.path, dynamotest.ClientToken, tt.body, tt.header); w.Code != 202 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			got := s.store.last(t)
			var projects []string
			if tt.path == "/api/client/metrics/bulk" {
				projects = []string{flags.All}
			}
			want := &usage.Post{
				ID: got.ID, At: now.Truncate(time.Millisecond), TokenHash: hash, Projects: projects, Instances: tt.instances, Counts: tt.counts,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the post (-want +got):\n%s", diff)
			}
		})
	}
}
