//go:build clients

package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"guidon/internal/child"
	lambda "guidon/internal/gateway"
)

// A report of usage that a program sends compressed, as application "50% off/shop".
const urlReport = `{"appName":"50% off/shop","instanceId":"1","bucket":{"start":"2026-03-04T05:06:07.000Z","stop":"2026-03-04T05:07:07.000Z",
	"toggles":{"clients-all":{"yes":3,"no":1}}}}`

// TestClientsURL runs every client on the function URLs of applications and frontend (that for Java in make test-clients-more). They show
// each switch, and their reports arrive. Guidon, on the same table, serves the administration only.
func TestClientsURL(t *testing.T) {
	s := &clientScenario{t: t, g: start(t), want: answers{}}
	s.create()
	applications, frontend, log := startFunctionURLs(t, s.g)
	s.clients = startClients(t, s.g, clientRun{url: applications.url(), ofrep: frontend.url(), flags: clientFlags})
	s.await("the start")
	s.switchOff()
	s.await("a flag is switched off, and so is its child")
	s.switchOn()
	s.await("it is switched on again")
	if !moreClients() {
		awaitRequests(t, log, "202 POST /api/client/register")
	}
	applications.ask(t, "POST", "/api/client/metrics", sdkToken(t, s.g, "url-", "client"), zipped(t, urlReport), "Content-Encoding", "gzip").has(t, 202)
	s.awaitReports("50% off/shop")
	for _, c := range s.clients {
		c.end(t)
	}
	checkFunctionURLs(t, s.g, applications, frontend)
}

// startFunctionURLs serves the function URLs of applications and frontend, over the table of Guidon.
func startFunctionURLs(t *testing.T, g *gateway) (applications, frontend *gateway, log *child.Output) {
	t.Helper()
	built := t.TempDir()
	for _, name := range []string{"applications", "frontend"} {
		build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", filepath.Join(built, name, "bootstrap"), "./functions/"+name)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	key, err := os.ReadFile(filepath.Join(g.data, "token.key"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOG_LEVEL", "debug") // with a line for each request
	log = &child.Output{}
	functions, err := lambda.New(lambda.Options{
		Template: filepath.Join(root, "template.yaml"), Functions: built, Only: []string{"ApplicationsFunction", "FrontendFunction"},
		Endpoint: g.engine.URL, Key: string(key), PublicURL: g.url(), Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(functions.Close)
	serve := func(id string) *gateway {
		server := httptest.NewServer(functions.FunctionURL(id))
		t.Cleanup(server.Close)
		return &gateway{port: portOf(t, server.URL), http: g.http}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the functions printed:\n%s", log.End())
		}
	})
	return serve("ApplicationsFunction"), serve("FrontendFunction"), log
}

// awaitReports waits until Guidon shows that the clients that report, and another application, have used a flag.
func (s *clientScenario) awaitReports(other string) {
	s.t.Helper()
	missing := map[string]bool{other: true}
	for _, c := range s.clients {
		if reports(c.name) {
			missing[c.name] = true
		}
	}
	for began := time.Now(); len(missing) > 0 && time.Since(began) < usageTimeout; time.Sleep(500 * time.Millisecond) {
		for row := range s.g.usage(s.t, "clients-all") {
			delete(missing, strings.TrimSuffix(row, " development clients-all"))
		}
	}
	if len(missing) > 0 {
		s.t.Errorf("no usage of %v arrived", missing)
	}
}

// random matches what differs between two responses with the same content.
var random = regexp.MustCompile(`"id":"[0-9a-f-]{36}"|"revisionId":\d+`)

