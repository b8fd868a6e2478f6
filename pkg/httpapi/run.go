package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/backoff"
	"guidon/pkg/flags"
	"guidon/pkg/session"
)

// A service runs operations: it does all their input and output.
type service struct {
	store        Store
	config       Config
	warm         atomic.Bool  // whether a request was served
	conflicts    atomic.Int64 // how often another writer was first, since the last line of the log
	counts       counts       // of successful requests of applications
	uses         *TokenUses
	owners       owners
	cors         *cors
	frontendCORS *cors
	page         http.Handler                         // of the site; nil without one
	plain        func(bytes int, now time.Time) error // of files, see NewPlainBudget
}

// A request has at most this long: the function's own deadline less what it needs to respond, or maxDuration without one.
const (
	maxDuration = 15 * time.Second
	toAnswer    = time.Second
)

// A request is what stays the same in all rounds of a request.
type request struct {
	http     *http.Request
	op       *Operation
	session  *session.Claim // nil without one, or if the operation does not ask for the caller
	claim    string         // the hash of the session or token; "" without one
	place    Place
	placeErr error
	bodyRead bool
	body     any           // decoded; not to be changed
	values   map[value]any // ids that were taken, see ids.go
	done     map[any]any   // see OncePerRequest
	rounds   int
}

func (s *service) handler(op Operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		o := outcome{route: op.Route, status: op.status(), openFeature: op.OpenFeature}
		req := &request{http: r, op: &op, place: op.Handle.newPlace(), values: map[value]any{}, done: map[any]any{}}
		if s.needsToken(&op) {
			req.session = s.config.Of(r)
			req.claim = claimOf(r, req.session)
		}
		query, malformed := s.query(r, &op)
		if req.placeErr = malformed; malformed == nil {
			req.placeErr = try(func() error { return Request{r, query}.parse(req.place) })
		}
		ctx, cancel := context.WithDeadline(r.Context(), s.deadline(r.Context()))
		defer cancel()
		o.body, o.from, o.err = s.run(ctx, req)
		o.rounds, o.took = req.rounds, time.Since(started)
		s.respond(w, r, o)
	})
}

// run is a request from start to end. It returns the response, and the transaction that tells how to send it.
func (s *service) run(ctx context.Context, req *request) (answer any, from *Tx, err error) {
	m := &Many{ctx: ctx, service: s, request: req}
	if many := req.op.Handle.many; many != nil {
		if m.first, err = s.begin(ctx, req); err != nil {
			return nil, nil, err
		}
		answer, err = many(m, req.place, req.body)
		return answer, m.last, err
	}
	answer, err = m.until(func(tx *Tx) (any, bool, error) {
		answer, err := req.op.Handle.one(tx, req.place, req.body)
		return answer, true, err
	})
	return answer, m.last, err
}

// begin begins a round: it loads what the place names, and checks all that can be wrong before the operation itself: the
// caller, the caller's permissions, the body, the place. Each round does that again, on the state that it sees.
func (s *service) begin(ctx context.Context, req *request) (*Tx, error) {
	req.rounds++
	tx := (&Tx{
		Now: s.config.Now().UTC().Truncate(time.Millisecond), Limits: s.config.Limits,
		ctx: ctx, service: s, request: req, round: newRound(),
	}).attempt(-1)
	return tx, try(func() error {
		if err := tx.loadFirst(); err != nil {
			return err
		}
		if err := tx.authenticate(); err != nil {
			return err
		}
		tx.Caller.Agent = AgentOf(req.http)
		if err := tx.allowed(); err != nil {
			return err
		}
		if err := req.readBody(s.config.Limits); err != nil {
			return err
		}
		if registry, loaded := tx.round.view[flags.EnvironmentsKey()]; loaded && registry == nil {
			return ErrNotSetUp
		}
		return req.placeErr
	})
}

// feedShare: one change in eight loads the feed, and can move its older entries out of it (see flags.Change). If all did, each
// would cost more, and those that run at the same time would conflict with each other.
const feedShare = 8

