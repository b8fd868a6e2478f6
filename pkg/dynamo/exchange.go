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

	"guidon/pkg/backoff"
)

// The calls that nearly every request makes (BatchGetItem, Query and TransactWriteItems) take a short way: they do not pass
// the SDK's forty middlewares, and not the maps of attributes that it makes of each item. The options of the client, its
// credentials, endpoint, signer and HTTP client stay those of the SDK. That halves the processor time of a call
// (docs/performance). All other calls take the usual way.

// An exchange is one such call: it sends the same bytes in each attempt.
type exchange struct {
	operation string // of DynamoDB's API
	body      []byte
	attempts  *attempts
	read      func(response []byte) error // called with the response of each attempt that succeeded
}

// run sends the request until there is a definite response or the context ends.
func (s *Store) run(ctx context.Context, e *exchange) error {
	sum := sha256.Sum256(e.body)
	hash := hex.EncodeToString(sum[:])
	endpoint, err := s.endpoint(ctx)
	if err != nil {
		return err
	}
	signedAgain := false
	for attempt := 1; ; attempt++ {
		clockWrong, err := s.once(ctx, e, endpoint, hash)
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

func (s *Store) endpoint(ctx context.Context) (string, error) {
	o := &s.options
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint,
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
	})
	return strings.TrimSuffix(endpoint.URI.String(), "/") + "/", err
}

// once is one attempt. Its errors are those that the SDK returns. clockWrong reports whether the response says that the request was
// signed with a wrong time.
func (s *Store) once(ctx context.Context, e *exchange, endpoint, hash string) (clockWrong bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(e.body))
	if err != nil {
		return false, err
	}
	request.Header["Content-Type"] = []string{"application/x-amz-json-1.0"}
	request.Header["X-Amz-Target"] = []string{"DynamoDB_20120810." + e.operation}
	request.Header["Accept-Encoding"] = []string{"identity"} // the checksum is that of the compressed response
	credentials, err := s.options.Credentials.Retrieve(ctx)
	if err != nil {
		return false, fmt.Errorf("credentials: %w", err)
	}
	offset, sent := s.clock.offset(), time.Now().Round(0) // without the monotonic clock, which may stop while a function is frozen
	if err := s.signer.SignHTTP(ctx, credentials, request, hash, "dynamodb", s.options.Region, sent.Add(offset)); err != nil {
		return false, err
	}
	response, err := s.transport.RoundTrip(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }() // all of it was read, or the connection is of no use
	clockWrong = s.clock.adjust(response.Header, sent, offset)
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
	return s.run(ctx, &exchange{operation: "TransactWriteItems", body: body, attempts: a, read: checkObject})
}
