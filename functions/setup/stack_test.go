package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/cfn"

	"guidon/internal/child"
	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Run(m)) }

const (
	keySecret   = "arn:aws:secretsmanager:eu-central-1:000000000000:secret:TokenKey-a1b2c3"
	adminSecret = "arn:aws:secretsmanager:eu-central-1:000000000000:secret:AdminToken-d4e5f6"
	theKey      = "the-key-that-seals-the-tokens-of-this-test"
)

// A stack contains what the function calls: a table on the real engine, Secrets Manager, and CloudFormation, each over HTTP
// with the real clients.
type stack struct {
	store   *dynamo.Store
	secrets *secretsManager
	cloud   *httptest.Server // takes the answers
	log     *child.Output

	mu       sync.Mutex
	answers  []cfn.Response
	actions  map[string]bool // what was asked of the table, as permissions are named
	status   int             // what CloudFormation says to an answer
	requests int
}

func newStack(t *testing.T) *stack {
	t.Helper()
	s := &stack{
		store: dynamotest.Open(t, nil), log: &child.Output{}, actions: map[string]bool{}, status: http.StatusOK,
		secrets: &secretsManager{values: map[string]string{keySecret: theKey, adminSecret: ""}, versions: map[string]string{}},
	}
	engine, err := url.Parse(dynamotest.Engine().URL())
	if err != nil {
		t.Fatal(err)
	}
	table := serve(t, s.record(httputil.NewSingleHostReverseProxy(engine)))
	s.cloud = serve(t, http.HandlerFunc(s.take))
	for name, value := range map[string]string{
		"TABLE_NAME": s.store.Table(), "TOKEN_KEY_SECRET": keySecret, "ADMIN_TOKEN_SECRET": adminSecret,
		"AWS_ENDPOINT_URL_DYNAMODB": table.URL, "AWS_ENDPOINT_URL_SECRETS_MANAGER": serve(t, s.secrets).URL,
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
	} {
		t.Setenv(name, value)
	}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(s.log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return s
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// take receives a response as CloudFormation does.
func (s *stack) take(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	var answer cfn.Response
	if err := json.Unmarshal(body, &answer); err != nil || r.Method != http.MethodPut || len(body) > 4096 || r.Header.Get("Content-Type") != "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.answers = append(s.answers, answer)
	w.WriteHeader(s.status)
}

// record records the permissions that the requests need.
func (s *stack) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var in struct{ TransactItems []map[string]any }
		_ = json.Unmarshal(body, &in)
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		s.mu.Lock()
		s.requests++
		if operation != "TransactWriteItems" {
			s.actions[operation] = true
		}
		for _, item := range in.TransactItems {
			for kind := range item {
				action := kind
				if kind != "ConditionCheck" {
					action += "Item"
				} else {
					action = "ConditionCheckItem"
				}
				s.actions[action] = true
			}
		}
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// ask sends an event of CloudFormation and returns the response, which must come within the time of the function.
func (s *stack) ask(t *testing.T, kind cfn.RequestType) cfn.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toAnswer+3*time.Second)
	defer cancel()
	event := cfn.Event{
		RequestType: kind, RequestID: "request-" + string(kind), ResponseURL: s.cloud.URL + "/?X-Amz-Signature=hush",
		ResourceType: "Custom::FirstStart", LogicalResourceID: "FirstStart", StackID: "arn:aws:cloudformation:stack/guidon-dev",
	}
	if kind != cfn.RequestCreate {
		event.PhysicalResourceID = physicalID
	}
	if _, err := handle(ctx, event); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		t.Fatalf("%s: CloudFormation got no answer that it takes", kind)
	}
	answer := s.answers[len(s.answers)-1]
	if answer.RequestID != event.RequestID || answer.StackID != event.StackID || answer.LogicalResourceID != event.LogicalResourceID {
		t.Errorf("%s: the answer is %+v, want the request's ids in it", kind, answer)
	}
	if answer.PhysicalResourceID != physicalID {
		t.Errorf("%s: the resource is %q, want %q always", kind, answer.PhysicalResourceID, physicalID)
	}
	return answer
}

// succeeds sends an event that must succeed.
func (s *stack) succeeds(t *testing.T, kind cfn.RequestType) {
	t.Helper()
	if answer := s.ask(t, kind); answer.Status != cfn.StatusSuccess {
		t.Fatalf("%s: %s, %s; want success", kind, answer.Status, answer.Reason)
	}
}

// tokens returns the names of the tokens in the table, without those for tests of deployments.
func (s *stack) tokens(t *testing.T) []string {
	t.Helper()
	list, err := s.store.List(t.Context(), access.EntityToken)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list {
		if name := a.(*access.Token).Name; !strings.HasPrefix(name, "smoke-") {
			names = append(names, name)
		}
	}
	return names
}

// caller returns the caller that a secret authenticates.
func (s *stack) caller(t *testing.T, secret string) (access.Caller, error) {
	t.Helper()
	return access.Authenticate(s.token(t, secret), time.Now())
}

func (s *stack) token(t *testing.T, secret string) *access.Token {
	t.Helper()
	key := access.TokenKey(access.HashSecret(secret))
	view, err := s.store.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	return flags.Find[*access.Token](view, key)
}

func (s *stack) feed(t *testing.T) *flags.Feed {
	t.Helper()
	view, err := s.store.Load(t.Context(), []flags.Key{flags.FeedKey()})
	if err != nil {
		t.Fatal(err)
	}
	feed := flags.Find[*flags.Feed](view, flags.FeedKey())
	if feed == nil || len(feed.Epoch) != 16 {
		t.Fatalf("the feed is %+v, want one with an epoch", feed)
	}
	return feed
}

// A secretsManager behaves as the API reference of Secrets Manager describes: a secret that was created without a value has
// none, and the value of a version never changes.
type secretsManager struct {
	mu       sync.Mutex
	values   map[string]string // the current ones, by ARN; "" for none yet
	versions map[string]string // all values, by the version's id
	puts     int
	denies   int // how many requests yet are denied; below 0 is all
}

func (m *secretsManager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretId, SecretString, ClientRequestToken string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.")
	m.mu.Lock()
	defer m.mu.Unlock()
	value, there := m.values[in.SecretId]
	switch {
	case m.denies != 0:
		m.denies--
		fail(w, "AccessDeniedException", "User: arn:aws:sts::000000000000:assumed-role/x is not authorized to perform: secretsmanager:"+operation)
	case !there:
		fail(w, "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	case operation == "GetSecretValue" && value == "":
		fail(w, "ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT")
	case operation == "GetSecretValue":
		_ = json.NewEncoder(w).Encode(map[string]string{"ARN": in.SecretId, "SecretString": value})
	case operation == "PutSecretValue":
		if before, made := m.versions[in.ClientRequestToken]; made && before != in.SecretString {
			fail(w, "ResourceExistsException", "You can't modify a secret version.")
			return
		}
		m.puts++
		m.values[in.SecretId], m.versions[in.ClientRequestToken] = in.SecretString, in.SecretString
		_ = json.NewEncoder(w).Encode(map[string]string{"ARN": in.SecretId, "VersionId": in.ClientRequestToken})
	default:
		fail(w, "InvalidRequestException", "what is "+operation+"?")
	}
}

func fail(w http.ResponseWriter, kind, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"__type":%q,"message":%q}`, kind, message)
}

// value returns the value of the admin token's secret.
func (m *secretsManager) value() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[adminSecret]
}
