package admin_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"guidon/pkg/httpapi"
)

// A tallyTransport counts the DynamoDB calls that write. It sends a read only once, until the next write.
type tallyTransport struct {
	mu     sync.Mutex
	writes int // began or ended
	reads  map[string]read
}

// readOnce is an option for tests whose requests read the same items again and again.
func readOnce(_ *httpapi.Config, transport *http.RoundTripper) {
	*transport = &tallyTransport{reads: map[string]read{}}
}

// A read is a response of the engine.
type read struct {
	response http.Response
	body     []byte
}

func (c *tallyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	target := r.Header.Get("X-Amz-Target")
	if _, operation, _ := strings.Cut(target, "."); !slices.Contains([]string{"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}, operation) {
		wrote(r.Context())
		c.forget()
		defer c.forget()
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	request := target + " " + string(body)
	c.mu.Lock()
	known, found := c.reads[request]
	writes := c.writes
	c.mu.Unlock()
	if !found {
		r.Body = io.NopCloser(bytes.NewReader(body))
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		known.response = *response
		if known.body, err = io.ReadAll(response.Body); err != nil {
			return nil, err
		}
		c.mu.Lock()
		if c.writes == writes && response.StatusCode == http.StatusOK {
			c.reads[request] = known
		}
		c.mu.Unlock()
	}
	response := known.response
	response.Body, response.Request = io.NopCloser(bytes.NewReader(known.body)), r
	return &response, nil
}

// forget is called before a write and after it, so that no read from before it is used.
func (c *tallyTransport) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	c.reads = map[string]read{}
}
