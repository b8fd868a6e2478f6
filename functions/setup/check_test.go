package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"guidon/internal/runtimeapi"
	"guidon/pkg/admin"
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/serving"
)

// TestHook runs the built function over the Runtime API of Lambda, with an event of CodeDeploy. The versions that it checks are
// the real handlers over a real table. CodeDeploy and Lambda's Invoke are small HTTP servers, because no emulator has
// CodeDeploy.
func TestHook(t *testing.T) {
	store := dynamotest.Open(t, nil)
	dynamotest.Seed(t, store)
	seedSmokeTokens(t, store)
	lost, err := dynamo.Open(t.Context(), dynamo.Options{Table: "no-such-table", Endpoint: dynamotest.Engine().URL()})
	if err != nil {
		t.Fatal(err)
	}
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	good, broken := map[string]http.Handler{}, map[string]http.Handler{}
	groups := func(store *dynamo.Store) []httpapi.Group {
		reader := serving.NewReader(store, serving.OptionsOf(config))
		return slices.Concat(admin.Groups(), serving.Groups(reader, store, config), ingest.Groups(store, reader, config))
	}
	for name := range probes {
		elsewhere := func(group httpapi.Group) bool { return group.Function != name }
		good[name] = httpapi.New(store, httpapi.Join(slices.DeleteFunc(groups(store), elsewhere)...), config)
		broken[name] = httpapi.New(lost, httpapi.Join(slices.DeleteFunc(groups(lost), elsewhere)...), config)
	}
	// Versions that know no token, and that cannot do anything for callers with one.
	empty := dynamotest.Open(t, nil)
	forgetful, unable := map[string]http.Handler{}, map[string]http.Handler{}
	for name := range probes {
		elsewhere := func(group httpapi.Group) bool { return group.Function != name }
		forgetful[name] = httpapi.New(empty, httpapi.Join(slices.DeleteFunc(groups(empty), elsewhere)...), config)
		unable[name] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Authorization"), "smoke-test") {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			good[name].ServeHTTP(w, r)
		})
	}
	aws := &standIn{t: t, versions: map[string]map[string]http.Handler{"live": good, "7": good, "8": broken, "forgetful": forgetful, "unable": unable}}
	server := httptest.NewServer(aws)
	defer server.Close()
	hook := build(t, server.URL)

	type step struct{ name, function, version, want string }
	steps := []step{
		{"a version without its table", "guidon-prod-Features", "8", "Failed"},
		{"a version for SDKs without its table", "guidon-prod-Applications", "8", "Failed"},
		{"a version that crashes", "guidon-prod-Features", "crash", "Failed"},
		{"a version that does not exist", "guidon-prod-Features", "9", "Failed"},
		{"a function that the hook does not know", "guidon-prod-Other", "7", "Failed"},
		{"a deployment without targets", "", "", "Failed"},
	}
	for name := range probes {
		function := "guidon-prod-" + strings.ToUpper(name[:1]) + name[1:]
		steps = append(steps, step{"a good version of " + name, function, "7", "Succeeded"})
		if slices.Contains([]string{"features", "applications", "frontend"}, name) { // one for each kind of token
			steps = append(steps, step{"a version of " + name + " that fails with a valid token", function, "unable", "Failed"},
				step{"a version of " + name + " that refuses a valid token", function, "forgetful", "Failed"})
		}
	}
	run := func(tt step) {
		t.Run(tt.name, func(t *testing.T) {
			aws.deploy(tt.function, tt.version)
			if _, err := hook.Invoke(t.Context(), []byte(`{"DeploymentId":"d-1","LifecycleEventHookExecutionId":"e-1"}`)); err != nil {
				t.Fatal(err)
			}
			if got := aws.reports(); !slices.Equal(got, []string{"d-1 e-1 " + tt.want}) {
				t.Errorf("CodeDeploy was told %q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range steps {
		run(tt)
	}
	aws.versions["live"] = forgetful
	run(step{"tokens that are not there yet", "guidon-prod-Features", "forgetful", "Succeeded"})
	aws.versions["live"] = broken
	run(step{"a repair", "guidon-prod-Features", "7", "Succeeded"})
	run(step{"a repair of the exports", "guidon-prod-Transfer", "7", "Succeeded"})
	run(step{"a repair that fails with a valid token", "guidon-prod-Features", "unable", "Failed"})
}

// seedSmokeTokens stores the tokens with which the hook calls new versions.
func seedSmokeTokens(t *testing.T, store *dynamo.Store) {
	t.Helper()
	tokens, personal, err := smokeTokens(theKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{Tokens: tokens}); err != nil {
		t.Fatal(err)
	}
	if err := viewer(t.Context(), store, personal); err != nil {
		t.Fatal(err)
	}
}

// TestProbes checks that exactly the functions with canaries have a probe.
func TestProbes(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, route := range regexp.MustCompile(`\n  (\w+)Permission: \{Type: AWS::Lambda::Permission, Properties: `).FindAllSubmatch(raw, -1) {
		want = append(want, strings.ToLower(string(route[1])))
	}
	for group := range probes {
		got = append(got, group)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("there are probes for %q, and canaries of %q", got, want)
	}
}

// build builds the hook as `make build` does, and configures the address as that of AWS.
func build(t *testing.T, address string) *runtimeapi.Function {
	t.Helper()
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", bootstrap, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	f := &runtimeapi.Function{
		Name: "SetupFunction", Command: []string{bootstrap}, Timeout: time.Minute, Memory: 256, Log: t.Output(),
		Env: map[string]string{
			"AWS_ENDPOINT_URL_CODEDEPLOY": address, "AWS_ENDPOINT_URL_LAMBDA": address, "AWS_ENDPOINT_URL_SECRETS_MANAGER": address, "TOKEN_KEY_SECRET": keySecret, "AWS_REGION": "eu-central-1",
			"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_MAX_ATTEMPTS": "1",
		},
	}
	t.Cleanup(func() {
		f.Stop()
		t.Logf("what it took: %+v", f.Report())
	})
	return f
}

// A standIn implements what the hook calls of CodeDeploy and Lambda.
type standIn struct {
	t        *testing.T
	versions map[string]map[string]http.Handler // of each version, by function

	mu                sync.Mutex
	function, version string
	told              []string
}

func (s *standIn) deploy(function, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.function, s.version, s.told = function, version, nil
}

func (s *standIn) reports() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	if rest, is := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/"); is {
		s.invoke(w, r.Context(), strings.TrimSuffix(rest, "/invocations"), r.URL.Query().Get("Qualifier"), body)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	answer := map[string]any{}
	if r.Header.Get("X-Amz-Target") == "secretsmanager.GetSecretValue" {
		answer["SecretString"] = theKey
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	switch operation := r.Header.Get("X-Amz-Target"); operation {
	case "CodeDeploy_20141006.ListDeploymentTargets":
		answer["targetIds"] = []string{s.function}
	case "CodeDeploy_20141006.GetDeploymentTarget":
		if s.function != "" {
			answer["deploymentTarget"] = map[string]any{"deploymentTargetType": "LambdaTarget", "lambdaTarget": map[string]any{
				"lambdaFunctionInfo": map[string]any{"functionName": s.function, "functionAlias": "live", "currentVersion": "6", "targetVersion": s.version},
			}}
		}
	case "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus":
		var report map[string]string
		if err := json.Unmarshal(body, &report); err != nil {
			s.t.Error(err)
		}
		s.told = append(s.told, report["deploymentId"]+" "+report["lifecycleEventHookExecutionId"]+" "+report["status"])
	default:
		s.t.Errorf("the hook calls %s %q", r.URL, operation)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

func (s *standIn) invoke(w http.ResponseWriter, ctx context.Context, function, version string, payload []byte) {
	if version == "crash" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_, _ = io.WriteString(w, `{"errorType":"Runtime.ExitError"}`)
		return
	}
	handler := s.versions[version][strings.ToLower(function[strings.LastIndex(function, "-")+1:])]
	if handler == nil {
		w.Header().Set("X-Amzn-ErrorType", "ResourceNotFoundException")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"Message":"no such function"}`)
		return
	}
	var request events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		s.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	response, err := lambdahttp.Handler(handler)(ctx, request)
	if err != nil {
		s.t.Error(err)
	}
	if err := json.NewEncoder(w).Encode(response); err != nil {
		s.t.Error(err)
	}
}
