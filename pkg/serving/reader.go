package serving

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"guidon/pkg/access"
	"guidon/pkg/backoff"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// ReaderOptions configure a Reader.
type ReaderOptions struct {
	// MaxAge is how long answers may come from memory without asking the store (CLIENT_MAX_AGE). 0, the default, means
	// never: every answer is up to date. Tokens that are in no state, and refusals, which are confirmed, cost reads of their own.
	MaxAge time.Duration

	Open bool // AUTH_TYPE=none: an unknown token is as good as a known one

	// UnknownReads is how many reads for unknown tokens alone are made in a second; 0 for no limit. A request waits for one at most as long as
	// there is between two. It is for a process that serves many requests at a time: others share the read, and waiting costs nothing.
	UnknownReads int

	Now    func() time.Time                                     // nil for time.Now
	Report func(ctx context.Context, problem string, err error) // gets what went wrong without harm, such as a snapshot that could not be read; nil for nothing
}

// A Reader brings the memory of one instance up to date for each request. It implements Source.
type Reader struct {
	store   Store
	options ReaderOptions
	id      string // holds the lease for reading everything

	// A request never waits for a read that began before it, since that could miss a change that was acknowledged in
	// between. Requests that arrive while a read is running wait for the next one together, and share it: with many
	// requests at once, this halves the processor time of each. If a read takes long, the next one does not wait for it.
	mu      sync.Mutex
	waiting *sharedRead
	running int

	// updating is held by the read that brings the state up to date. Others wait for it, and usually find it done.
	updating chan struct{}

	state *State    // the newest; nil before the first read of flags. Guarded by mu
	asked time.Time // when the last read began that the state comes from, or that found it up to date. Guarded by mu

	// known has the tokens that were in no state and valid when they were used, by hash: those of administrators, and those that were
	// read before there was a state. They are read with the feed when they are used again. Guarded by mu.
	known   map[string]knownToken
	unknown *rate.Limiter // of reads for unknown tokens
}

// A knownToken is a token and when the read began that found it.
type knownToken struct {
	token *access.Token
	at    time.Time
}

var _ Source = (*Reader)(nil)

// The most reads at the same time, and the most tokens in one: a batch has at most 100 keys. A read begins beside others
// after slowRead, or if it has all the tokens that it can have.
const (
	maxReads  = 4
	maxTokens = 48
	slowRead  = 20 * time.Millisecond
)

// readTimeout bounds a shared read. It does not end with the request that began it, because others wait for it too.
const readTimeout = 25 * time.Second

// A Store is what a Reader reads, and where it stores its snapshots.
type Store interface {
	flags.Store
	flags.SummaryStore
	flags.FeedStore
}

// NewReader returns a reader. It reads nothing yet.
func NewReader(store Store, options ReaderOptions) *Reader {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Report == nil {
		options.Report = func(context.Context, string, error) {}
	}
	unknown := rate.NewLimiter(cmp.Or(rate.Limit(options.UnknownReads), rate.Inf), options.UnknownReads)
	return &Reader{store: store, options: options, id: uuid.NewString(), updating: make(chan struct{}, 1), unknown: unknown}
}

// Read returns a reading, see Source.
func (r *Reader) Read(ctx context.Context, hash string, lookUp bool) (Reading, error) {
	if reading, ok := r.fromMemory(hash, r.options.MaxAge); ok && reading.State != nil {
		return reading, nil
	}
	return r.share(ctx, hash, lookUp, true)
}

// Again returns a reading from a read that begins after the call, see Source.
func (r *Reader) Again(ctx context.Context, hash string) (Reading, error) {
	return r.share(ctx, hash, true, true)
}

// reportAge is how old the token of a report of usage may be. That of a poll or an evaluation may be as old as its flags: MaxAge.
const reportAge = 10 * time.Second

// recent is Read for a report of usage, which needs no flags: the state may be older, or nil. A new instance reads the token alone, and
// leaves the flags to the first poll or evaluation, or to the first report when that token is too old.
func (r *Reader) recent(ctx context.Context, hash string, lookUp bool) (Reading, error) {
	if reading, ok := r.fromMemory(hash, max(r.options.MaxAge, reportAge)); ok {
		return reading, nil
	}
	return r.share(ctx, hash, lookUp, false)
}

// share returns a reading from a shared read. With lookUp, the read also brings the token if it is in no state. Without flagsToo, an instance
// that has no state yet reads the token alone.
func (r *Reader) share(ctx context.Context, hash string, lookUp, flagsToo bool) (Reading, error) {
	for {
		read, joined := r.join(hash, lookUp, flagsToo)
		select {
		case <-read.done:
		case <-ctx.Done():
			return Reading{}, flags.Errorf(flags.Unavailable, "the store did not answer in time; try again")
		}
		switch {
		case !joined: // it was full
		case read.err != nil:
			return Reading{}, read.err
		default:
			return read.of(hash), nil
		}
	}
}

