package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// Callers that send or read slowly hold memory, so large bodies share a budget. A body that finds no room in time gets a 503, and so does one
// that finds no room to wait: a response that waits is in memory, too. Small bodies need no room: they wait for nobody.
const (
	maxBody          = 10 << 20 // bytes of any request body, as in API Gateway
	smallBody        = 64 << 10 // bytes
	requestsInFlight = 32 << 20 // bytes of large request bodies that are being read or served
	answersInFlight  = 64 << 20 // bytes of large response bodies that are being sent
	roomWait         = 2 * time.Second
)

// A response must be read at slowestReader bytes per second after a grace, so that large lists and exports still reach slow networks.
const (
	readGrace     = 30 * time.Second
	slowestReader = 64 << 10
)

var errNoRoom = errors.New("too many large bodies are being sent at the same time; try again")

// A budget is a number of bytes that large bodies share. As many bytes of others can wait.
type budget struct {
	*semaphore.Weighted
	waiting *semaphore.Weighted
}

func newBudget(bytes int64) budget {
	return budget{semaphore.NewWeighted(bytes), semaphore.NewWeighted(bytes)}
}

// take waits for room for a body, and returns the function that gives it back.
func (b budget) take(ctx context.Context, size int) (release func(), err error) {
	if size <= smallBody {
		return func() {}, nil
	}
	n := int64(size)
	if !b.waiting.TryAcquire(n) {
		return nil, errNoRoom
	}
	defer b.waiting.Release(n)
	ctx, cancel := context.WithTimeout(ctx, roomWait)
	defer cancel()
	if b.Acquire(ctx, n) != nil {
		return nil, errNoRoom
	}
	return func() { b.Release(n) }, nil
}

// readBody reads a request body. Of a body that is larger than limit, it keeps one byte more than that: the function then refuses it
// after it has checked the token.
func (b budget) readBody(r *http.Request, limit int) (body []byte, release func(), err error) {
	size, sent := limit+1, io.Reader(r.Body)
	switch {
	case r.ContentLength > maxBody:
		return nil, nil, errTooLarge
	case r.ContentLength >= 0 && r.ContentLength < int64(size):
		size = int(r.ContentLength)
	case r.ContentLength < 0: // unknown: most are small
		if body, err = io.ReadAll(io.LimitReader(r.Body, smallBody)); err == nil && len(body) < smallBody && len(body) <= limit {
			return body, func() {}, nil
		}
		sent = io.MultiReader(bytes.NewReader(body), r.Body)
	}
	if release, err = b.take(r.Context(), size); err != nil {
		return nil, nil, err
	}
	if body, err = io.ReadAll(io.LimitReader(sent, int64(limit)+1)); err == nil && len(body) > limit {
		_, err = io.CopyN(io.Discard, r.Body, maxBody) // a caller that is still sending would not see the response
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("the body could not be read to its end: %w", err)
	}
	return body, release, nil
}
