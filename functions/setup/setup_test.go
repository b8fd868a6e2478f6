package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/access"
	"guidon/pkg/awsconfig"
	"guidon/pkg/flags"
	"guidon/pkg/published"
)

// TestLifeOfAStack creates a stack twice, updates it, rolls it back and deletes it. There is one token, which never changes.
func TestLifeOfAStack(t *testing.T) {
	s := newStack(t)
	s.succeeds(t, cfn.RequestCreate)
	secret := s.secrets.value()
	if !regexp.MustCompile(`^\*:\*\.[0-9a-f]{64}$`).MatchString(secret) {
		t.Fatalf("the secret's value is %q, want an admin token", secret)
	}
	if caller, err := s.caller(t, secret); err != nil || !caller.Admin {
		t.Fatalf("the token authenticates %+v, %v; want an administrator", caller, err)
	}
	keys := []flags.Key{flags.ProjectKey(flags.DefaultProject), flags.EnvironmentsKey(), access.RolesKey(), flags.TagTypesKey()}
	seeded, err := s.store.Load(t.Context(), keys)
	if err != nil || len(seeded) != len(keys) {
		t.Fatalf("%d of %d exist, %v", len(seeded), len(keys), err)
	}
	feed := s.feed(t)
	for _, kind := range []cfn.RequestType{cfn.RequestCreate, cfn.RequestUpdate, cfn.RequestUpdate, cfn.RequestDelete, cfn.RequestCreate} {
		s.succeeds(t, kind)
		if got := s.feed(t); (got.Epoch != feed.Epoch) != (kind != cfn.RequestDelete) || got.Number < feed.Number || len(got.Entries) > 0 {
			t.Errorf("%s changed the feed from %+v to %+v; want a new epoch unless it is a deletion", kind, feed, got)
		} else {
			feed = got
		}
		again, err := s.store.Load(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(seeded, again); diff != "" {
			t.Errorf("%s changed existing data:\n%s", kind, diff)
		}
		if got := s.tokens(t); !slices.Equal(got, []string{"admin"}) || s.secrets.puts != 1 || s.secrets.value() != secret {
			t.Errorf("after %s the tokens are %q after %d values of the secret; want always one", kind, got, s.secrets.puts)
		}
	}
	s.tellsNoSecret(t, secret)
}

// TestEpochs deploys versions one after the other. Instances must read everything again after a restore, which is seen by the name of the table,
// if the form of what applications see has changed, or if the function is invoked by hand.
func TestEpochs(t *testing.T) {
	s := newStack(t)
	s.succeeds(t, cfn.RequestCreate)
	epoch := s.feed(t).Epoch
	if at := published.EpochTime(epoch); time.Since(at) > time.Hour || time.Since(at) < -time.Hour {
		t.Errorf("the epoch %s began %s, want now", epoch, at)
	}
	raw := dynamodb.NewFromConfig(awsconfig.FromEnvironment("DYNAMODB", time.Minute))
	change := func(attribute string, value types.AttributeValue) {
		t.Helper()
		if _, err := raw.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(s.store.Table()), UpdateExpression: aws.String("SET #a = :v"),
			Key:                      map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "FEED"}, "sk": &types.AttributeValueMemberS{Value: "FEED"}},
			ExpressionAttributeNames: map[string]string{"#a": attribute}, ExpressionAttributeValues: map[string]types.AttributeValue{":v": value},
		}); err != nil {
			t.Fatal(err)
		}
	}
	deploy := func(version string, wantNew bool) {
		t.Helper()
		if _, err := run(t.Context(), cfn.Event{RequestType: cfn.RequestUpdate, ResourceProperties: map[string]any{"Version": version}}); err != nil {
			t.Fatal(err)
		}
		now := s.feed(t)
		if isNew := now.Epoch != epoch; isNew != wantNew {
			t.Errorf("version %q began another epoch: %t, want %t", version, isNew, wantNew)
		}
		epoch = now.Epoch
	}
	deploy("1", false)
	deploy("2", false)
	deploy("", true)
	change("table", &types.AttributeValueMemberS{Value: "restored-from"})
	deploy("3", true)
	deploy("4", false)
	change("form", &types.AttributeValueMemberN{Value: "99"})
	deploy("5", true)
	deploy("6", false)
}

