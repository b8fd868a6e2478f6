package dynamotest

import (
	"bytes"
	"io"
	"net/http"

	"github.com/google/uuid"
)

// FreshTokens is a transport that replaces the request token of each transaction, so that the engine never recognizes one
// that is sent again. It simulates an engine that has forgotten the tokens: AWS does after ten minutes, and dynoxide when
// it restarts. DynamoDB Local never does, because it stores them with the data, in the table tr of its file.
type FreshTokens struct{}

// RoundTrip sends a request with another token, if it has one.
func (FreshTokens) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	if _, rest, found := bytes.Cut(body, []byte(`"ClientRequestToken":"`)); found {
		token, _, _ := bytes.Cut(rest, []byte(`"`))
		body = bytes.Replace(body, token, []byte(uuid.NewString()), 1) // of the same length
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return keepAlive.RoundTrip(r)
}
