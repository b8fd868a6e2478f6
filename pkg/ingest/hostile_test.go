package ingest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/usage"
)

// list repeats an entry n times, with the number in place of %d, and commas between.
func list(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = strings.ReplaceAll(entry, "%d", strconv.Itoa(i))
	}
	return strings.Join(entries, ",")
}

func metricsOf(toggles string) string {
	return `{"appName": "shop", "bucket": {"start": 0, "stop": 0, "toggles": {` + toggles + `}}}`
}

// TestBounds sends reports at and above each limit. One that is refused writes nothing. TestLimitsOfParts checks what is left out of the others.
func TestBounds(t *testing.T) {
	count := &counter{}
	s := serve(t, count, still)
	s.post("/api/client/metrics", dynamotest.ClientToken, metricsOf(""))
	text := func(n int) string { return strings.Repeat("ü", n) }
	register := func(field, value string) string {
		fields := map[string]string{"appName": `"shop"`, "strategies": "[]"}
		fields[field] = value
		body := `{"started": 0, "interval": 1`
		for name, value := range fields {
			body += fmt.Sprintf(", %q: %s", name, value)
		}
		return body + "}"
	}
	bulk := func(applications, metrics string) string {
		return `{"applications": [` + applications + `], "metrics": [` + metrics + `]}`
	}
	const path, registerPath, bulkPath = "/api/client/metrics", "/api/client/register", "/api/client/metrics/bulk"
	random := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[random.IntN(64)]
		}
		return string(b)
	}
	var incompressible []string
	for range 4_000 {
		incompressible = append(incompressible, `"`+digits(200)+`": {"yes": 1}`)
	}
	for _, tt := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"longest name", path, metricsOf(`"` + text(usage.MaxFeature) + `": {"yes": 1}`), 202, ""},
		{"name", path, metricsOf(`"` + text(usage.MaxFeature+1) + `": {"yes": 1}`), 400, "/bucket/toggles: must have at most 250 characters; one has 251"},
		{"longest variant", path, metricsOf(`"a": {"variants": {"` + text(usage.MaxName) + `": 1}}`), 202, ""},
		{"variant", path, metricsOf(`"a/b": {"variants": {"` + text(usage.MaxName+1) + `": 1}}`), 400, "/bucket/toggles/a~1b/variants: must have at most 255 characters; one has 256"},
		{"most variants", path, metricsOf(`"a": {"variants": {` + list(usage.MaxVariants, `"v%d": 1`) + `}}`), 202, ""},
		{"variants", path, metricsOf(`"a": {"variants": {` + list(usage.MaxVariants+1, `"v%d": 1`) + `}}`), 202, ""},
		{"most flags", path, metricsOf(list(usage.MaxCounts, `"flag-%d": {"yes": %d}`)), 202, ""},
		{"flags", path, metricsOf(list(usage.MaxCounts+1, `"flag-%d": {"yes": %d}`)), 400, "/bucket/toggles: must have at most 10000 flags, but has 10001"},
		{"longest application", registerPath, register("appName", `"`+text(usage.MaxName)+`"`), 202, ""},
		{"application", registerPath, register("appName", `"`+text(usage.MaxName+1)+`"`), 400, "/appName: must have at most 255 characters"},
		{"instance", registerPath, register("instanceId", `"`+text(usage.MaxName+1)+`"`), 202, ""},
		{"environment", registerPath, register("environment", `"`+text(usage.MaxName+1)+`"`), 202, ""},
		{"SDK", registerPath, register("sdkVersion", `"`+text(usage.MaxName+1)+`"`), 202, ""},
		{"strategy", registerPath, register("strategies", `["`+text(usage.MaxName+1)+`"]`), 202, ""},
		{"most strategies", registerPath, register("strategies", `[`+list(usage.MaxStrategies, `"s%d"`)+`]`), 202, ""},
		{"strategies", registerPath, register("strategies", `[`+list(usage.MaxStrategies+1, `"s%d"`)+`]`), 202, ""},
		{"most instances", bulkPath, bulk(list(usage.MaxPostInstances, `{"appName": "a", "instanceId": "%d"}`), ""), 202, ""},
		{"instances", bulkPath, bulk(list(usage.MaxPostInstances+1, `{"appName": "a", "instanceId": "%d"}`), ""), 400, "/applications: must have at most 1000 instances"},
		{"most applications", bulkPath, bulk(list(usage.MaxPostApplications, `{"appName": "%d"}`), ""), 202, ""},
		{
			"applications", bulkPath, bulk(list(usage.MaxPostApplications, `{"appName": "%d"}`), `{"featureName": "a", "appName": "other", "environment": "development"}`),
			400, "/applications: must have at most 100 applications, with those of the metrics, but has 101",
		},
		{"entries", bulkPath, bulk("", list(usage.MaxCounts+1, `{"featureName": "a", "appName": "a", "environment": "e"}`)), 400, "/metrics: must have at most 10000 entries"},
		{"random names", path, metricsOf(strings.Join(incompressible, ",")), 413, "compressed"},
		{"1 MB", path, metricsOf(`"a": {"x": "` + strings.Repeat("x", usage.MaxBody) + `"}`), 413, "the body is larger than 1 MiB"},
		{"1 MB of a registration", registerPath, register("x", `"`+strings.Repeat("x", usage.MaxBody)+`"`), 413, "the body is larger than 1 MiB"},
		{"1 MB of Edge about itself", "/api/client/metrics/edge", `"` + strings.Repeat("x", usage.MaxBody) + `"`, 413, "the body is larger than 1 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantCalls := "PutItem"
			if tt.status >= 300 {
				wantCalls = ""
			}
			s.forget()
			got := count.during(func() {
				w := s.post(tt.path, dynamotest.ClientToken, tt.body)
				if w.Code != tt.status || tt.want != "" && !strings.Contains(messageOf(t, w), tt.want) || w.Body.Len() > 100_000 {
					t.Errorf("%d %.500s, want %d %s", w.Code, w.Body, tt.status, tt.want)
				}
			})
			if got != wantCalls {
				t.Errorf("calls %q, want %q", got, wantCalls)
			}
		})
	}
}

