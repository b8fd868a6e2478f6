package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"guidon/internal/capacity"
)

// A counter passes requests to a DynamoDB, and counts them and the units that AWS would bill.
type counter struct {
	next http.Handler

	mu          sync.Mutex
	calls       map[string]int
	read, write float64
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.read, c.write = map[string]int{}, 0, 0
}

// String lists the calls.
func (c *counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, operation := range slices.Sorted(maps.Keys(c.calls)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.calls[operation], operation))
	}
	return strings.Join(parts, ", ")
}

func (c *counter) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, calls := range c.calls {
		n += calls
	}
	return n
}

func (c *counter) units() (read, write float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read, c.write
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	c.next.ServeHTTP(answer, r)
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	read, write := capacity.Units(operation, body, answer.Body.Bytes())
	c.mu.Lock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[operation]++
	c.read, c.write = c.read+read, c.write+write
	c.mu.Unlock()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}