// A sharedRead is one read of the store for several requests.
type sharedRead struct {
	hashes map[string]bool   // of tokens that no state has yet, and whether to look them up if the next one lacks them
	flags  bool              // whether a request needs flags: without one, only tokens are read if there is no state
	wanted bool              // by a request with a known token, or its turn has come: it may begin
	turn   *rate.Reservation // when it may begin for unknown tokens alone; nil if it was wanted at once
	late   *time.Timer       // begins the read although another one is running; may be nil
	done   chan struct{}     // closed when the others are set
	view   flags.View
	state  *State // nil if only tokens were read
	err    error
}

// of returns the reading of a token. The state has the tokens of applications; only other tokens count as they were looked up: the
// item of a token may not be changed yet when the feed tells that it was deleted.
func (read *sharedRead) of(hash string) Reading {
	token := flags.Find[*access.Token](read.view, access.TokenKey(hash))
	if read.state != nil && (token == nil || ofApplication(token)) {
		token = read.state.Tokens[hash]
	}
	return Reading{Token: token, State: read.state, Current: true}
}

// ofApplication reports whether a state has a token if it is valid.
func ofApplication(token *access.Token) bool {
	return token.Type == access.ClientToken || token.Type == access.FrontendToken
}

// join adds a request to the next read, and begins that read unless enough are running. It returns false if the read has all the tokens that
// it can have: there is room in the one after it.
//
// Reads for unknown tokens alone are limited, because everybody can send such tokens: they wait for their turn, or for a request with a known
// token. All that wait share the read, so a new token never depends on how many unknown ones came before it.
func (r *Reader) join(hash string, lookUp, flagsToo bool) (read *sharedRead, joined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if read = r.waiting; read == nil {
		read = &sharedRead{hashes: map[string]bool{}, done: make(chan struct{})}
		r.waiting = read
	}
	defer r.beginWanted()
	_, known := r.known[hash]
	flagsToo = flagsToo || known // only a state tells whether its project was deleted
	read.flags = read.flags || flagsToo
	inNoState := hash != "" && (r.state == nil && !flagsToo || r.state != nil && r.state.Tokens[hash] == nil)
	unknown := inNoState && !known && !r.options.Open
	// The limiter has the monotonic clock: one that is set back would refuse until it has caught up.
	switch now := r.options.Now(); {
	case read.wanted:
	case !unknown:
		read.wanted = true
		if read.turn != nil {
			read.turn.CancelAt(now)
		}
	case read.turn == nil:
		read.turn = r.unknown.ReserveN(now, 1)
		wait := read.turn.DelayFrom(now)
		if read.wanted = wait == 0; !read.wanted {
			time.AfterFunc(wait, func() { r.takeTurn(read) })
		}
	}
	lookUp = hash != "" && (lookUp || known) && (r.state == nil || r.state.Tokens[hash] == nil) // a state has all other tokens
	if hash != "" && (lookUp || r.state == nil) {
		if _, has := read.hashes[hash]; !has && len(read.hashes) >= maxTokens {
			return read, false
		}
		read.hashes[hash] = read.hashes[hash] || lookUp
	}
	return read, true
}

// takeTurn begins a read that was waiting for its turn.
func (r *Reader) takeTurn(read *sharedRead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == read {
		read.wanted = true
		r.beginWanted()
	}
}

// beginWanted begins the next read if it is wanted and no other is running, or if it is full. Otherwise it begins after slowRead at the
// latest. r.mu is held.
func (r *Reader) beginWanted() {
	read := r.waiting
	switch {
	case !read.wanted:
	case r.running == 0 || len(read.hashes) >= maxTokens:
		r.begin()
	case read.late == nil:
		read.late = time.AfterFunc(slowRead, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.waiting == read && r.running < maxReads {
				r.begin()
			}
		})
	}
}

// begin begins the next read. r.mu is held.
func (r *Reader) begin() {
	read := r.waiting
	if read.late != nil {
		read.late.Stop()
	}
	r.waiting = nil
	r.running++
	go r.run(read)
}