// TestSmokeTokens checks that the tokens for tests of deployments are made once, and may read and do nothing else. Another
// first key makes others, and those from before stay until they are deleted.
func TestSmokeTokens(t *testing.T) {
	s := newStack(t)
	another := strings.Repeat("another", 9)
	for _, value := range []string{theKey, theKey, theKey + "\n" + another, another + "\n" + theKey} {
		s.secrets.values[keySecret] = value
		s.succeeds(t, cfn.RequestUpdate)
		for _, kind := range []access.TokenType{access.ClientToken, access.FrontendToken, access.PersonalToken} {
			secret, err := smokeToken(kind, value)
			if err != nil {
				t.Fatal(err)
			}
			token := s.token(t, secret)
			if token == nil || token.Type != kind || token.Deleted {
				t.Fatalf("the %s token is %+v", kind, token)
			}
			if kind != access.PersonalToken {
				continue
			}
			view, err := s.store.Load(t.Context(), []flags.Key{access.UserKey(token.User)})
			if err != nil {
				t.Fatal(err)
			}
			if u := flags.Find[*access.User](view, access.UserKey(token.User)); u == nil || !u.ServiceAccount || u.RootRole != access.RoleViewer || len(u.Projects) > 0 {
				t.Errorf("the personal token is that of %+v, want a service account that may only read", u)
			}
		}
	}
	users, err := s.store.List(t.Context(), access.EntityUser)
	if err != nil || len(users) != 3 {
		t.Errorf("%d users, %v; want the first one and two viewers", len(users), err)
	}
	s.tellsNoSecret(t, another)
}

// TestDeleteDoesNothing checks that a deletion sends no requests, so that it cannot fail.
func TestDeleteDoesNothing(t *testing.T) {
	s := newStack(t)
	s.secrets.denies = -1
	t.Setenv("TABLE_NAME", "")
	s.succeeds(t, cfn.RequestDelete)
	if s.requests != 0 || s.secrets.denies != -1 {
		t.Errorf("%d requests to the table and %d to Secrets Manager, want none", s.requests, -1-s.secrets.denies)
	}
}

// TestRotation sets values in the secret by hand, as in main.go.
func TestRotation(t *testing.T) {
	s := newStack(t)
	s.secrets.values[adminSecret] = "*:*.chosen\n"
	byHand := func(want string) {
		t.Helper()
		got, err := handle(t.Context(), cfn.Event{})
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("by hand: %q, %v; want %q", got, err, want)
		}
	}
	byHand("the admin token is valid")
	byHand("the admin token is valid")
	if got := s.tokens(t); !slices.Equal(got, []string{"admin"}) || s.secrets.puts != 0 {
		t.Fatalf("tokens %q after %d values put, want the one that was chosen", got, s.secrets.puts)
	}
	s.secrets.values[adminSecret] = "*:*.2nd-value"
	byHand("the admin token is valid")
	for _, secret := range []string{"*:*.chosen", "*:*.2nd-value"} {
		if caller, err := s.caller(t, secret); err != nil || !caller.Admin {
			t.Errorf("%s authenticates %+v, %v; want both until the old one is deleted", secret, caller, err)
		}
	}
	for _, secret := range []string{"*:*.chosen", "*:*.2nd-value"} {
		token := s.token(t, secret)
		change := flags.Change{Writes: []flags.Write{{Before: token, After: token.AsDeleted()}}, Event: flags.Event{ID: secret[4:], Type: "api-token-deleted"}}
		if err := s.store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	s.succeeds(t, cfn.RequestUpdate)
	byHand("was deleted and stays deleted")
	if _, err := s.caller(t, "*:*.2nd-value"); err == nil || s.secrets.puts != 0 || len(s.tokens(t)) != 0 {
		t.Errorf("a deleted token came back: %v, tokens %q", err, s.tokens(t))
	}
	s.secrets.values[adminSecret] = "*:*.back-in"
	byHand("the admin token is valid")
	s.tellsNoSecret(t, "*:*.chosen", "*:*.2nd-value", "*:*.back-in")
}

