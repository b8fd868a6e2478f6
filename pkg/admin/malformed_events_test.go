package admin_test

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	stdlog "log"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/docs"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// processOutput is what a process writes during a test: its log, as the functions configure it, and everything else on the
// standard streams.
type processOutput struct {
	t      *testing.T
	config httpapi.Config
	file   *os.File
	read   int64
}

// watchOutput configures the log as a function does, with METRICS, on streams that the test can read.
func watchOutput(t *testing.T) *processOutput {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, logger, to := os.Stdout, os.Stderr, slog.Default(), stdlog.Writer()
	os.Stdout, os.Stderr = file, file
	t.Cleanup(func() {
		os.Stdout, os.Stderr = stdout, stderr
		slog.SetDefault(logger)
		stdlog.SetOutput(to)
		_ = file.Close()
	})
	t.Setenv("METRICS", "emf")
	t.Setenv("STACK_NAME", "guidon-test")
	t.Setenv("AWS_LAMBDA_FUNCTION_VERSION", "7")
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	config.Logger, config.Sealer = lambdahttp.Logger(config.Logger), dynamotest.Sealer
	return &processOutput{t: t, config: config, file: file}
}

// lines returns the lines written since the last call.
func (w *processOutput) lines() []string {
	w.t.Helper()
	content, err := os.ReadFile(w.file.Name())
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for scanner := bufio.NewScanner(bytes.NewReader(content[w.read:])); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	w.read = int64(len(content))
	return lines
}

// logFields are all fields that a log line may have.
var logFields = strings.Fields("timestamp level message method route status ms rounds path functionVersion coldStart errorId error cause requestId " +
	"Stack Operation Status Requests ColdStarts Conflicts _aws")

// checkLine checks that exactly one line was written: valid JSON with known fields, and none of the texts that were sent.
func (w *processOutput) checkLine(never ...string) {
	w.t.Helper()
	lines := w.lines()
	if len(lines) != 1 {
		w.t.Errorf("%d lines %.2000q, want one", len(lines), lines)
		return
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil { // duplicate names are an error too
		w.t.Errorf("line %.1000q: %v, want JSON", lines[0], err)
	}
	for name := range line {
		if !slices.Contains(logFields, name) {
			w.t.Errorf("line %.1000q has the field %q, want only %q", lines[0], name, logFields)
		}
	}
	if line["message"] != "request" || line["requestId"] != "of-this" {
		w.t.Errorf("line %.1000q, want the line of a request, with the id of its invocation", lines[0])
	}
	if len(lines[0]) > 1500 {
		w.t.Errorf("line %.200q… of %d bytes, want at most 1500", lines[0], len(lines[0]))
	}
	for _, text := range never {
		if strings.Contains(lines[0], text) {
			w.t.Errorf("line %.1000q contains %q", lines[0], text)
		}
	}
}

// TestMalformedEvents sends every function every event of lambdahttp's testdata/odd, as API Gateway sends them. The response
// is JSON, and neither a redirect nor a 5xx. The log has one line, with nothing of what was sent.
func TestMalformedEvents(t *testing.T) {
	s := apitest.Serve(t)
	out := watchOutput(t)
	files, err := filepath.Glob("../lambdahttp/testdata/odd/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d events, %v; want at least 50", len(files), err)
	}
	functions := map[string]lambdahttp.EventHandler{"docs": lambdahttp.Handler(httpapi.New(nil, docs.Group(), out.config))}
	for _, group := range admin.Groups() {
		functions[group.Name] = lambdahttp.Handler(httpapi.New(s.Store, group, out.config))
	}
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of-this"})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var event events.APIGatewayV2HTTPRequest
			if err := stdjson.Unmarshal(raw, &event); err != nil {
				t.Fatal(err)
			}
			for name, function := range functions {
				_ = out.lines()
				got, err := function(ctx, event)
				if err != nil || got.StatusCode < 200 || got.StatusCode >= 300 && got.StatusCode < 400 || got.StatusCode >= 500 {
					t.Errorf("%s: %d %s, %v; want a success or a 4xx", name, got.StatusCode, got.Body, err)
				}
				if len(got.Cookies) > 0 || got.Headers["Location"] != "" {
					t.Errorf("%s: headers %q and cookies %q, want neither Location nor cookies", name, got.Headers, got.Cookies)
				}
				if method := event.RequestContext.HTTP.Method; got.StatusCode >= 400 && method != "HEAD" && !isErrorBody(got.Body) {
					t.Errorf("%s: %d %q, want an error in JSON", name, got.StatusCode, got.Body)
				}
				if event.RequestContext.HTTP.Method == http.MethodOptions {
					continue // a preflight writes no line
				}
				out.t = t
				out.checkLine("test-admin-token", "test-client-token", "client/1.0", "café", "Set-Cookie", "script", "uuuu", "nnnn", "tttt", "hhhh")
			}
		})
	}
}

func isErrorBody(body string) bool {
	var e struct{ ID, Name, Message string }
	return stdjson.Unmarshal([]byte(body), &e) == nil && e.ID != "" && e.Name != "" && e.Message != ""
}

// TestInvalidEvents sends a function events that API Gateway never sends. The response is an error, and the log has one line
// without the secret.
func TestInvalidEvents(t *testing.T) {
	out := watchOutput(t)
	function := lambdahttp.Handler(httpapi.New(nil, admin.Group("fallback"), out.config))
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of-this"})
	for name, change := range map[string]func(e *events.APIGatewayV2HTTPRequest){
		"no method":            func(e *events.APIGatewayV2HTTPRequest) { e.RequestContext.HTTP.Method = "" },
		"a method with spaces": func(e *events.APIGatewayV2HTTPRequest) { e.RequestContext.HTTP.Method = "GET /a-secret\r\n" },
		"a body that is not base64": func(e *events.APIGatewayV2HTTPRequest) {
			e.RequestContext.HTTP.Method, e.Body, e.IsBase64Encoded = "POST", "a-secret!", true
		},
		"an invalid domain": func(e *events.APIGatewayV2HTTPRequest) { e.RequestContext.DomainName = "a b\n%zz" },
	} {
		t.Run(name, func(t *testing.T) {
			event := events.APIGatewayV2HTTPRequest{RawPath: "/api/admin/api-tokens/a-secret", Headers: map[string]string{"authorization": "a-secret"}}
			event.RequestContext.HTTP.Method = "GET"
			change(&event)
			_ = out.lines()
			got, err := function(ctx, event)
			if err != nil || got.StatusCode < 400 || !isErrorBody(got.Body) || strings.Contains(got.Body, "a-secret") {
				t.Errorf("%d %s, %v; want an error", got.StatusCode, got.Body, err)
			}
			lines := out.lines()
			if len(lines) != 1 || !stdjson.Valid([]byte(lines[0])) || strings.Contains(lines[0], "a-secret") {
				t.Errorf("lines %q, want one in JSON, without the secret", lines)
			}
		})
	}
}
