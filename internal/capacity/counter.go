package capacity

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
	"sync"
)

// A Counter adds up the calls of DynamoDB that pass through it, and their units.
type Counter struct {
	Next http.RoundTripper // nil for the default one

	mu   sync.Mutex
	cost Cost
}

// A Cost is what calls cost.
type Cost struct {
	Calls       int
	Read, Write float64
}

// RoundTrip sends a call.
func (c *Counter) RoundTrip(r *http.Request) (*http.Response, error) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(request))
	response, err := cmp.Or(c.Next, http.DefaultTransport).RoundTrip(r)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(content))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	read, write := Units(operation, request, content)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cost = Cost{c.cost.Calls + 1, c.cost.Read + read, c.cost.Write + write}
	return response, err
}

// During returns what the calls cost that f makes.
func (c *Counter) During(f func()) Cost {
	c.mu.Lock()
	c.cost = Cost{}
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cost
}
