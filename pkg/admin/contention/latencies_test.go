package contention

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// How long DynamoDB takes, about.
const (
	read        = 4 * time.Millisecond // or a write of one item
	transaction = 10 * time.Millisecond
	perItem     = 250 * time.Microsecond // of a transaction
	refusal     = 5 * time.Millisecond
)

// latencies is a transport whose requests take as long as those of DynamoDB.
type latencies struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (l latencies) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	takes, start := read, time.Now()
	if strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		takes = transaction + time.Duration(bytes.Count(body, []byte(`"TableName"`)))*perItem
	}
	response, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusBadRequest {
		takes = refusal
	}
	takes = takes*3/4 + time.Duration(min(3, rand.ExpFloat64())*float64(takes)/4) // rarely above one and a half times
	select {
	case <-time.After(takes - time.Since(start)):
		return response, nil
	case <-req.Context().Done():
		_ = response.Body.Close()
		return nil, req.Context().Err()
	}
}
