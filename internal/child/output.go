package child

import (
	"bytes"
	"strings"
	"sync"
)

// Output keeps what a process prints. It may be used by several goroutines.
type Output struct {
	Limit int // keep only the last bytes; 0 keeps everything

	mu  sync.Mutex
	buf []byte
}

// Write appends to the output.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf, b...)
	if more := len(o.buf) - o.Limit; o.Limit > 0 && more > 0 {
		o.buf = bytes.Clone(o.buf[more:])
	}
	return len(b), nil
}

// String returns the output so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.buf)
}

// End returns the last 4 KiB, for error messages.
func (o *Output) End() string {
	s := o.String()
	return strings.TrimSpace(s[max(0, len(s)-4096):])
}
