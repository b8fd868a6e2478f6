package edge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	// silence is how long the stream of an upstream may say nothing. Upstreams send a comment at least every 30 seconds.
	silence = time.Minute

	// minFollowPause is how long Edge waits after a stream has ended, at least.
	minFollowPause = time.Second
)

// follow listens to the stream of the upstream that responded last, until the context ends. An upstream without streams is asked again
// after maxPause.
func (s *source) follow(ctx context.Context) {
	pause := minFollowPause
	for ctx.Err() == nil {
		began := time.Now()
		if upstream := s.from.Load(); upstream != nil && !isPublication(*upstream) {
			err := s.listen(ctx, *upstream)
			if pause *= 2; time.Since(began) > maxPause {
				pause = minFollowPause
			}
			if ctx.Err() == nil && statusOf(err) == 0 {
				s.edge.warn("stream of "+s.environment, "the stream of the upstream has ended; Edge asks it for changes, and tries again", err)
			}
		}
		sleep(ctx, jitter(min(pause, maxPause)))
	}
}

// listen wakes the goroutine that reads at each event of a stream. What has changed is in the delta: so all flags come from one place, with
// the same checks, whether there is a stream or not.
func (s *source) listen(ctx context.Context, upstream string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if now := s.state.Load(); now != nil && now.tag != "" {
		header.Set("Last-Event-ID", now.tag)
	}
	req, err := s.edge.client.request(ctx, http.MethodGet, upstream+"/api/client/streaming", s.token, header, nil)
	if err != nil {
		return err
	}
	endless := *s.edge.client.http
	endless.Timeout = 0
	resp, err := endless.Do(req) //nolint:gosec // G704: the operator names the upstreams
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &statusError{status: resp.StatusCode}
	}
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	lines := bufio.NewReader(resp.Body)
	for {
		line, partial, err := lines.ReadLine()
		for rest := partial; rest && err == nil; { // the data of an event is one line, of any length
			_, rest, err = lines.ReadLine()
		}
		if err != nil {
			return err
		}
		quiet.Reset(silence)
		if *s.from.Load() != upstream {
			return errors.New("another upstream comes first")
		}
		if bytes.HasPrefix(line, []byte("event: unleash-")) {
			signal(s.wake)
		}
	}
}
