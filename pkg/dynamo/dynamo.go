// Package dynamo is the store: it implements the interfaces that other packages declare, such as httpapi.Store,
// with one DynamoDB table.
//
// An aggregate is one item: its key, its version, and the aggregate as a JSON document. A change is one transaction. It
// writes each aggregate on the condition that the version is still the one that was read, together with the items that
// depend on it (list rows, unique names, counts) and the event of the change.
//
// Where to find what:
//
//	keys.go         the items of the table, and the calls and capacity units of each access
//	entity.go       the descriptor of an entity, and the table of all of them
//	*_item.go       the descriptor and the stored form of each entity
//	plan.go         converts a change to a transaction
//	dependents.go   list rows and unique names; project_guard.go and segment_guard.go have the counts
//	feed.go         the entry that a change adds to the feed; feed_item.go has its form, snapshot.go the snapshots
//	outbox.go       the entries for webhooks that a change adds, and what sending them needs
//	send.go         applies a transaction exactly once, even if responses are lost
//	attempts.go     retries a call, and classifies its errors
//	calls.go        the other calls: get, query, put, update
//	read.go, log.go loads, lists, and pages of the event log
//
// No other package knows about DynamoDB: a failed condition is returned as a flags.Error.
package dynamo

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"guidon/pkg/access"
	"guidon/pkg/awsconfig"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// AttemptTimeout is the timeout of one attempt, unless the call has a shorter one. The whole call is limited by backoff.Retries and by
// the context's deadline.
const AttemptTimeout = 2 * time.Second

// LocalRegion is the region of a local engine, which accepts any. It is one of AWS's: for others, the SDK compiles the patterns of all
// partitions in each call, which takes longer than the rest of the call.
const LocalRegion = "us-east-1"

// Options select the table.
type Options struct {
	Table      string       // name of the table
	Endpoint   string       // URL of a local engine; "" for the settings of the environment, including AWS_ENDPOINT_URL_DYNAMODB
	Config     *aws.Config  // instead of the environment's, for programs with other credentials than Lambda's; may be nil
	HTTPClient *http.Client // nil for the default; tests set a faulty transport
	RetryQuota uint         // tokens for retries of all calls, 5 or 10 each; 0 for the SDK's default of 500
}

// Store is the store, with one DynamoDB table.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ interface {
	flags.Store
	flags.SummaryStore
	flags.UseStore
	flags.EventStore
	flags.FeedStore
	flags.DeliveryStore
	flags.UnloggedStore
	flags.OutboxStore
	access.TokenUseStore
	usage.UsageReader
	usage.UsageStore
	usage.SumStore
} = (*Store)(nil)

// Open returns a Store. It makes no call, so a missing table is an error of the first request.
func Open(ctx context.Context, o Options) (*Store, error) {
	client, err := NewClient(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{client: client, table: o.Table}, nil
}

// NewClient returns a client for the engine of a store.
func NewClient(_ context.Context, o Options) (*dynamodb.Client, error) {
	cfg := awsconfig.FromEnvironment("DYNAMODB", AttemptTimeout)
	switch {
	case o.Config != nil:
		cfg = o.Config.Copy()
	case o.Endpoint != "": // a local engine accepts any credentials
		cfg.Region, cfg.Credentials = LocalRegion, credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	client := cmp.Or(o.HTTPClient, newHTTPClient())
	return dynamodb.NewFromConfig(cfg, func(options *dynamodb.Options) {
		options.Logger = logging.Nop{} // the SDK would log each lost response, which the store handles
		options.Retryer = newRetryer(o.RetryQuota)
		options.APIOptions = append(options.APIOptions, refuseIncomplete)
		options.HTTPClient = sender{client}
		if o.Endpoint != "" {
			options.BaseEndpoint = aws.String(o.Endpoint)
		}
	}), nil
}

// Table is the name of the store's table.
func (s *Store) Table() string { return s.table }

// newHTTPClient keeps enough idle connections for a process with many concurrent requests. It is not the client of the SDK, whose timeout
// takes two more goroutines for each request.
func newHTTPClient() *http.Client {
	transport := awshttp.NewBuildableClient().GetTransport()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 256, 256
	return &http.Client{Transport: transport, Timeout: AttemptTimeout}
}

// A sender sends the requests of the SDK so that their connections are used again. The SDK closes the body of a request once there is a
// response. If net/http looks for the end of the body after that, WriteTo of the SDK's body returns an error, and net/http closes the
// connection. So WriteTo is hidden.
type sender struct{ *http.Client }

// Do implements the HTTPClient of the SDK.
func (s sender) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return s.Client.Do(r) //nolint:gosec // G704: the URL is the SDK's
}
