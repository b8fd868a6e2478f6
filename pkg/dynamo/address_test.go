package dynamo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// TestNoAddressInErrors checks that no error contains the URL of the engine: locally it has a secret, and errors are logged.
func TestNoAddressInErrors(t *testing.T) {
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "any", Endpoint: "http://127.0.0.1:1/SECRET"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = store.Load(ctx, []flags.Key{flags.ProjectKey("p")})
	whole := fmt.Sprint(err)
	for e := err; e != nil; {
		whole += fmt.Sprintf(" %+v", e)
		unwrapper, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = unwrapper.Unwrap()
	}
	if err == nil || strings.Contains(whole, "SECRET") {
		t.Errorf("got %s, want an error without the address", whole)
	}
}