// checkFunctionURLs checks that function URLs answer as Guidon does.
func checkFunctionURLs(t *testing.T, g, applications, frontend *gateway) {
	client, browser := sdkToken(t, g, "same-", "client"), sdkToken(t, g, "same-", "frontend")
	etag := applications.ask(t, "GET", "/api/client/features", client, "").header.Get("ETag")
	page := []string{"Origin", "https://shop.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization"}
	const gold = `{"context":{"userId":"7","targetingKey":"7","properties":{"plan":"free"}}}`
	for _, tt := range []struct {
		name, method, path, body string
		function                 *gateway
		status                   int
		has                      string
		header                   []string
	}{
		{"a poll", "GET", "/api/client/features", "", applications, 200, `"name":"clients-all"`, nil},
		{"a compressed response", "GET", "/api/client/features", "", applications, 200, `"name":"clients-all"`, []string{"Accept-Encoding", "gzip"}},
		{"repeated headers", "GET", "/api/client/features", "", applications, 304, "", []string{"If-None-Match", `"other"`, "If-None-Match", etag}},
		{"cookies", "GET", "/api/client/features/clients-off", "", applications, 200, `"name":"clients-off"`, []string{"Cookie", "a=1; b=2"}},
		{"a query", "GET", "/api/client/features?namePrefix=clients-%61l&project=default&project=other", "", applications, 200, `"clients-all"`, nil},
		{"a name with a space", "GET", "/api/client/features/a%20b", "", applications, 404, "a b", nil},
		{"a name with a slash and percent signs", "GET", "/api/client/features/100%25%2520a%2Fb", "", applications, 404, "100%%20a/b", nil},
		{"a path of no operation", "GET", "/api/admin/projects", "", applications, 404, "", nil},
		{"a broken body", "POST", "/api/client/metrics", "\x1f\x8b\xff", applications, 400, "gzip", []string{"Content-Encoding", "gzip"}},
		{"a large body", "POST", "/api/client/metrics", strings.Repeat(" ", 7<<20), applications, 413, "", nil},
		{"a context in the query", "GET", "/api/frontend?userId=7&properties%5Bplan%5D=g%6Fld", "", frontend, 200, `"clients-gold"`, nil},
		{"a compressed context", "POST", "/api/frontend", zipped(t, gold), frontend, 200, `"clients-segment"`, []string{"Content-Encoding", "gzip"}},
		{"OFREP", "POST", "/ofrep/v1/evaluate/flags/clients-text", gold, frontend, 200, `"value":"hello"`, nil},
		{"a key with a slash and percent signs", "POST", "/ofrep/v1/evaluate/flags/100%25%2520a%2Fb", gold, frontend, 404, "100%%20a/b", nil},
		{"a page of another origin", "GET", "/api/frontend", "", frontend, 200, "", page[:2]},
		{"a preflight", "OPTIONS", "/api/frontend", "", frontend, 204, "", page},
		{"a preflight of a report", "OPTIONS", "/api/frontend/client/metrics", "", frontend, 204, "", page},
		{"a preflight of OFREP", "OPTIONS", "/ofrep/v1/evaluate/flags", "", frontend, 204, "", page},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token := client
			if tt.function == frontend {
				token = browser
			}
			got := tt.function.ask(t, tt.method, tt.path, token, tt.body, tt.header...)
			got.body = unzipped(t, got)
			got.has(t, tt.status, tt.has)
			if tt.status == 404 || tt.status == 413 { // which may be of another operation, or of Lambda
				return
			}
			want := g.ask(t, tt.method, tt.path, token, tt.body, tt.header...)
			equal(t, "headers", sent(got), sent(want))
			equal(t, "body", random.ReplaceAllString(got.body, ""), random.ReplaceAllString(unzipped(t, want), ""))
		})
	}
}

// sent returns the headers of a response with their values in one line, without those that differ each time.
func sent(r reply) map[string]string {
	headers := map[string]string{}
	for name, values := range r.header {
		if name != "Date" && name != "Content-Length" {
			headers[name] = strings.Join(values, ",")
		}
	}
	return headers
}

// unzipped returns the body of a response, which may be compressed.
func unzipped(t *testing.T, r reply) string {
	t.Helper()
	if r.header.Get("Content-Encoding") != "gzip" {
		return r.body
	}
	z, err := gzip.NewReader(strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// zipped compresses a text with gzip.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
