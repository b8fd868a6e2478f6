// Package dynamo is the store: flags.Store over one DynamoDB table.
//
// An aggregate is one item: an envelope of keys and version around one document, the aggregate as JSON. A change is one
// transaction, in which every aggregate is written on the condition that it is still at the version that was read.
// keys.go says where everything lies and what each access costs; the *_item.go files say how each entity is stored;
// plan.go makes a change into a transaction, and send.go gets it applied exactly once however often answers are lost.
//
// Nothing else in Guidon knows DynamoDB: failed conditions leave here as flags.Error kinds.
package dynamo

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	endpoints "github.com/aws/smithy-go/endpoints"
	"github.com/aws/smithy-go/logging"

	"guidon/pkg/flags"
)

// What one attempt may take, and the longest wait between two. The whole is bounded by the context's deadline alone.
const (
	attemptTimeout = 2 * time.Second
	maxBackoff     = 500 * time.Millisecond
)

// Options say which table, and where it is.
type Options struct {
	Table      string       // name of the table
	Endpoint   string       // address of an engine; "" for what the SDK finds, AWS_ENDPOINT_URL_DYNAMODB included
	HTTPClient *http.Client // nil for the default; tests put a faulty transport here
}

// Store is a flags.Store over one DynamoDB table.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ flags.Store = (*Store)(nil)

// Open makes a Store. It calls nothing: the first request finds out whether the table is there.
func Open(ctx context.Context, o Options) (*Store, error) {
	settings := []func(*config.LoadOptions) error{config.WithHTTPClient(newHTTPClient())}
	if o.Endpoint != "" { // a local engine takes any credentials, and must not wait for real ones to be found
		settings = append(settings, config.WithRegion("local"),
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("local", "local", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, settings...)
	if err != nil {
		return nil, err
	}
	client := dynamodb.NewFromConfig(cfg, func(options *dynamodb.Options) {
		options.Logger = logging.Nop{} // it tells of lost answers, which are dealt with, in lines of its own
		options.EndpointResolverV2 = &endpointOnce{resolver: options.EndpointResolverV2}
		if o.HTTPClient != nil {
			options.HTTPClient = o.HTTPClient
		}
		if o.Endpoint != "" {
			options.BaseEndpoint = aws.String(o.Endpoint)
		}
	})
	return &Store{client: client, table: o.Table}, nil
}

// Table is the name of the store's table.
func (s *Store) Table() string { return s.table }

// endpointOnce finds the table's address once. The SDK finds it anew for every call, which costs a fifth of a read: it
// compiles a regular expression each time. What it depends on, region and account, stays while a process lives.
type endpointOnce struct {
	resolver dynamodb.EndpointResolverV2
	found    atomic.Pointer[endpoints.Endpoint]
}

// ResolveEndpoint is the address, for reading only.
func (e *endpointOnce) ResolveEndpoint(ctx context.Context, p dynamodb.EndpointParameters) (endpoints.Endpoint, error) {
	if found := e.found.Load(); found != nil {
		return *found, nil
	}
	found, err := e.resolver.ResolveEndpoint(ctx, p)
	if err == nil {
		e.found.Store(&found)
	}
	return found, err
}

// newHTTPClient keeps enough connections open for a process that serves many callers at once.
func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTimeout(attemptTimeout).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	})
}