// run is the read. Whatever the store does, applications get a 503 and no 500, which some SDKs repeat at once.
func (r *Reader) run(read *sharedRead) {
	defer func() {
		if p := recover(); p != nil { // in a goroutine it would end the process
			read.err = &flags.Error{Kind: flags.Internal, Message: "internal error; search the log for this id", Err: httpapi.PanicError(p)}
		}
		close(read.done)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running--
		if r.waiting != nil && r.waiting.wanted && r.running < maxReads {
			r.begin()
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	read.err = r.read(ctx, read)
	if e, ok := errors.AsType[*flags.Error](read.err); ok && e.Kind == flags.Internal {
		read.err = &flags.Error{Kind: flags.Unavailable, Message: e.Message, Err: e.Err}
	}
}

// read reads the feed, and tokens that are in no state, in one call, and brings the state up to date. A store that refuses this call
// because of load is not called again: the request is refused, and the SDK keeps its flags until its next poll. The calls that follow a
// change, or that a new instance makes, are few, and are repeated.
func (r *Reader) read(ctx context.Context, read *sharedRead) error {
	began, state := r.wallClock(), r.current()
	var keys []flags.Key
	for hash, lookUp := range read.hashes {
		if lookUp || state == nil {
			keys = append(keys, access.TokenKey(hash))
		}
	}
	var err error
	if polls := backoff.WithRetries(ctx, backoff.Polls); state == nil && !read.flags {
		read.view, err = r.store.Load(polls, keys)
	} else if read.view, err = r.loadFeed(polls, keys, state == nil); err == nil {
		read.state, err = r.update(ctx, read.view)
	}
	if err == nil {
		r.remember(read, began)
	}
	return err
}

// loadFeed loads the feed with other keys, in one call, and with the head of the snapshots if asked for.
func (r *Reader) loadFeed(ctx context.Context, keys []flags.Key, withSnapshot bool) (flags.View, error) {
	keys = append(keys, flags.FeedKey())
	if withSnapshot {
		keys = append(keys, flags.SnapshotKey())
	}
	return r.store.Load(ctx, keys)
}

// update returns a state that includes the feed of a view.
func (r *Reader) update(ctx context.Context, view flags.View) (*State, error) {
	feed := feedOf(view)
	if state := r.current(); state != nil && state.Epoch == feed.Epoch && state.Number >= feed.Number {
		return state, nil
	}
	select {
	case r.updating <- struct{}{}:
		defer func() { <-r.updating }()
	case <-ctx.Done():
		return nil, flags.Errorf(flags.Unavailable, "the store did not answer in time; try again")
	}
	state := r.current()
	if state != nil && state.Epoch != feed.Epoch { // either may be the older one
		again, err := r.loadFeed(ctx, nil, true)
		if err != nil {
			return nil, err
		}
		view, feed = again, feedOf(again)
	}
	var err error
	switch {
	case state == nil || state.Epoch != feed.Epoch:
		state, err = r.start(ctx, view)
	case state.Number < feed.Number:
		state, err = r.advance(ctx, state, feed)
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
	return state, nil
}

// feedOf returns the feed of a view. Before the first change there is none.
func feedOf(view flags.View) *flags.Feed {
	if feed := flags.Find[*flags.Feed](view, flags.FeedKey()); feed != nil {
		return feed
	}
	return &flags.Feed{}
}

func (r *Reader) current() *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// wallClock returns the time without the monotonic clock, which can stand still while an instance is frozen.
func (r *Reader) wallClock() time.Time { return r.options.Now().Round(0) }

// maxKnown bounds the tokens that are in no state and remembered.
const maxKnown = 1000

// remember notes when the state was found up to date, and which of the tokens that are in no state are valid.
func (r *Reader) remember(read *sharedRead, began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if read.state != nil && (began.After(r.asked) || r.asked.After(r.wallClock())) { // the clock was set back
		r.asked = began
	}
	for hash, lookUp := range read.hashes {
		token := read.of(hash).Token
		switch {
		case read.state != nil && read.state.Tokens[hash] != nil:
		case token == nil || token.Deleted:
			if lookUp {
				delete(r.known, hash)
			}
		default:
			if r.known == nil || len(r.known) >= maxKnown {
				r.known = map[string]knownToken{}
			}
			r.known[hash] = knownToken{token, began}
		}
	}
}

// fromMemory returns a reading that is younger than an age. Its state is nil if only the token is as young.
func (r *Reader) fromMemory(hash string, age time.Duration) (reading Reading, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	young := func(at time.Time) bool {
		since := r.wallClock().Sub(at)
		return since >= 0 && since < age
	}
	if r.state != nil && young(r.asked) {
		reading = Reading{Token: r.state.Tokens[hash], State: r.state}
	}
	known, ok := r.known[hash]
	if reading.Token == nil && ok && young(known.at) && (reading.State == nil || !ofApplication(known.token)) {
		reading.Token = known.token
	}
	return reading, reading.Token != nil || hash == "" && reading.State != nil
}
