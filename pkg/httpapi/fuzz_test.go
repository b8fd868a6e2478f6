package httpapi_test

import (
	stdjson "encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// These tests fuzz the parsers of untrusted input. Every test run includes the inputs in testdata/fuzz; `make fuzz` looks
// for more.

// checkRefusal checks that an error is the caller's fault, and that its response is a short 400 in valid UTF-8.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if kind := flags.KindOf(err); kind != flags.Invalid {
		t.Errorf("error %v is of kind %v, want Invalid", err, kind)
	}
	status, body := httpapi.Describe(err)
	document, failure := json.Marshal(body)
	if failure != nil || status != http.StatusBadRequest || !utf8.Valid(document) || len(document) > 256<<10 {
		t.Errorf("the response is %d, %d bytes, %v: want a short 400", status, len(document), failure)
	}
}

// FuzzBody decodes bodies of every operation.
func FuzzBody(f *testing.F) {
	var operations []httpapi.Operation
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			if op.DecodesBody() {
				operations = append(operations, op)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint, body []byte) {
		op := operations[which%uint(len(operations))]
		in, err := op.DecodeBody(body, flags.DefaultLimits())
		checkRefusal(t, err)
		if err != nil || op.Shape().Optional && len(body) == 0 {
			return
		}
		if !stdjson.Valid(body) && strings.TrimSpace(string(body)) != "" {
			t.Errorf("%s accepts %q, which is not JSON", op.Route, body)
		}
		again, err := op.DecodeBody(append([]byte(" \n"), body...), flags.DefaultLimits())
		if diff := cmp.Diff(in, again, cmp.Exporter(func(reflect.Type) bool { return true })); err != nil || diff != "" {
			t.Errorf("%s: decoded again, %v:\n%s", op.Route, err, diff)
		}
	})
}

// FuzzPatch applies patches to a strategy and to variants.
func FuzzPatch(f *testing.F) {
	value, title := "50", "a title"
	strategy := shape.StrategyViewOf(flags.Strategy{
		ID: "an-id", Name: "flexibleRollout", Title: &title, Parameters: map[string]string{"rollout": value, "a/b~c": ""},
		Constraints: []flags.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"1", "2"}}, {ContextName: "age", Operator: "NUM_GT", Value: &value}},
	}, "flag")
	variants := shape.Variants([]flags.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}})
	f.Fuzz(func(t *testing.T, body []byte) {
		var patch jsonbody.Patch
		if err := jsonbody.DecodeStrict(body, &patch); err != nil {
			checkRefusal(t, err)
			return
		}
		var problems flags.Problems
		patch.Check(flags.DefaultLimits(), &problems)
		if len(problems) > 0 {
			checkRefusal(t, problems.Err())
			return
		}
		before, _ := json.Marshal(strategy, json.Deterministic(true))
		var changed wire.StrategyBody
		err := patch.Apply(strategy, &changed)
		checkRefusal(t, err)
		var list []wire.VariantBody
		checkRefusal(t, patch.Apply(variants, &list))
		if after, _ := json.Marshal(strategy, json.Deterministic(true)); string(after) != string(before) {
			t.Errorf("the patch changed the document that it was applied to: %s was %s", after, before)
		}
		if most := jsonbody.MaxPatchCopies + 3*(len(before)+2*len(body)); err == nil && len(changed.Constraints)*16 > most {
			t.Errorf("%d constraints after a patch of %d bytes", len(changed.Constraints), len(body))
		}
	})
}

// FuzzAuthorization reads secrets from the header Authorization, and date-times from text.
func FuzzAuthorization(f *testing.F) {
	f.Fuzz(func(t *testing.T, header string) {
		secret := httpapi.SecretOf(&http.Request{Header: http.Header{"Authorization": {header}}})
		if !strings.HasSuffix(strings.TrimSpace(header), secret) || strings.TrimSpace(secret) != secret {
			t.Errorf("the secret in %q is %q", header, secret)
		}
		if hash := access.HashSecret(secret); len(hash) != 64 {
			t.Errorf("hash %q", hash)
		}
		if at, ok := httpapi.ParseMoment(header); ok && (at.IsZero() || at.Location() != time.UTC || at.Nanosecond()%int(time.Millisecond) != 0) {
			t.Errorf("%q is parsed as %v, want a time in UTC, to the millisecond, other than the zero time", header, at)
		}
	})
}
