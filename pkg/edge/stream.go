package edge

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

const (
	heartbeat     = 15 * time.Second // between comments, so that neither the SDK nor a proxy takes the stream for dead
	streamTimeout = 5 * time.Second  // of one write: a client that reads more slowly is closed
	streamsEnd    = 10 * time.Second // over which streams are closed at the end, so that their clients do not all come back at once
	aheadWait     = 5 * time.Second  // for the state that a client already has from another Edge
)

// streams counts and ends the streams.
type streams struct {
	group  sync.WaitGroup
	mu     sync.Mutex
	open   int
	ended  bool          // no new ones
	ending chan struct{} // closed when Edge ends
	over   time.Duration // streamsEnd; shorter in tests
}

var (
	errManyStreams = errors.New("Edge has as many streams as MAX_STREAMS allows; poll GET /api/client/features instead")
	errEnding      = flags.Errorf(flags.Unavailable, "this Edge is ending; try again, at another one")
)

// enter counts a new stream. The error is errManyStreams if there are too many, and errEnding if Edge ends.
func (s *streams) enter(most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return errEnding
	case s.open >= most:
		return errManyStreams
	}
	s.open++
	s.group.Add(1)
	return nil
}

// end closes the streams, and waits until they are closed. There are no new ones.
func (s *streams) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	close(s.ending)
	s.group.Wait()
}

func (s *streams) leave() {
	s.mu.Lock()
	s.open--
	s.mu.Unlock()
	s.group.Done()
}

func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// streaming responds to GET /api/client/streaming: first with all flags, or with what changed since Last-Event-ID, and then with each
// change. The ID of an event is the ETag of the delta.
func (e *Edge) streaming(w http.ResponseWriter, r *http.Request) error {
	a, query, err := e.selected(r)
	if err != nil {
		return err
	}
	if err := e.streams.enter(e.config.MaxStreams); errors.Is(err, errManyStreams) {
		w.Header().Set("Retry-After", strconv.Itoa(int(heartbeat.Seconds())))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"name":"TooManyRequestsError","message":%q}`, err.Error())
		return nil
	} else if err != nil {
		return err
	}
	begun := false
	defer func() {
		if !begun {
			e.streams.leave()
		}
	}()
	last := r.Header.Get("Last-Event-ID")
	if !a.awaitAhead(r, last) {
		return flags.Errorf(flags.Unavailable, "the client has newer flags than this Edge; try again")
	}
	first, last, err := e.frame(a, query, "unleash-connected", last)
	if err != nil {
		return err
	}
	begun = e.openStream(w, a, first, last, func(a application, last string) ([]byte, string, error) { return e.shared(a, query, last) })
	if !begun {
		return flags.Errorf(flags.Unavailable, "this connection cannot stream; poll GET /api/client/features instead")
	}
	return nil
}

// openStream takes the connection of a request, sends the head of the response and the first events, and then each change, see stream. The stream
// was entered, and leaves when it ends. It reports false if the connection cannot stream.
func (e *Edge) openStream(w http.ResponseWriter, a application, first []byte, last string, changes func(a application, last string) ([]byte, string, error)) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	_ = conn.SetDeadline(time.Time{})
	head := w.Header() // it can have CORS
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-cache")
	head.Set("X-Accel-Buffering", "no")
	head.Set("Connection", "close")
	var text bytes.Buffer
	text.WriteString("HTTP/1.1 200 OK\r\n")
	_ = head.Write(&text) // a buffer takes everything
	text.WriteString("\r\n")
	text.Write(first)
	// The goroutine and the buffers of the request would take five times the memory of the stream.
	go func() {
		defer e.streams.leave()
		defer conn.Close()
		e.stream(conn, a, text.Bytes(), last, changes)
	}()
	return true
}

// awaitAhead waits until Edge has the state that a client has from another Edge. It never gets an older one.
func (a *application) awaitAhead(r *http.Request, last string) bool {
	timeout := time.NewTimer(aheadWait)
	defer timeout.Stop()
	for {
		known := guidonTag.FindStringSubmatch(last)
		if known == nil || known[1] != a.state.revision.Epoch {
			return true
		}
		if number, err := strconv.ParseInt(known[2], 10, 64); err != nil || number <= a.state.revision.Number {
			return true
		}
		a.source.hurry()
		select {
		case <-a.state.next:
			a.state = a.source.state.Load()
		case <-timeout.C:
			return false
		case <-r.Context().Done():
			return false
		}
	}
}

// frame returns an event with what changed since the one with the ID last, and its own ID. Without changes there is none, but for the first.
func (e *Edge) frame(a application, query answers.Query, event, last string) (frame []byte, id string, err error) {
	q := answers.Request{}
	if last != "" && last != "*" {
		q.Tags = []string{last}
	}
	delta, err := e.responder.Delta(a.state.set, a.scope, query, q)
	if err != nil {
		return nil, last, err
	}
	id = strings.Join(delta.Header["Etag"], "")
	data := delta.Body
	if delta.Status == http.StatusNotModified {
		if event != "unleash-connected" {
			return nil, last, nil
		}
		data = []byte(`{"events":[]}`)
	}
	return fmt.Appendf(nil, "event: %s\nid: %s\ndata: %s\n\n", event, id, data), id, nil
}

// stream writes to a client until it is gone, too slow, or not allowed any more, or Edge ends. changes returns the event with what changed
// since the one with the ID last, if any, and its ID.
func (e *Edge) stream(conn net.Conn, a application, first []byte, last string, changes func(a application, last string) ([]byte, string, error)) {
	beat := time.NewTicker(jitter(e.heartbeat))
	defer beat.Stop()
	ending := e.streams.ending
	var end <-chan time.Time
	text := first
	for {
		if len(text) > 0 {
			_ = conn.SetWriteDeadline(time.Now().Add(e.streamTimeout))
			if _, err := conn.Write(text); err != nil {
				return
			}
		}
		text = nil
		select {
		case <-a.state.next:
			if a.state = a.source.state.Load(); !e.allowed(a) {
				return
			}
			var err error
			if text, last, err = changes(a, last); err != nil {
				return
			}
		case <-beat.C:
			if !e.allowed(a) {
				return
			}
			a.used.Store(time.Now().Unix())
			text = []byte(":\n\n")
		case <-ending:
			ending = nil
			end = time.After(time.Duration(rand.Int64N(int64(e.streams.over) + 1))) //nolint:gosec // G404: no secret
		case <-end:
			return
		}
	}
}

// allowed reports whether the token of a stream is still valid, and for the same.
func (e *Edge) allowed(a application) bool { return e.tokens.has(a.grant) && !a.source.dropped.Load() }

// A sharedFrame is the event of a state for all streams that were at the same point.
type sharedFrame struct {
	once sync.Once
	text []byte
	id   string
	err  error
}

// shared returns the event with what changed since last. It is made once for all streams of the same scope and query.
func (e *Edge) shared(a application, query answers.Query, last string) ([]byte, string, error) {
	return a.state.frame(last, func() ([]byte, string, error) { return e.frame(a, query, "unleash-updated", last) })
}

// frame returns an event that is made once for all streams with the same key: the ETag of a delta, which names the scope and the query.
func (s *state) frame(key string, render func() ([]byte, string, error)) ([]byte, string, error) {
	made, _ := s.frames.LoadOrStore(key, &sharedFrame{})
	f := made.(*sharedFrame)
	f.once.Do(func() { f.text, f.id, f.err = render() })
	return f.text, f.id, f.err
}
