package ingest

import (
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
)

// Bodies as SDKs sent them to Unleash 5.12.8 in November 2026, with other names.
const (
	nodeRegister = `{"appName": "shop-node", "instanceId": "root-vm", "sdkVersion": "unleash-node-sdk:6.12.1", "strategies": ["default", "applicationHostname",
		"gradualRolloutRandom", "gradualRolloutUserId", "gradualRolloutSessionId", "userWithId", "remoteAddress", "flexibleRollout"],
		"started": "2026-11-21T23:09:28.493Z", "interval": 7000, "connectionId": "c7b7e5a7-5618-402a-a29f-1cd2b811b52a", "platformName": "node",
		"platformVersion": "20.20.2", "yggdrasilVersion": null, "specVersion": "5.2.0"}`
	pythonRegister = `{"appName": "shop-python", "instanceId": "unleash-python-sdk", "connectionId": "c7177d2a-3b0b-47f4-ba66-9c398f3f0565",
		"platformName": "CPython", "platformVersion": "3.11.7", "yggdrasilVersion": "0.20.8", "specVersion": "6.1.0", "sdkVersion": "unleash-python-sdk:6.9.1",
		"strategies": [], "started": "2026-11-21T23:08:05.527300+00:00", "interval": 60}`
	go4Register = `{"appName": "shop-go", "instanceId": "root-vm", "connectionId": "fa880055-0a9e-42b7-8c76-a1ae46db5528", "sdkVersion": "unleash-client-go:4.5.0",
		"strategies": ["default", "applicationHostname", "gradualRolloutRandom", "gradualRolloutSessionId", "gradualRolloutUserId", "remoteAddress", "userWithId",
		"flexibleRollout"], "started": "2026-11-21T23:08:53.919986386Z", "interval": 60, "platformVersion": "go1.26.8", "platformName": "go",
		"yggdrasilVersion": null, "specVersion": "4.3.1"}`
	go5Register = `{"appName": "shop-go", "instanceId": "root-vm", "connectionId": "a7691d3e-e600-4d24-b29c-ff3b5de64d73", "sdkVersion": "unleash-go-sdk:5.1.0",
		"strategies": ["default", "applicationHostname", "gradualRolloutRandom", "gradualRolloutSessionId", "gradualRolloutUserId", "remoteAddress", "userWithId",
		"flexibleRollout"], "started": "2026-11-21T23:08:53.917291523Z", "interval": 60, "platformVersion": "go1.26.8", "platformName": "go",
		"yggdrasilVersion": null, "specVersion": "4.3.1"}`
	javaRegister = `{"appName": "shop-java", "instanceId": "vm-generated-633993", "connectionId": "51c45d1d-1184-4578-9edd-8e3cb64155f3",
		"sdkVersion": "unleash-java-sdk:12.2.3", "strategies": [], "started": "2026-11-21T23:16:34.937312831Z", "interval": 60, "environment": "default",
		"platformName": "OpenJDK 64-Bit Server VM", "platformVersion": "17.0.15", "yggdrasilVersion": "0.21.0", "specVersion": "5.2.2"}`
	frontendRegister = `{"appName": "shop-page", "sdkVersion": "raw:1", "interval": 30, "started": "2026-11-21T23:00:00.000Z", "strategies": []}`
	rawRegister      = `{"appName": "shop", "instanceId": "i1", "sdkVersion": "raw:1.0.0", "strategies": ["default"], "started": "2026-11-21T23:00:00.000Z", "interval": 15000}`

	nodeMetrics = `{"appName": "shop-node", "instanceId": "root-vm", "connectionId": "eeacb4c9-2543-4fcd-a3c1-185db5aba315", "bucket": {"start": "2026-11-21T23:08:05.593Z",
		"stop": "2026-11-21T23:09:05.613Z", "toggles": {"checkout": {"yes": 58, "no": 0, "variants": {}}, "child": {"yes": 58, "no": 0, "variants": {}},
		"banner": {"yes": 58, "no": 0, "variants": {"sv": 58}}, "missing": {"yes": 0, "no": 58, "variants": {}}}}, "platformName": "node",
		"platformVersion": "20.20.2", "yggdrasilVersion": null, "specVersion": "5.2.0"}`
	pythonMetrics = `{"appName": "shop-python", "instanceId": "unleash-python-sdk", "connectionId": "c7177d2a-3b0b-47f4-ba66-9c398f3f0565",
		"platformName": "CPython", "platformVersion": "3.11.7", "yggdrasilVersion": "0.20.8", "specVersion": "6.1.0", "bucket": {"start": "2026-11-21T23:08:05.523887057Z",
		"stop": "2026-11-21T23:09:05.956709614Z", "toggles": {"checkout": {"no": 0, "yes": 60, "variants": {}}, "missing": {"no": 60, "yes": 0, "variants": {}},
		"banner": {"no": 0, "yes": 60, "variants": {"sv": 60}}}}}`
	go4Metrics = `{"appName": "shop-go", "instanceId": "root-vm", "connectionId": "fa880055-0a9e-42b7-8c76-a1ae46db5528", "bucket": {"start": "2026-11-21T23:08:53.919987238Z",
		"stop": "2026-11-21T23:09:54.048079535Z", "toggles": {"missing": {"yes": 0, "no": 59, "variants": {}}, "checkout": {"yes": 59, "no": 0, "variants": {}},
		"banner": {"yes": 59, "no": 0, "variants": {"sv": 59}}}}, "platformVersion": "go1.26.8", "platformName": "go", "yggdrasilVersion": null,
		"sdkVersion": "unleash-client-go:4.5.0", "specVersion": "4.3.1"}`
	go5Metrics = `{"appName": "shop-go", "instanceId": "root-vm", "connectionId": "a7691d3e-e600-4d24-b29c-ff3b5de64d73", "bucket": {"start": "2026-11-21T23:08:53.917292535Z",
		"stop": "2026-11-21T23:09:54.046955615Z", "toggles": {"missing": {"yes": 0, "no": 58, "variants": {}}, "checkout": {"yes": 58, "no": 0, "variants": {}},
		"banner": {"yes": 58, "no": 0, "variants": {"sv": 58}}}}, "platformVersion": "go1.26.8", "platformName": "go", "yggdrasilVersion": null,
		"sdkVersion": "unleash-go-sdk:5.1.0", "specVersion": "4.3.1"}`
	javaMetrics = `{"appName": "shop-java", "instanceId": "vm-generated-633993", "connectionId": "51c45d1d-1184-4578-9edd-8e3cb64155f3", "bucket": {
		"start": "2026-11-21T23:16:34.699Z", "stop": "2026-11-21T23:17:34.938Z", "toggles": {"missing": {"yes": 0, "no": 60, "variants": {}},
		"banner": {"yes": 60, "no": 0, "variants": {"sv": 60}}, "checkout": {"yes": 60, "no": 0, "variants": {}}}}, "environment": "default", "specVersion": "5.2.2",
		"platformName": "OpenJDK 64-Bit Server VM", "platformVersion": "17.0.15", "yggdrasilVersion": "0.21.0"}`
	browserMetrics = `{"bucket": {"start": "2026-11-21T23:10:49.894Z", "stop": "2026-11-21T23:10:51.901Z", "toggles": {"checkout": {"yes": 1, "no": 0, "variants": {}},
		"banner": {"yes": 1, "no": 0, "variants": {"sv": 1}}, "missing": {"yes": 0, "no": 1, "variants": {}}}}, "appName": "shop-page", "instanceId": "browser",
		"impactMetrics": []}`
	bulkMetricsOfEdge = `{"applications": [{"appName": "shop-bulk", "instanceId": "i2", "environment": "development", "interval": 15,
		"started": "2026-11-21T23:00:00.000Z", "strategies": ["default"], "sdkVersion": "raw:1", "connectVia": [{"appName": "edge", "instanceId": "e1"}]}],
		"metrics": [{"featureName": "checkout", "appName": "shop-bulk", "environment": "development", "timestamp": "2026-11-21T23:00:00.000Z", "yes": 7, "no": 2,
		"variants": {"a": 1}}]}`
)