// TestNoEvent invokes the function without an event, as the AWS CLI does by default.
func TestNoEvent(t *testing.T) {
	newStack(t)
	got, err := optionalEvent{lambda.NewHandler(handle)}.Invoke(t.Context(), nil)
	if err != nil || !strings.Contains(string(got), "the admin token is valid") {
		t.Errorf("%s, %v; want the admin token to be valid", got, err)
	}
}

// TestAtOnce runs several processes over a new stack: one creates the token, and all use it.
func TestAtOnce(t *testing.T) {
	s := newStack(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := handle(t.Context(), cfn.Event{RequestType: cfn.RequestCreate, ResponseURL: s.cloud.URL}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, answer := range s.answers {
		if answer.Status != cfn.StatusSuccess {
			t.Errorf("%s: %s", answer.Status, answer.Reason)
		}
	}
	if _, err := s.caller(t, s.secrets.value()); err != nil || len(s.answers) != 8 {
		t.Errorf("%d answers; the secret's token: %v", len(s.answers), err)
	}
	if got := s.tokens(t); !slices.Equal(got, []string{"admin"}) || s.secrets.puts != 1 {
		t.Errorf("tokens %q after %d values put, want one", got, s.secrets.puts)
	}
}

// TestFailures checks that each failure is reported in time, with a helpful reason and without a secret.
func TestFailures(t *testing.T) {
	const value = "default:development.not-an-admin-token"
	tests := []struct {
		name string
		set  func(t *testing.T, s *stack)
		says []string
	}{
		{"store away", func(t *testing.T, _ *stack) { t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1") },
			[]string{"the store did not answer in time", "connection refused"}},
		{"no table", func(t *testing.T, _ *stack) { t.Setenv("TABLE_NAME", "nowhere") }, []string{"ResourceNotFoundException"}},
		{"missing key", func(t *testing.T, _ *stack) { t.Setenv("TOKEN_KEY_SECRET", "arn:none") }, []string{"encryption key for tokens"}},
		{"invalid key", func(_ *testing.T, s *stack) { s.secrets.values[keySecret] = "short" }, []string{"5 characters"}},
		{"missing secret", func(t *testing.T, _ *stack) { t.Setenv("ADMIN_TOKEN_SECRET", "arn:none") },
			[]string{"the admin token", "PutSecretValue", "can't find"}},
		{"value that is not an admin token", func(_ *testing.T, s *stack) { s.secrets.values[adminSecret] = value },
			[]string{adminSecret, "not an admin token", "*:*."}},
		{"no permission", func(_ *testing.T, s *stack) { s.secrets.denies = -1 }, []string{"not authorized to perform: secretsmanager:GetSecretValue"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patient(t, 100*time.Millisecond, 10*time.Millisecond)
			s := newStack(t)
			tt.set(t, s)
			started := time.Now()
			for _, kind := range []cfn.RequestType{cfn.RequestCreate, cfn.RequestUpdate} {
				answer := s.ask(t, kind)
				if answer.Status != cfn.StatusFailed {
					t.Errorf("%s: %s, want FAILED", kind, answer.Status)
				}
				for _, says := range append(tt.says, "Guidon's first start", "log of the function") {
					if !strings.Contains(answer.Reason, says) {
						t.Errorf("%s: the reason is %q, want it to contain %q", kind, answer.Reason, says)
					}
				}
				if strings.Contains(answer.Reason, "not-an-admin") || strings.Contains(answer.Reason, theKey) {
					t.Errorf("%s: the reason is %q, which shows a secret", kind, answer.Reason)
				}
			}
			if took := time.Since(started); took > 2*(toAnswer+3*time.Second) {
				t.Errorf("it took %s, want an answer before the function's time is up", took)
			}
			s.succeeds(t, cfn.RequestDelete) // the rollback of a creation that failed
			s.tellsNoSecret(t, value)
		})
	}
}

// TestNewPermissions uses a role whose permissions are not effective yet.
func TestNewPermissions(t *testing.T) {
	patient(t, 5*time.Second, 10*time.Millisecond)
	s := newStack(t)
	s.secrets.denies = 3
	s.succeeds(t, cfn.RequestCreate)
}

// TestAnswerNotTaken checks that Lambda retries if CloudFormation rejects the response, and that the error does not contain the
// signed address.
func TestAnswerNotTaken(t *testing.T) {
	s := newStack(t)
	s.status = 403
	event := cfn.Event{RequestType: cfn.RequestCreate, ResponseURL: s.cloud.URL + "/?X-Amz-Signature=hush"}
	if _, err := handle(t.Context(), event); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("refused: %v, want an error", err)
	}
	s.cloud.Close()
	_, err := handle(t.Context(), event)
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "CloudFormation") {
		t.Errorf("unreachable: %v, want an error without the address", err)
	}
	s.tellsNoSecret(t)
}

// TestLongReason checks that a reason is short enough for CloudFormation.
func TestLongReason(t *testing.T) {
	got := reason(flags.Errorf(flags.Internal, "%s", strings.Repeat("é\"", 4000)))
	if document, err := json.Marshal(got); err != nil || len(document) > 3000 || strings.Contains(got, "\uFFFD") {
		t.Errorf("the reason has %d bytes, %v", len(document), err)
	}
}

// TestPermissions compares the actions that Seed needs with the permissions in the template.
func TestPermissions(t *testing.T) {
	s := newStack(t)
	s.succeeds(t, cfn.RequestCreate)
	s.succeeds(t, cfn.RequestUpdate)
	s.actions["GetItem"] = true // after a lost response, the event is looked up, see pkg/dynamo/send.go
	var want []string
	for action := range s.actions {
		want = append(want, "dynamodb:"+action)
	}
	want = append(want, "secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue")
	slices.Sort(want)
	if diff := cmp.Diff(want, granted(t)); diff != "" {
		t.Errorf("permissions (-needed +granted):\n%s", diff)
	}
}

// granted returns the actions that template.yaml permits SetupFunction on the table and its secrets.
func granted(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, role, found := strings.Cut(string(raw), "\n  SetupRole:")
	if !found {
		t.Fatal("template.yaml has no SetupRole")
	}
	role, _, _ = strings.Cut(role, "\n\n")
	return regexp.MustCompile(`(dynamodb|secretsmanager):[A-Z]\w+`).FindAllString(role, -1)
}

// patient sets how long a missing permission is retried.
func patient(t *testing.T, whole, pause time.Duration) {
	t.Helper()
	before, between := patience, interval
	patience, interval = whole, pause
	t.Cleanup(func() { patience, interval = before, between })
}

// tellsNoSecret checks that no secret is in the log or in a response.
func (s *stack) tellsNoSecret(t *testing.T, secrets ...string) {
	t.Helper()
	s.mu.Lock()
	answers, err := json.Marshal(s.answers)
	s.mu.Unlock()
	if err != nil || s.log.String() == "" {
		t.Fatalf("the log is %q (%v): it is empty", s.log, err)
	}
	for _, secret := range append(secrets, theKey, "X-Amz-Signature") {
		_, random, found := strings.Cut(secret, ".")
		if !found {
			random = secret
		}
		if text := s.log.String() + string(answers); strings.Contains(text, random) {
			t.Errorf("log and answers show %q: %s", random, text)
		}
	}
}