// loadFirst brings the caller's token or session and what the operation is known to read, in one call, or in two if invalid tokens came
// (see owners). With a request of a caller that may change something, it brings the registry of addons, to which the events of the change may
// have to be sent; without a caller, commit brings it, so that a stranger's request does not read it.
func (tx *Tx) loadFirst() error {
	req, owner := tx.request, anyone.FavoritesKey()
	keys := slices.Concat(req.place.Keys(), req.op.Ahead)
	if tx.service.needsToken(req.op) {
		if req.claim == "" {
			return nil // authenticate refuses it
		}
		claimed := tx.claimed()
		var first bool
		if owner, first = tx.service.owners.find(req.claim, tx.Now); first {
			if err := tx.loadCredential(claimed); err != nil {
				return err
			}
		} else {
			keys = append(keys, claimed...)
		}
		if req.session == nil {
			keys = append(keys, access.TokenUseKey(req.claim))
		} else {
			owner = access.Caller{User: &access.User{ID: req.session.User()}}.FavoritesKey()
		}
	}
	if i := slices.Index(keys, CallersFavorites); i >= 0 {
		keys = slices.Delete(keys, i, i+1)
		if owner != "" {
			keys = append(keys, flags.FavoritesKey(owner))
		}
	}
	if req.op.Permission != "" && req.http.Method != http.MethodGet && req.http.Method != http.MethodHead {
		keys = append(keys, flags.AddonsKey())
		if rand.N(feedShare) == 0 { //nolint:gosec // spreading load is no secret
			keys = append(keys, flags.FeedKey())
		}
	}
	return tx.round.load(tx.ctx, tx.service.store, keys)
}

// loadCredential loads and checks the token or session of the request alone; of a session first whether there is one, because the user's
// item can be large.
func (tx *Tx) loadCredential(claimed []flags.Key) error {
	if session := tx.request.session; session != nil {
		key := access.SessionsKey(session.User())
		if err := tx.round.load(tx.ctx, tx.service.store, []flags.Key{key}); err != nil {
			return err
		}
		if sessions := flags.Find[*access.Sessions](tx.round.view, key); !sessions.Has(session.Hash(), tx.Now) {
			tx.service.owners.distrust(tx.request.claim, tx.Now)
			return access.ErrSessionEnded
		}
	}
	if err := tx.round.load(tx.ctx, tx.service.store, claimed); err != nil {
		return err
	}
	_, _, err := tx.credential()
	return err
}

// claimed are the keys of the token or session of the request, which has one.
func (tx *Tx) claimed() []flags.Key {
	if session := tx.request.session; session != nil {
		return session.Keys()
	}
	return []flags.Key{access.TokenKey(tx.request.claim)}
}

// decide runs the function of an operation, and checks what it changes (see guard). In tests it runs twice, which must give the same (see Config.Twice).
func (tx *Tx) decide(f func(tx *Tx) (any, error)) (answer any, err error) {
	run := func(tx *Tx) (answer any, err error) {
		err = try(func() (err error) {
			if answer, err = f(tx); err == nil {
				err = tx.guard()
			}
			if err == nil {
				err = tx.checkNewFlags()
			}
			return err
		})
		return answer, err
	}
	answer, err = run(tx)
	kind := flags.KindOf(err)
	failed := err != nil && (kind == flags.Unavailable || kind == flags.Internal) // the second run may fail in another way
	if twice := tx.service.config.Twice; twice != nil && !failed && !errors.Is(err, errNotLoaded) {
		again := tx.attempt(tx.item)
		again.collect = tx.collect
		second, secondErr := run(again)
		twice(tx.request.op.Route, tx.result(answer, err), again.result(second, secondErr))
	}
	return answer, err
}

// A Result is everything that the function of an operation did: see Config.Twice.
type Result struct {
	Answer   any
	Err      string
	Writes   []flags.Write
	Events   []flags.Event
	Location string
	Download string
	Cookies  []string
}

func (tx *Tx) result(answer any, err error) Result {
	r := Result{Answer: answer, Writes: tx.writes(), Events: tx.allEvents(), Location: tx.location, Download: tx.download, Cookies: tx.cookies}
	if err != nil {
		r = Result{Err: err.Error()}
	}
	return r
}

