package dynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/go-json-experiment/json"

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
	for attempt := 1; ; attempt++ {
		err := e.once(ctx, endpoint, operation, hash)
		if err == nil || !e.attempts.IsErrorRetryable(err) {
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

// once is one attempt. Its errors are those that the SDK returns.
func (e *exchange) once(ctx context.Context, endpoint, operation, hash string) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(e.body))
	if err != nil {
		return err
	}
	request.Header["Content-Type"] = []string{"application/x-amz-json-1.0"}
	request.Header["X-Amz-Target"] = []string{"DynamoDB_20120810." + operation}
	request.Header["Accept-Encoding"] = []string{"identity"} // the checksum is that of the compressed response
	credentials, err := e.options.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if err := e.store.signer.SignHTTP(ctx, credentials, request, hash, "dynamodb", e.options.Region, time.Now()); err != nil {
		return err
	}
	response, err := e.store.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // all of it was read, or the connection is of no use
	body, err := readAll(response)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return responseError(response, body)
	}
	return e.read(body)
}

// maxResponse is more than the largest response of DynamoDB, in bytes.
const maxResponse = 32 << 20

// readAll reads the body of a response and compares it with its checksum.
func readAll(response *http.Response) ([]byte, error) {
	size := response.ContentLength
	if size < 0 || size > maxResponse { // a local engine does not send it
		size = 4 << 10
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buffer.ReadFrom(response.Body); err != nil {
		return nil, err
	}
	body := buffer.Bytes()
	if want := response.Header.Get("X-Amz-Crc32"); want != "" {
		if got := strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10); got != want {
			return nil, fmt.Errorf("the checksum of the response is %s, expected %s", got, want)
		}
	}
	return body, nil
}

// responseError converts an error of DynamoDB to that of the SDK.
func responseError(response *http.Response, body []byte) error {
	var document struct {
		Type    string `json:"__type"`
		Message string `json:"message,case:ignore"`
		Reasons []struct {
			Code    *string
			Message *string
		} `json:"CancellationReasons"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Errorf("status %d without an error document: %w", response.StatusCode, err)
	}
	_, code, found := strings.Cut(document.Type, "#")
	if !found {
		code = document.Type
	}
	var err error = &smithy.GenericAPIError{Code: code, Message: document.Message}
	if code == (&types.TransactionCanceledException{}).ErrorCode() {
		canceled := &types.TransactionCanceledException{Message: &document.Message}
		for _, reason := range document.Reasons {
			canceled.CancellationReasons = append(canceled.CancellationReasons, types.CancellationReason{Code: reason.Code, Message: reason.Message})
		}
		err = canceled
	}
	return &awshttp.ResponseError{
		RequestID:     response.Header.Get("X-Amzn-Requestid"),
		ResponseError: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: response}, Err: err},
	}
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

// checkObject returns an error for a response that is no JSON object: it did not come from DynamoDB.
func checkObject(response []byte) error {
	if trimmed := bytes.TrimSpace(response); len(trimmed) < 2 || trimmed[0] != '{' || trimmed[len(trimmed)-1] != '}' {
		return errors.New("the response is not a JSON object")
	}
	return nil
}
