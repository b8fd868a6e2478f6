package dynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"guidon/pkg/backoff"
)

// The calls that nearly every request makes (BatchGetItem, Query and TransactWriteItems) take a short way through the SDK: one
// middleware takes the place of some forty. The client, its credentials, endpoint, signer and HTTP client stay those of the
// SDK. The body of the request is written and the response is read here, without a map of attributes for each item. That
// halves the processor time of a call (docs/performance). All other calls take the usual way.

// An exchange is one such call: it sends the same bytes in each attempt.
type exchange struct {
	body     []byte
	attempts *attempts
	read     func(response []byte) error // called with the response of each attempt that succeeded

	store   *Store
	options dynamodb.Options // of the client
}

// short is an option of a call that takes the short way. The result of the call is output, which is not filled in.
func (s *Store) short(e *exchange, output any) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		e.options, e.store = *o, s
		o.APIOptions = []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
			stack.Initialize.Clear()
			stack.Serialize.Clear()
			stack.Build.Clear()
			stack.Finalize.Clear()
			stack.Deserialize.Clear()
			name := stack.ID()
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Exchange", func(
				ctx context.Context, _ middleware.InitializeInput, _ middleware.InitializeHandler,
			) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
				return middleware.InitializeOutput{Result: output}, metadata, e.run(ctx, name)
			}), middleware.After)
		}}
	}
}

// run sends the request until there is a definite response or the context ends.
func (e *exchange) run(ctx context.Context, operation string) error {
	sum := sha256.Sum256(e.body)
	hash := hex.EncodeToString(sum[:])
	endpoint, err := e.endpoint(ctx)
	if err != nil {
		return err
	}
	signedAgain := false
	for attempt := 1; ; attempt++ {
		clockWrong, err := e.once(ctx, endpoint, operation, hash)
		if err == nil {
			return nil
		}
		if result, _ := classify(err); result == rejected && clockWrong && !signedAgain {
			signedAgain = true
			continue
		}
		if !e.attempts.IsErrorRetryable(err) {
			return err
		}
		delay, err := e.attempts.RetryDelay(attempt, err)
		if err != nil {
			return err
		}
		if !backoff.Sleep(ctx, delay) {
			return &aws.RequestCanceledError{Err: ctx.Err()}
		}
	}
}

func (e *exchange) endpoint(ctx context.Context) (string, error) {
	o := &e.options
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint,
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
	})
	return strings.TrimSuffix(endpoint.URI.String(), "/") + "/", err
}

// once is one attempt. Its errors are those that the SDK returns. clockWrong reports whether the response says that the request was
// signed with a wrong time.
func (e *exchange) once(ctx context.Context, endpoint, operation, hash string) (clockWrong bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(e.body))
	if err != nil {
		return false, err
	}
	request.Header["Content-Type"] = []string{"application/x-amz-json-1.0"}
	request.Header["X-Amz-Target"] = []string{"DynamoDB_20120810." + operation}
	request.Header["Accept-Encoding"] = []string{"identity"} // the checksum is that of the compressed response
	credentials, err := e.options.Credentials.Retrieve(ctx)
	if err != nil {
		return false, fmt.Errorf("credentials: %w", err)
	}
	offset, sent := e.store.clock.offset(), time.Now().Round(0) // without the monotonic clock, which may stop while a function is frozen
	if err := e.store.signer.SignHTTP(ctx, credentials, request, hash, "dynamodb", e.options.Region, sent.Add(offset)); err != nil {
		return false, err
	}
	response, err := e.store.transport.RoundTrip(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }() // all of it was read, or the connection is of no use
	clockWrong = e.store.clock.adjust(response.Header, sent, offset)
	body, err := readAll(response)
	if err != nil {
		return false, err
	}
	if response.StatusCode != http.StatusOK {
		return clockWrong, responseError(response, body)
	}
	return false, e.read(body)
}

// transact sends a transaction.
func (s *Store) transact(ctx context.Context, input *dynamodb.TransactWriteItemsInput, a *attempts) error {
	body, err := appendTransaction(make([]byte, 0, 4096), input)
	if err != nil {
		return err
	}
	e := &exchange{body: body, attempts: a, read: checkObject}
	_, err = s.client.TransactWriteItems(ctx, nil, s.short(e, &dynamodb.TransactWriteItemsOutput{}))
	return err
}
