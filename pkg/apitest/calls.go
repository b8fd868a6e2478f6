package apitest

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// A Counter records the DynamoDB calls that pass through it, and the bytes of their responses, which the read units follow.
type Counter struct {
	mu    sync.Mutex
	calls []string
	bytes atomic.Int64
}

// RoundTrip records a call and makes it.
func (c *Counter) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.mu.Lock()
	c.calls = append(c.calls, operation)
	c.mu.Unlock()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = countedBody{response.Body, &c.bytes}
	}
	return response, err
}

// Cost returns the calls that f makes, and the bytes of their responses.
func (c *Counter) Cost(f func()) (calls string, bytes int) {
	c.bytes.Store(0)
	calls = strings.Join(c.During(f), " ")
	return calls, int(c.bytes.Load())
}

// During returns the calls that f makes.
func (c *Counter) During(f func()) []string {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// An Interruption is a transport that does something once between the decision about a change and its transaction.
type Interruption struct {
	mu sync.Mutex
	Do func()
}

// RoundTrip calls Do before the next transaction.
func (i *Interruption) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		i.mu.Lock()
		do := i.Do
		i.Do = nil
		i.mu.Unlock()
		if do != nil {
			do()
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A countedBody counts what is read of a body.
type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b countedBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}
