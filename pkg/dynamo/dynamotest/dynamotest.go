// Package dynamotest gives tests a real store: one engine a test program, one table a test.
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
	"guidon/pkg/bootstrap"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	"guidon/pkg/seal"
)

// AdminToken, ClientToken and FrontendToken are the secrets that Seed puts there.
const (
	AdminToken    = "*:*.test-admin-token"
	ClientToken   = "default:development.test-client-token"
	FrontendToken = "default:development.test-frontend-token"
)

var (
	shared *engine.Engine
	tables atomic.Int64
)

// Run is what a package's TestMain calls: it starts the engine that its tests share, runs them, and ends the engine.
// Without an engine the tests fail; they are never skipped.
func Run(m *testing.M) int {
	e, err := engine.Start(context.Background(), engine.Options{Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests need a DynamoDB engine:", err)
		return 1
	}
	defer e.Stop()
	shared = e
	return m.Run()
}

// Engine is the one that the package's tests share, for those that open several stores over one table with OpenOn.
func Engine() *engine.Engine { return shared }

// Open opens a store over a new and empty table. A transport, if not nil, carries its requests.
func Open(t testing.TB, transport http.RoundTripper) *dynamo.Store {
	t.Helper()
	return OpenOn(t, shared, fmt.Sprintf("test-%d", tables.Add(1)), transport)
}

// OpenOn opens a store over a table, made if need be, of an engine of the test's own.
func OpenOn(t testing.TB, e *engine.Engine, table string, transport http.RoundTripper) *dynamo.Store {
	t.Helper()
	plain, err := dynamo.Open(t.Context(), dynamo.Options{Table: table, Endpoint: e.URL()})
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.CreateTable(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	if transport == nil {
		return plain
	}
	store, err := dynamo.Open(t.Context(), dynamo.Options{
		Table: table, Endpoint: e.URL(), HTTPClient: &http.Client{Transport: transport, Timeout: 2 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Seed puts into a store what every deployment starts with, and three tokens.
func Seed(t testing.TB, store *dynamo.Store) {
	t.Helper()
	var tokens []bootstrap.Token
	for kind, secret := range map[flags.TokenType]string{
		flags.AdminToken: AdminToken, flags.ClientToken: ClientToken, flags.FrontendToken: FrontendToken,
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

// box seals the tokens of tests.
var box = func() *seal.Box {
	b, err := seal.New("the-key-that-seals-the-tokens-of-tests")
	if err != nil {
		panic(err)
	}
	return b
}()

// Sealer is what Seed has sealed the tokens with, for a server's configuration.
func Sealer(context.Context) (flags.Sealer, error) { return box, nil }

// Schema is that of the tables that Open makes: template.yaml's, but for what expires.
func Schema() dynamo.TableSchema { return schema }

var schema = dynamo.TableSchema{
	Attributes: []dynamo.Attribute{
		{Name: "pk", Type: "S"}, {Name: "sk", Type: "S"}, {Name: "log", Type: "S"}, {Name: "project", Type: "S"}, {Name: "id", Type: "S"},
	},
	Key: []dynamo.KeyElement{{Name: "pk", Type: "HASH"}, {Name: "sk", Type: "RANGE"}},
	Indexes: []dynamo.Index{
		{Name: "log", Key: []dynamo.KeyElement{{Name: "log", Type: "HASH"}, {Name: "id", Type: "RANGE"}}, Projection: "ALL"},
		{Name: "project", Key: []dynamo.KeyElement{{Name: "project", Type: "HASH"}, {Name: "id", Type: "RANGE"}}, Projection: "ALL"},
	},
}
