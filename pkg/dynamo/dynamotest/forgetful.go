package dynamotest

import (
	"bytes"
	"io"
	"net/http"

	"github.com/google/uuid"
)

// Forgetful is a way to an engine that never recognises a transaction that is sent again: each goes out under a request
// token that the engine has not seen. AWS forgets tokens after ten minutes and dynoxide when it restarts. DynamoDB Local
// forgets none, whatever happens to it: it keeps them with the data, in the table tr of its file.
type FreshTokens struct{}

// RoundTrip sends a request under another token, if it has one.
func (FreshTokens) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	if _, rest, found := bytes.Cut(body, []byte(`"ClientRequestToken":"`)); found {
		token, _, _ := bytes.Cut(rest, []byte(`"`))
		body = bytes.Replace(body, token, []byte(uuid.NewString()), 1) // as long as the one that it replaces
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return keepAlive.RoundTrip(r)
}
