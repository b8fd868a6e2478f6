package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"guidon/internal/engine"
	"guidon/internal/policies"
)

// Every test of this package runs with the policies of template.yaml. A call of DynamoDB that a function may not make
// is rejected as IAM would reject it, and the test fails. TestPolicies checks the opposite: no function has a permission that
// it does not need.

// Allowed returns the actions that each function may call, such as "PutItem", by its name in lower case.
var Allowed = sync.OnceValue(func() map[string][]string {
	root, err := engine.Root()
	if err != nil {
		panic(err)
	}
	read, err := policies.File(filepath.Join(root, "template.yaml"))
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

// ByFunction marks a handler's calls of DynamoDB as calls of a function.
func ByFunction(name string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callingFunction{}, name)))
	})
}

type callingFunction struct{}

// IAM rejects calls that the policy of the calling function does not allow, and records the actions that were used.
type IAM struct {
	next http.RoundTripper
	mu   *sync.Mutex
	Used map[string]map[string]bool // by function
}

// NewIAM returns a transport that checks calls before it passes them on; nil stands for the default transport.
func NewIAM(next http.RoundTripper) *IAM {
	if next == nil {
		next = http.DefaultTransport
	}
	return &IAM{next: next, mu: &sync.Mutex{}, Used: map[string]map[string]bool{}}
}

func (i *IAM) RoundTrip(r *http.Request) (*http.Response, error) {
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
		if !slices.Contains(Allowed()[function], action) {
			refusal := fmt.Sprintf("the function %s may not %s: see its role in template.yaml", function, action)
			fmt.Fprintln(os.Stderr, refusal) // the response has only "internal error"
			body := io.NopCloser(strings.NewReader(fmt.Sprintf(`{"__type":"com.amazon.coral.service#AccessDeniedException","message":%q}`, refusal)))
			return &http.Response{StatusCode: http.StatusBadRequest, Request: r, Header: http.Header{}, Body: body}, nil
		}
		i.Note(function, action)
	}
	return i.next.RoundTrip(r)
}

// Note records that a function has used an action.
func (i *IAM) Note(function, action string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Used[function] == nil {
		i.Used[function] = map[string]bool{}
	}
	i.Used[function][action] = true
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