// commit commits what the function saved and deleted, and then does what it asked for with After.
func (tx *Tx) commit() error {
	if len(tx.writes()) > 0 {
		if err := tx.loadAddons(); err != nil {
			return err
		}
		if err := tx.commitError(tx.service.store.Commit(tx.ctx, tx.signed())); err != nil {
			return err
		}
	}
	for _, do := range tx.after {
		if err := do(tx.ctx, tx.service.store); err != nil {
			return err
		}
	}
	return nil
}

// loadAddons brings the registry of addons where loadFirst did not.
func (tx *Tx) loadAddons() error {
	if _, loaded := tx.round.view[flags.AddonsKey()]; loaded {
		return nil
	}
	return tx.round.load(tx.ctx, tx.service.store, []flags.Key{flags.AddonsKey()})
}

// signed is the change with its steps and events, each event with an id, a time and the caller.
func (tx *Tx) signed() flags.Change {
	var steps []flags.Change
	for _, step := range tx.steps {
		if len(step.change.Writes) > 0 {
			steps = append(steps, step.signed())
		}
	}
	if len(tx.change.Writes) > 0 {
		own := tx.change
		own.Assumed = tx.assumed
		for i, e := range tx.events {
			if e = tx.Sign(e); i == 0 {
				own.Event = e
			} else {
				own.MoreEvents = append(own.MoreEvents, e)
			}
		}
		steps = append(steps, own)
	}
	change := steps[0]
	change.Then = steps[1:]
	change.Feed, _ = tx.round.view[flags.FeedKey()].(*flags.Feed)
	change.Addons, _ = tx.round.view[flags.AddonsKey()].(*flags.Addons)
	return change
}

// Sign gives an event an id, a time and the caller. Events that Save takes are signed when they are committed.
func (tx *Tx) Sign(e flags.Event) flags.Event {
	e.ID, e.CreatedBy, e.UserID, e.Agent = orderedID(), tx.Caller.Name, tx.Caller.UserID(), tx.Caller.Agent
	e.CreatedAt = flags.EventTime(e.ID) // not tx.Now: the log is searched by time, in the order of ids
	if tx.group != "" {
		e.GroupType, e.GroupID = flags.RequestGroup, tx.group
	}
	return e
}

// commitError translates the error of a commit.
func (tx *Tx) commitError(err error) error {
	if tx.retry && flags.KindOf(err) == flags.NameExists {
		err = flags.Errorf(flags.VersionConflict, "the name has been taken in the meantime")
	}
	if flags.KindOf(err) == flags.VersionConflict {
		tx.service.conflicts.Add(1)
	}
	return err
}

// conflicted is the error of a request that lost every race until its time was over.
func conflicted(err error, begun bool) *flags.Error {
	message := "other requests kept changing this, and nothing was changed; try again"
	if begun {
		message = "only a part was done; send the same request again to do the rest"
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: message}
}

// orderedID is an id that sorts by time.
func orderedID() string { return uuid.Must(uuid.NewV7()).String() }

func (s *service) deadline(ctx context.Context) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Add(-toAnswer)
	}
	return time.Now().Add(maxDuration)
}

// A race counts how often in a row another writer was first.
type race struct {
	lost  int
	since time.Time // of the first time
}

// pause waits before another round. It returns false when the time is over.
func (r *race) pause(ctx context.Context) bool {
	if r.lost++; r.lost == 1 {
		r.since = time.Now()
	}
	return backoff.Sleep(ctx, backoff.Delay(r.lost, time.Since(r.since)))
}

// DefaultMaxBody is the largest body of an operation that sets no other, in bytes.
const DefaultMaxBody = 1 << 20

// readBody checks the type (415) and size (413) of the body and decodes it (400), once in a request.
func (req *request) readBody(limits flags.Limits) error {
	if req.bodyRead {
		return nil
	}
	req.bodyRead = true
	body, err := ReadBody(req.http, req.op.maxBody())
	if err != nil {
		return err
	}
	if decode := req.op.Handle.decode; decode != nil {
		req.body, err = decode(body, limits)
	}
	return err
}

// formatSize returns a size in MiB, or in KiB if it is smaller.
func formatSize(bytes int) string {
	if bytes < 1<<20 {
		return strconv.Itoa(bytes>>10) + " KiB"
	}
	return strconv.Itoa(bytes>>20) + " MiB"
}