// Bodies of SDKs with null, and with PHP's [].
const (
	pythonImpact = `{"appName": "shop-python", "instanceId": "unleash-python-sdk", "bucket": null,
		"impactMetrics": [{"name": "orders", "help": "n", "type": "counter", "samples": [{"labels": {}, "value": 3}]}]}`
	go6Impact = `{"appName": "shop-go", "instanceId": "root-vm", "bucket": {"start": "0001-01-01T00:00:00Z", "stop": "0001-01-01T00:00:00Z", "toggles": null},
		"impactMetrics": [{"name": "orders", "help": "n", "type": "counter", "samples": [{"labels": null, "value": 3}]}]}`
	phpMetrics = `{"appName": "shop-php", "instanceId": "web", "bucket": {"start": "2026-11-21T23:10:49.894Z", "stop": "2026-11-21T23:10:51.901Z",
		"toggles": {"checkout": {"yes": 3, "no": 0, "variants": []}, "banner": {"yes": 1, "no": 0, "variants": {"sv": 1}}}}}`
)

// TestRecordedRequests sends the recorded requests. Each must be answered as Unleash answered it.
func TestRecordedRequests(t *testing.T) {
	s := serve(t, nil)
	const client, frontend = dynamotest.ClientToken, dynamotest.FrontendToken
	const plain = "text/plain; charset=utf-8"
	for _, tt := range []struct {
		name, path, token, body string
		status                  int
		media, answer           string // a part of the answer
		header                  string // of the request
	}{
		{name: "Node", path: "/api/client/register", token: client, body: nodeRegister, status: 202, header: "unleash-interval: undefined"},
		{name: "Python", path: "/api/client/register", token: client, body: pythonRegister, status: 202},
		{name: "Go v4", path: "/api/client/register", token: client, body: go4Register, status: 202},
		{name: "Go v5", path: "/api/client/register", token: client, body: go5Register, status: 202},
		{name: "Java", path: "/api/client/register", token: client, body: javaRegister, status: 202},
		{name: "empty", path: "/api/client/register", token: client, body: "{}", status: 400, answer: "/appName: is required"},
		{name: "only a name", path: "/api/client/register", token: client, body: `{"appName": "shop"}`, status: 202}, // a 400 in Unleash
		{name: "text", path: "/api/client/register", token: client, body: rawRegister, status: 415, answer: "application/json", header: "Content-Type: text/plain"},
		{name: "frontend token", path: "/api/client/register", token: frontend, body: rawRegister, status: 403, answer: "invalid token: expected a different token type for this endpoint"},
		{name: "no token", path: "/api/client/register", body: rawRegister, status: 401, answer: "This endpoint requires an API token. Please add an authorization header to your request with a valid token"},

		{name: "Node", path: "/api/client/metrics", token: client, body: nodeMetrics, status: 202},
		{name: "Python", path: "/api/client/metrics", token: client, body: pythonMetrics, status: 202},
		{name: "Go v4", path: "/api/client/metrics", token: client, body: go4Metrics, status: 202},
		{name: "Go v5", path: "/api/client/metrics", token: client, body: go5Metrics, status: 202},
		{name: "Java", path: "/api/client/metrics", token: client, body: javaMetrics, status: 202},
		{name: "Python, impact metrics", path: "/api/client/metrics", token: client, body: pythonImpact, status: 202},
		{name: "Go v6, impact metrics", path: "/api/client/metrics", token: client, body: go6Impact, status: 202},
		{name: "PHP", path: "/api/client/metrics", token: client, body: phpMetrics, status: 202},
		{name: "only a name", path: "/api/client/metrics", token: client, body: `{"appName": "shop"}`, status: 400, answer: "/bucket: is required"},
		{
			name: "no name", path: "/api/client/metrics", token: client, status: 400, answer: "/appName: is required",
			body: `{"bucket": {"start": "2026-11-21T23:00:00.000Z", "stop": "2026-11-21T23:01:00.000Z", "toggles": {"checkout": {"yes": 3, "no": 1, "variants": {"a": 2}},
				"off": {"yes": 0, "no": 5}, "none": {"yes": 1, "no": 0}}}}`,
		},
		{
			name: "negative", path: "/api/client/metrics", token: client, status: 400, answer: "/bucket/toggles/checkout/yes: must be >= 0, not -1",
			body: `{"appName": "shop", "bucket": {"start": "2026-11-21T23:00:00.000Z", "stop": "2026-11-21T23:01:00.000Z", "toggles": {"checkout": {"yes": -1, "no": 0}}}}`,
		},

		{name: "Edge", path: "/api/client/metrics/bulk", token: client, body: bulkMetricsOfEdge, status: 202},
		{name: "empty", path: "/api/client/metrics/bulk", token: client, body: "{}", status: 400, answer: "/applications: is required"},

		{name: "browser", path: "/api/frontend/client/metrics", token: frontend, body: browserMetrics, status: 200, media: plain, answer: "OK"},
		{name: "empty", path: "/api/frontend/client/metrics", token: frontend, body: "{}", status: 400, answer: "/appName: is required"},
		{name: "browser", path: "/api/frontend/client/register", token: frontend, body: frontendRegister, status: 200, media: plain, answer: "OK"},

		{name: "empty", path: "/edge/validate", body: "{}", status: 400, answer: "/tokens: is required"},
		{
			name: "old Edge", path: "/edge/metrics", body: bulkMetricsOfEdge, status: 404,
			answer: `{"status":"disabled","reason":"disabled by killswitch","help":"You should upgrade Edge to the most recent version to not lose metrics"}`,
		},
	} {
		t.Run(tt.path+" "+tt.name, func(t *testing.T) {
			before := len(s.store.posts)
			w := s.post(tt.path, tt.token, tt.body, tt.header)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.answer) {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.answer)
			}
			if tt.answer == "" && w.Body.Len() > 0 {
				t.Errorf("the body is %q, want none", w.Body)
			}
			if media := w.Header().Get("Content-Type"); tt.media != "" && media != tt.media {
				t.Errorf("the type is %q, want %q", media, tt.media)
			}
			if stored := len(s.store.posts) > before; stored != (tt.status < 300) {
				t.Errorf("stored a post: %t", stored)
			}
		})
	}
}
