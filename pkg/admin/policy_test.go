package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/internal/policies"
	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// Every test of this package runs with the policies of template.yaml. A call of DynamoDB that a function may not make
// is rejected as IAM would reject it, and the test fails. TestPolicies checks the opposite: no function has a permission that
// it does not need.

// allowed returns the actions that each function may call, such as "PutItem", by its name in lower case.
var allowed = sync.OnceValue(func() map[string][]string {
	read, err := policies.File("../../template.yaml")
	if err != nil {
		panic(err)
	}
	allowed := map[string][]string{}
	for function, policy := range read {
		name := strings.ToLower(function)
		allowed[name] = policy.All()
		if slices.Contains(policy.Index, "Query") {
			allowed[name] = append(allowed[name], queryIndex)
		}
	}
	return allowed
})

// queryIndex is the permission to query an index, which is a separate resource in IAM.
const queryIndex = "Query of an index"

// byFunction marks a handler's calls of DynamoDB as calls of a function.
func byFunction(name string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callingFunction{}, name)))
	})
}

type callingFunction struct{}

// iam rejects calls that the policy of the calling function does not allow, and records the actions that were used.
type iam struct {
	next http.RoundTripper
	mu   *sync.Mutex
	used map[string]map[string]bool // by function
}

func newIAM(next http.RoundTripper) *iam {
	if next == nil {
		next = http.DefaultTransport
	}
	return &iam{next: next, mu: &sync.Mutex{}, used: map[string]map[string]bool{}}
}

func (i *iam) RoundTrip(r *http.Request) (*http.Response, error) {
	function, ok := r.Context().Value(callingFunction{}).(string)
	if !ok { // a test's own call
		return i.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	for _, action := range actionsOf(r, body) {
		if !slices.Contains(allowed()[function], action) {
			refusal := fmt.Sprintf("the function %s may not %s: see its role in template.yaml", function, action)
			fmt.Fprintln(os.Stderr, refusal) // the response has only "internal error"
			body := io.NopCloser(strings.NewReader(fmt.Sprintf(`{"__type":"com.amazon.coral.service#AccessDeniedException","message":%q}`, refusal)))
			return &http.Response{StatusCode: http.StatusBadRequest, Request: r, Header: http.Header{}, Body: body}, nil
		}
		i.note(function, action)
	}
	return i.next.RoundTrip(r)
}

func (i *iam) note(function, action string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.used[function] == nil {
		i.used[function] = map[string]bool{}
	}
	i.used[function][action] = true
}

// actionsOf returns the permissions that a call needs. A transaction needs one for each kind of write in it, and none for
// itself.
func actionsOf(r *http.Request, body []byte) []string {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var call struct {
		IndexName     string
		TransactItems []map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &call); err != nil {
		panic(err)
	}
	switch {
	case operation == "Query" && call.IndexName != "":
		return []string{queryIndex}
	case operation != "TransactWriteItems":
		return []string{operation}
	}
	of := map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}
	actions := []string{"GetItem"} // a commit may have to read its outcome: see settle in pkg/dynamo
	for _, item := range call.TransactItems {
		for kind := range item {
			actions = append(actions, of[kind])
		}
	}
	return actions
}

// TestPolicies checks that no function may call more actions than its operations need, and so that functions share a role only if their
// rights are equal. It calls each operation once.
func TestPolicies(t *testing.T) {
	t.Parallel()
	var watch *iam
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { watch = newIAM(nil); *transport = watch })
	for _, route := range routes(t) {
		on := s.newSubject(t)
		if prepare := preparations[route]; prepare != nil {
			prepare(s, t, &on)
		}
		s.check(t, on.call(route))
	}
	s.beyondExamples(t)
	signsIn, provider := serveOpenIDOver(t, watch, "OIDC_DEFAULT_ROLE=Viewer")
	wantEnd(t, newBrowser(t, signsIn, provider).signIn(t, "anna", "/"), "/") // the first sign-in creates the user
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			if op.Permission != "" {
				watch.note(group.Function, "PutItem") // any request may record when its token was last used
			}
		}
	}
	for _, group := range admin.Groups() {
		if got, want := slices.Sorted(slices.Values(allowed()[group.Function])), slices.Sorted(maps.Keys(watch.used[group.Function])); !slices.Equal(got, want) {
			t.Errorf("the function %s may\n %s\nand its operations need\n %s", group.Function, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}

// beyondExamples calls operations in ways that need more actions than their examples.
func (s *server) beyondExamples(t *testing.T) {
	t.Helper()
	_, person := s.person(t, access.RoleAdmin) // only a user has personal tokens, whose IDs come from a counter
	if got := s.do(t, "POST", ownTokens, `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`, person); got.status != 201 {
		t.Errorf("a personal token: %d %s", got.status, got.body)
	}

	on := s.newSubject(t) // a segment counts the strategies that use it
	s.newSegment(t, &on)
	strategies := in(on.flag, "development") + "/strategies"
	s.must(t, "PUT", strategies+"/"+on.strategy, `{"segments":[`+on.segment+`]}`)
	s.must(t, "PUT", strategies+"/"+on.strategy, `{"segments":[]}`)
	s.must(t, "PUT", strategies+"/"+on.strategy, `{"segments":[`+on.segment+`]}`)
	s.must(t, "POST", "/api/admin/features-batch/import", fmt.Sprintf(`{"project":"default","environment":"development","data":{
		"features":[{"name":%q}],"featureStrategies":[{"featureName":%[1]q,"name":"default"}]}}`, on.flag))

	s.newAddon(t, &on) // events that are parked can be sent again
	id, err := strconv.ParseInt(on.addon, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	entry := flags.OutboxEntry{Addon: id, ID: "0190163d-8694-739b-aea5-966c26f8ad90", Subject: "FLAG#" + on.flag, Version: 1}
	if err := s.store.Park(t.Context(), entry, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := s.must(t, "POST", on.fill(anAddon)+"/resend", ""); !strings.Contains(got.body, `"resent":1`) {
		t.Errorf("nothing was sent again: %s", got.body)
	}
}
