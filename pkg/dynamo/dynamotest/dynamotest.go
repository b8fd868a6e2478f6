// Package dynamotest gives tests a real store: one engine for each test program, one table for each test. It can inject
// faults between store and engine (Faults), and check that a table is consistent (Check).
package dynamotest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/localtable"
	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

// AdminToken, ClientToken and FrontendToken are the secrets of the tokens that Seed creates.
const (
	AdminToken    = "*:*.test-admin-token"
	ClientToken   = "default:development.test-client-token"
	FrontendToken = "default:development.test-frontend-token"
)

var (
	shared *engine.Engine
	tables atomic.Int64
)

// Run starts the engine that the tests of a package share, runs the tests, and stops the engine. TestMain calls it.
// Without an engine the tests fail; they are never skipped.
func Run(m *testing.M) int {
	e, err := engine.Start(context.Background(), engine.Options{Direct: true, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the DynamoDB engine for the tests:", err)
		return 1
	}
	defer e.Stop()
	shared = e
	return m.Run()
}

// Engine is the engine that the tests share, for tests that open several stores with one table (OpenOn).
func Engine() *engine.Engine { return shared }

// Open opens a store with a new, empty table. Its requests go through transport, unless that is nil.
func Open(t testing.TB, transport http.RoundTripper) *dynamo.Store {
	t.Helper()
	return OpenOn(t, shared, fmt.Sprintf("test-%d", tables.Add(1)), transport)
}

// OpenOn opens a store with a table of an engine. It creates the table if needed.
func OpenOn(t testing.TB, e *engine.Engine, table string, transport http.RoundTripper) *dynamo.Store {
	t.Helper()
	options := dynamo.Options{Table: table, Endpoint: e.URL()}
	if err := localtable.CreateWithoutTTL(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	if transport != nil {
		options.HTTPClient = &http.Client{Transport: transport, Timeout: 2 * time.Second}
		options.RetryQuota = 1 << 20 // a test injects more faults than the quota of a service in good health allows
	}
	store, err := dynamo.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Seed adds the initial content of every deployment, and three tokens.
func Seed(t testing.TB, store *dynamo.Store) {
	t.Helper()
	var tokens []bootstrap.Token
	for kind, secret := range map[access.TokenType]string{
		access.AdminToken: AdminToken, access.ClientToken: ClientToken, access.FrontendToken: FrontendToken,
	} {
		token, err := bootstrap.ParseToken(kind, secret)
		if err != nil {
			t.Fatal(err)
		}
		token.Name = string(kind)
		tokens = append(tokens, token)
	}
	if err := bootstrap.Seed(t.Context(), store, bootstrap.Options{Tokens: tokens, Sealer: box}); err != nil {
		t.Fatal(err)
	}
}

// box encrypts the tokens of tests.
var box = func() *seal.Box {
	b, err := seal.New("the-key-that-seals-the-tokens-of-tests")
	if err != nil {
		panic(err)
	}
	return b
}()

// Sealer returns the sealer that Seed has used, for the configuration of a server.
func Sealer(context.Context) (flags.Sealer, error) { return box, nil }
