package dynamo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxResponse is more than the largest response of DynamoDB, in bytes: 16 MB of items, whose documents are at most twice as long
// as JSON strings.
const maxResponse = 40 << 20

// readAll reads the body of a response and compares it with its checksum.
func readAll(response *http.Response) ([]byte, error) {
	size := response.ContentLength
	if size < 0 || size > maxResponse { // a local engine does not send it
		size = 4 << 10
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buffer.ReadFrom(io.LimitReader(response.Body, maxResponse+1)); err != nil {
		return nil, err
	}
	body := buffer.Bytes()
	if len(body) > maxResponse {
		return nil, fmt.Errorf("the response is larger than %d MiB", maxResponse>>20)
	}
	if want := response.Header.Get("X-Amz-Crc32"); want != "" {
		if got := strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10); got != want {
			return nil, fmt.Errorf("the checksum of the response is %s, expected %s", got, want)
		}
	}
	return body, nil
}

// An errorDocument is the body of an error response. It can be empty.
type errorDocument struct {
	Type    string `json:"__type"`
	Code    any    `json:"code"` // instead of the type in some responses
	Message string `json:"message"`
	Reasons []struct {
		Code    *string
		Message *string
	} `json:"CancellationReasons"`
}

// responseError converts an error of DynamoDB to that of the SDK.
func responseError(response *http.Response, body []byte) error {
	var document errorDocument
	var err error
	if len(bytes.TrimSpace(body)) > 0 {
		err = json.Unmarshal(body, &document, json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	}
	if err != nil {
		err = &smithy.DeserializationError{Err: fmt.Errorf("no error document: %w", err)}
	} else {
		err = document.error(response.Header.Get("X-Amzn-ErrorType"))
	}
	return &awshttp.ResponseError{
		RequestID:     response.Header.Get("X-Amzn-Requestid"),
		ResponseError: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: response}, Err: err},
	}
}

// error is the error of a document. Its code is in a header or in the body, perhaps with a namespace before it and a URL after it.
func (d *errorDocument) error(header string) error {
	const unknown = "UnknownError"
	inBody, _ := d.Code.(string)
	code, _, _ := strings.Cut(cmp.Or(header, d.Type, inBody, unknown), ":")
	if _, name, found := strings.Cut(code, "#"); found {
		code = name
	}
	if code != (&types.TransactionCanceledException{}).ErrorCode() {
		return &smithy.GenericAPIError{Code: code, Message: cmp.Or(d.Message, unknown)}
	}
	canceled := &types.TransactionCanceledException{Message: &d.Message}
	for _, reason := range d.Reasons {
		canceled.CancellationReasons = append(canceled.CancellationReasons, types.CancellationReason{Code: reason.Code, Message: reason.Message})
	}
	return canceled
}

// A malformedItem is the error for an item whose attributes this package has not written. To read it again does not help.
type malformedItem struct{ problem string }

// Error says what is wrong.
func (e *malformedItem) Error() string { return "dynamo: " + e.problem }

// checkObject returns an error for a response that is no JSON object: it did not come from DynamoDB.
func checkObject(response []byte) error {
	if trimmed := bytes.TrimSpace(response); len(trimmed) < 2 || trimmed[0] != '{' || trimmed[len(trimmed)-1] != '}' {
		return errors.New("the response is not a JSON object")
	}
	return nil
}

// A clock is that of DynamoDB, which refuses requests that were signed more than some minutes ago. It is as far from the clock
// of this machine as the last response said. The SDK's usual way has its own.
type clock struct{ ahead atomic.Int64 }

// tolerance is how far the clock of this machine may be wrong.
const tolerance = 4 * time.Minute

// offset is how far the clock of DynamoDB is ahead.
func (c *clock) offset() time.Duration { return time.Duration(c.ahead.Load()) }

// adjust reads the time of a response to a request that was sent at a time and signed with an offset. It reports whether that
// offset was wrong. A response that took minutes, such as one to a function that was frozen meanwhile, says nothing.
func (c *clock) adjust(header http.Header, sent time.Time, signedWith time.Duration) (wrong bool) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || header.Get("Age") != "" || time.Now().Round(0).Sub(sent) > tolerance { // Age: of a cache
		return false
	}
	ahead := time.Until(date)
	if ahead.Abs() < tolerance {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
	return (ahead - signedWith).Abs() >= tolerance
}