// TestHostileBodies sends bodies that were made to cost much. Each is refused soon, and writes nothing, or is read without its odd parts.
func TestHostileBodies(t *testing.T) {
	count := &counter{}
	s := serve(t, count, still)
	s.post("/api/client/metrics", dynamotest.ClientToken, metricsOf(""))
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }
	paths := []string{"/api/client/metrics", "/api/client/register", "/api/client/metrics/bulk"}
	refused := map[string]string{
		"deep objects":  `{"appName": "a", "x": ` + nested(100_000) + `}`,
		"deep lists":    `{"appName": "a", "x": ` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + `}`,
		"deep flags":    metricsOf(`"a": ` + nested(1_000)),
		"open brackets": strings.Repeat("[", 1_000_000),
		"empty objects": `{"applications": [` + list(300_000, `{}`) + `], "metrics": []}`,
		"empty counts":  `{"applications": [], "metrics": [` + list(300_000, `{}`) + `]}`,
		"empty flags":   metricsOf(list(100_000, `"%d":{}`)[:900_000]),
		"NaN":           metricsOf(`"a": {"yes": NaN}`),
		"comments":      "/* x */ " + metricsOf(""),
		"NUL":           metricsOf("\"\x00\": {}"),
		"two documents": metricsOf("") + metricsOf(""),
		"cut off":       metricsOf("")[:40],
	}
	odd := map[string]string{
		"a flag twice":     metricsOf(`"a": {"yes": 1}, "b": {"yes": 1}, "a": {"yes": 1}`),
		"escaped twice":    metricsOf(`"a": {"yes": 1}, "\u0061": {"yes": 1}`),
		"half a surrogate": metricsOf(`"\ud800": {"yes": 1}`),
		"invalid UTF-8":    metricsOf("\"\xff\xfe\": {\"yes\": 1}"),
		"huge numbers":     metricsOf(`"a": {"yes": 1` + strings.Repeat("0", 100_000) + `}`),
		"huge text number": metricsOf(`"a": {"yes": "1` + strings.Repeat("0", 100_000) + `"}`),
		"small numbers":    metricsOf(`"a": {"yes": 1e-400}, "b": {"yes": 0.5}`),
		"hexadecimal":      metricsOf(`"a": {"yes": "0x1p-2"}`),
		"negative zero":    metricsOf(`"a": {"yes": -0.5}`),
		"BOM":              "\ufeff" + metricsOf(""),
		"strategies":       `{"appName": "a", "interval": 1, "started": 0, "strategies": [` + list(100_000, `"s%d"`) + `]}`,
		"bad strategies":   `{"appName": "a", "interval": 1, "started": 0, "strategies": [` + list(100_000, `[]`) + `]}`,
	}
	send := func(name, body string) {
		for _, path := range paths {
			began, status := time.Now(), 0
			s.forget()
			got := count.during(func() {
				w := s.post(path, dynamotest.ClientToken, body)
				if status = w.Code; status != 400 && status != 413 && (status != 202 || odd[name] == "") || w.Body.Len() > 100_000 {
					t.Errorf("%s at %s: %d with %d bytes: %.300s", name, path, w.Code, w.Body.Len(), w.Body)
				}
			})
			if want := map[bool]string{true: "PutItem"}[status == 202]; got != want {
				t.Errorf("%s at %s: calls %q, want %q", name, path, got, want)
			}
			if took := time.Since(began); took > 10*time.Second { // a bound by orders of magnitude
				t.Errorf("%s at %s took %v", name, path, took)
			}
		}
	}
	for name, body := range refused {
		send(name, body)
	}
	for name, body := range odd {
		send(name, body)
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "PATCH"} {
		for _, path := range append(paths, "/edge/validate", "/api/frontend/client/metrics", "/api/client/metrics/other", "/edge/other") {
			if w := s.request(method, path); w.Code != http.StatusNotFound {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
}

// TestLimitsOfParts sends parts above a limit. Only they are left out.
func TestLimitsOfParts(t *testing.T) {
	s := serve(t, nil)
	long := func(n int) string { return `"` + strings.Repeat("x", n+1) + `"` }
	s.post("/api/client/register", dynamotest.ClientToken, `{"appName": "shop", "instanceId": `+long(usage.MaxName)+`, "sdkVersion": `+long(usage.MaxName)+
		`, "strategies": ["a", `+long(usage.MaxName)+`, "b", `+list(usage.MaxStrategies, `"s%d"`)+`], "started": 5, "interval": 1}`)
	got := s.store.last(t).Instances
	if len(got) != 1 || got[0].Instance != "" || got[0].SDK != "" || len(got[0].Strategies) != usage.MaxStrategies || got[0].Strategies[1] != "b" || got[0].Started.UnixMilli() != 5 {
		t.Errorf("registered %+v", got)
	}
	s.post("/api/client/metrics", dynamotest.ClientToken, metricsOf(`"a": {"yes": 1, "variants": {`+list(usage.MaxVariants+1, `"v%d": 1`)+`}}, `+long(usage.MaxFeature)+
		`: {"yes": 1}, "z": {"no": 2, "variants": {"x": 1, `+long(usage.MaxName)+`: 1}}`))
	counts := s.store.last(t).Counts
	if len(counts) != 2 || counts[0].Yes != 1 || len(counts[0].Variants) != usage.MaxVariants || counts[1].No != 2 || len(counts[1].Variants) != 1 {
		t.Errorf("counted %+v", counts)
	}
	s.post("/api/client/metrics/bulk", dynamotest.ClientToken, `{"applications": [{"appName": "a"}, {"appName": `+long(usage.MaxName)+`}, {"appName": "b"}], "metrics": [
		{"appName": `+long(usage.MaxName)+`, "featureName": "f", "environment": "development", "yes": 1}, {"appName": "a", "featureName": `+long(usage.MaxFeature)+`, "yes": 1},
		{"appName": "a", "featureName": "f", "environment": "development", "yes": 2}]}`)
	if post := s.store.last(t); len(post.Instances) != 2 || len(post.Counts) != 1 || post.Counts[0].Yes != 2 {
		t.Errorf("stored %+v", post)
	}
}

// TestLongLists sends lists of hundreds of thousands of parts that cannot be read, which a kilobyte of gzip can contain. They are refused
// before they are decoded.
func TestLongLists(t *testing.T) {
	s := serve(t, nil)
	for path, body := range map[string]string{
		"/api/client/register":     `{"appName": "a", "strategies": [` + list(100_000, "[]") + `]}`,
		"/api/client/metrics/bulk": `{"applications": [` + list(100_000, "[]") + `]}`,
	} {
		if w := s.post(path, dynamotest.ClientToken, body); w.Code != 400 || !strings.Contains(w.Body.String(), "a list of more than 20000 items") {
			t.Errorf("%s: %d %.200s", path, w.Code, w.Body)
		}
	}
}

// TestFrontendBody sends bodies that are too large for a browser, whose token is public.
func TestFrontendBody(t *testing.T) {
	s := serve(t, nil)
	for length, status := range map[int]int{usage.MaxFrontendBody / 2: 200, usage.MaxFrontendBody: 413} {
		unused := `"unused": "` + strings.Repeat("x", length) + `",`
		for path, body := range map[string]string{
			"/api/frontend/client/metrics":  `{"appName": "a", "bucket": {"start": 1, "stop": 1, "toggles": {}}}`,
			"/api/frontend/client/register": `{"appName": "a", "strategies": [], "started": 1, "interval": 1}`,
		} {
			if w := s.post(path, dynamotest.FrontendToken, "{"+unused+body[1:]); w.Code != status {
				t.Errorf("%s with %d bytes: %d %.200s, want %d", path, length, w.Code, w.Body, status)
			}
		}
	}
}
