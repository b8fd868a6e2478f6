package edge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"guidon/pkg/answers"
)

// The event streams of OFREP 0.3 tell pages to evaluate again. A page opens one with the browser's EventSource, which sends no headers.
const (
	eventsPath  = "/ofrep/v1/events/"
	spread      = 300 * time.Millisecond // over which pages are told of a change, so that they do not all ask at once
	recentState = time.Minute            // by which the state of a page that opens a stream can be behind: it may come from another Edge
	unknown     = "unknown"              // the ID of the event for a ticket that Edge does not know
)

// A page repeats its evaluation and its stream once a second, for ever, if a stream begins with anything but a 200. So one that it cannot
// have begins with a 200, says when to come back, and ends. After 30 seconds without a stream, a provider asks for its flags instead:
// then it learns that it has no stream, or no valid token.
const (
	soon  = 5 * time.Second // for a token that Edge will know by then, or another Edge
	later = time.Minute
)

// ticketOf returns the secret in the URL of a token's event stream. It allows nothing but this stream, for as long as the token is valid,
// at each Edge that knows the token.
func ticketOf(token hash) string {
	mac := hmac.New(sha256.New, token[:])
	mac.Write([]byte("an event stream of OFREP"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// withTicket returns the grant of the token with a ticket, or nil.
func (t *tokens) withTicket(ticket string) *grant {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.known {
		if g.ticket == ticket {
			return g
		}
	}
	return nil
}

// pageStreams is how many streams there can be when a page opens another one. The rest is for SDKs: tokens of pages are public.
func (e *Edge) pageStreams() int { return e.config.MaxStreams - e.config.MaxStreams/10 }

// eventsOf returns the path of a token's event stream, or "" if there is no room for another one. listens is for a page that has one.
func (e *Edge) eventsOf(g *grant, listens bool) string {
	if room := e.pageStreams() - e.streams.count(); e.config.Command == "extension" || e.config.MaxStreams == 0 || room <= 0 && !listens {
		return ""
	}
	return e.config.BasePath + eventsPath + g.ticket
}

// events responds to the stream of a ticket: an event whenever the token's flags may have changed. Its ID is the ETag of the delta.
func (e *Edge) events(w http.ResponseWriter, r *http.Request, ticket string) error {
	last := r.Header.Get("Last-Event-ID")
	g := e.tokens.withTicket(ticket)
	switch {
	case g == nil && last == unknown:
		return comeBack(w, later, "")
	case g == nil: // the page evaluates again, with its token
		return comeBack(w, soon, newHint(unknown, true))
	}
	g.used.Store(time.Now().Unix())
	a := application{grant: g}
	var err error
	if a.source, err = e.sourceOf(g); err == nil {
		err = e.awaitFirst(r.Context(), &a)
	}
	if err != nil {
		return comeBack(w, soon, "")
	}
	if err := e.streams.enter(e.pageStreams()); errors.Is(err, errManyStreams) {
		return comeBack(w, later, "")
	} else if err != nil { // another Edge
		return comeBack(w, soon, "")
	}
	id, changed := answers.ChangedSince(a.state.set, a.scope, last)
	if last == "" {
		changed = time.Since(a.state.taken) < recentState
	}
	first := fmt.Appendf(nil, "retry: %d\n%s", jitter(soon).Milliseconds(), newHint(id, changed))
	if !e.openStream(w, a, first, id, e.hint) {
		e.streams.leave()
		return comeBack(w, later, "")
	}
	return nil
}

// comeBack begins and ends a stream, after an event. The page opens it again after a pause.
func comeBack(w http.ResponseWriter, pause time.Duration, event string) error {
	return writeText(w, "text/event-stream", fmt.Sprintf("retry: %d\n%s\n", jitter(pause).Milliseconds(), event))
}

// newHint returns an event that tells a page to evaluate again, or only the ID from which it continues.
func newHint(id string, changed bool) string {
	if !changed {
		return "id: " + id + "\n\n"
	}
	data, err := json.Marshal(map[string]string{"type": "refetchEvaluation", "etag": id})
	if err != nil {
		panic(err) // texts
	}
	return fmt.Sprintf("id: %s\ndata: %s\n\n", id, data)
}

// hint returns the event for what changed since last, if that is something that the token reads. Pages are told within spread.
func (e *Edge) hint(a application, last string) ([]byte, string, error) {
	time.Sleep(rand.N(e.spread))                                                     //nolint:gosec // G404: no secret
	return a.state.frame("ofrep "+last, func() (text []byte, id string, err error) { // last is one that Edge made
		now, changed := answers.ChangedSince(a.state.set, a.scope, last)
		if !changed {
			return nil, last, nil
		}
		return []byte(newHint(now, true)), now, nil
	})
}
