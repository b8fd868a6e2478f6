// Package printed keeps what processes print, for those who start them to read while they run.
package printed

import (
	"bytes"
	"sync"
)

// Output is what a process has printed so far. Several goroutines may write and read it.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to it.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// String is all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// End is the last of it, 4 KiB: a gateway writes a line a request.
func (o *Output) End() string {
	s := o.String()
	return s[max(0, len(s)-4096):]
}
