package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/session"
)

// A Tx is one attempt at an operation: a transaction. The function of an operation reads aggregates from it, changes them
// by the rules of pkg/flags, and hands them to Save or Delete; the runner commits all of it at once, on condition that
// nothing of it was changed by others since it was read. If it was, the function runs again on a new Tx. So a function has
// no effects but through its Tx, and may run more than once.
//
// Reads return copies: what they return may be changed. A read that fails, also one of something that must exist and does
// not, ends the attempt: it does not return. Reads named Find return nil for what does not exist. Lists are for reading: to
// change what a list returned, read it by its key.
//
// A read costs a call of the store only if what it reads was not loaded before. The runner loads what the place of the
// operation and Operation.Ahead name together with the caller's token; Load adds to that. Both are hints: a missing one
// costs a call, and changes nothing else.
type Tx struct {
	Caller access.Caller
	Now    time.Time // to the millisecond, the same for the whole round
	Limits flags.Limits

	ctx     context.Context
	service *service
	request *request
	round   *round
	item    int // of Many.Each; -1 outside of it

	copies   map[flags.Key]flags.Aggregate // what reads have returned
	asked    map[string]int                // how many values of a kind the attempt asked for (see ids.go)
	collect  bool                          // whether a key that is not loaded ends the attempt (see Many.Each)
	change   flags.Change
	steps    []*Tx                                                    // see Step
	stepView *round                                                   // what they see; nil without steps
	approved func(part flags.GuardedPart, env flags.Environment) bool // see Approved
	asPlan   bool                                                     // see AsPlan
	group    string                                                   // see Group
	skips    *Skips                                                   // see NoteSkips
	events   []flags.Event
	after    []func(ctx context.Context, store Store) error // see After
	assumed  flags.ReviewAssumption                         // see guard
	retry    bool                                           // whether NameExists is a lost race
	secret   bool                                           // whether the response may hold a secret (see NoStore)
	location string
	download string
	cookies  []string // Set-Cookie headers
	header   http.Header
}

// A round is what the attempts of a round share. Everything is loaded once.
type round struct {
	view    flags.View         // nil for a key that was loaded and does not exist
	again   map[flags.Key]bool // keys that were read again (see Tx.Again)
	memo    map[any]any        // the results of queries, see OncePerRound
	values  map[value]any      // see ids.go
	missing []flags.Key        // keys that an attempt needed and did not find loaded; it ended, and the next one finds them (see collect)
	reload  []flags.Key        // the same for Tx.Again
	dry     bool               // nothing is committed (see Many.DryRun)

	added map[string]int // flags by earlier items of a dry run, by the UID of the project

	changed map[flags.Key]flags.Aggregate // by earlier items of a dry run or earlier steps: what was there before; nil for nothing
	base    *round                        // of the steps of a transaction: the round of the transaction
	version int                           // of such a round: how many steps have changed something
}

// A versionedQuery is the key of a query in the memo that was made after some steps had changed something.
type versionedQuery struct {
	version int
	key     any
}

// recall returns the result of a query. Those of steps are in the memo of the transaction, so that a function which runs again finds them.
func (r *round) recall(key any) (result any, known bool) {
	if r.base == nil {
		result, known = r.memo[key]
		return result, known
	}
	if r.version > 0 {
		key = versionedQuery{r.version, key}
	}
	return r.base.recall(key)
}

func (r *round) remember(key, result any) {
	if r.base == nil {
		r.memo[key] = result
		return
	}
	if r.version > 0 {
		key = versionedQuery{r.version, key}
	}
	r.base.remember(key, result)
}

func newRound() *round {
	return &round{view: flags.View{}, again: map[flags.Key]bool{}, memo: map[any]any{}, values: map[value]any{}, changed: map[flags.Key]flags.Aggregate{}, added: map[string]int{}}
}

// attempt is a new Tx of the same round for an item.
func (tx *Tx) attempt(item int) *Tx {
	return &Tx{
		Caller: tx.Caller, Now: tx.Now, Limits: tx.Limits, ctx: tx.ctx, service: tx.service, request: tx.request, round: tx.round,
		item: item, copies: map[flags.Key]flags.Aggregate{}, asked: map[string]int{},
	}
}

// aborted is the panic by which a read ends an attempt. Only try recovers it.
type aborted struct{ err error }

// Fail ends the attempt with an error.
func (tx *Tx) Fail(err error) { panic(aborted{err}) }

// errNotLoaded ends an attempt that is to note the keys it needs instead of loading them.
var errNotLoaded = errors.New("not loaded yet")

// try runs a function that may be ended by a read, and returns its error.
func try(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case aborted:
			err = p.err
		default:
			panic(p)
		}
	}()
	return f()
}

// Query is the query's parameters. A Place that needs some of them reads them in Parse, so that a fault is found early.
func (tx *Tx) Query() Query {
	query, _ := tx.service.query(tx.request.http, tx.request.op) // begin has refused a malformed one
	return query
}

// AcceptsGzip tells whether the caller accepts a compressed response.
func (tx *Tx) AcceptsGzip() bool { return AcceptsGzip(tx.request.http) }

// CheckTime ends the attempt once the time of the request is over. Loops over many flags call it.
func (tx *Tx) CheckTime() {
	if tx.ctx.Err() != nil {
		tx.Fail(flags.Errorf(flags.Unavailable, "the request took too long, and nothing was changed; try again, or ask for less at a time"))
	}
}

// Alarms reads CloudWatch alarms; nil if this service reads none.
func (tx *Tx) Alarms() *Alarms { return tx.service.config.Alarms }

// Load brings aggregates in one call, for later reads.
func (tx *Tx) Load(keys ...flags.Key) {
	var unknown []flags.Key
	for _, key := range keys {
		if _, known := tx.round.view[key]; !known {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return
	}
	if tx.collect {
		tx.round.missing = append(tx.round.missing, unknown...)
		tx.Fail(errNotLoaded)
	}
	tx.must(tx.round.load(tx.ctx, tx.service.store, unknown))
}

// Again reads aggregates another time, in one call: for what must have been read after something else. Later reads return what it
// found.
func (tx *Tx) Again(keys ...flags.Key) {
	if tx.round.dry { // what the dry run has changed is not in the store
		tx.Load(keys...)
		return
	}
	var old []flags.Key
	for _, key := range keys {
		if _, changed := tx.round.changed[key]; !changed && !tx.round.again[key] {
			old = append(old, key)
		}
	}
	if len(old) > 0 && tx.collect {
		tx.round.reload = append(tx.round.reload, old...)
		tx.Fail(errNotLoaded)
	}
	tx.must(tx.round.loadAgain(tx.ctx, tx.service.store, old))
	for _, key := range keys {
		delete(tx.copies, key)
	}
}

func (tx *Tx) must(err error) {
	if err != nil {
		tx.Fail(err)
	}
}

func (r *round) load(ctx context.Context, store Store, keys []flags.Key) error {
	if len(keys) == 0 {
		return nil
	}
	keys = flags.Distinct(keys)
	found, err := store.Load(ctx, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		r.view[key] = found[key]
		if r.base != nil {
			r.base.view[key] = found[key]
		}
	}
	return nil
}

func (r *round) loadAgain(ctx context.Context, store Store, keys []flags.Key) error {
	if err := r.load(ctx, store, keys); err != nil {
		return err
	}
	for _, key := range keys {
		r.again[key] = true
	}
	return nil
}

// OncePerRound computes something once for all items of a round of Many.Each or Many.DryRun. The items must not change it.
//
// The key has a type of its own for each use, with all that the result depends on, except the request and what is stored.
func OncePerRound[T any, K comparable](tx *Tx, key K, compute func() T) T {
	return memoized(tx, key, func() (T, error) { return compute(), nil })
}

// memoized is the result of a query, which is made once in a round for each key. The key has a type of its own for each query,
// with all arguments of the query.
func memoized[T any, K comparable](tx *Tx, key K, query func() (T, error)) T {
	if result, known := tx.round.recall(key); known {
		return result.(T)
	}
	result, err := query()
	tx.must(err)
	tx.round.remember(key, result)
	return result
}

// Read returns the result of a query of the store, which is made once in a round for each key. The key is as for OncePerRound, with all
// arguments of the query.
func Read[T any, K comparable](tx *Tx, key K, query func(ctx context.Context, store Store) (T, error)) T {
	return memoized(tx, key, func() (T, error) { return query(tx.ctx, tx.service.store) })
}

// OncePerRequest does something once in a request, although the operation can run several times: use it for things that can
// happen only once, or that call a service other than the store. The key is as for OncePerRound.
func OncePerRequest[T any, K comparable](tx *Tx, key K, do func(ctx context.Context) T) T {
	if done, known := tx.request.done[key]; known {
		return done.(T)
	}
	done := do(tx.ctx)
	tx.request.done[key] = done
	return done
}

// literal is an argument of a query that cannot be compared, such as a list, as text: different ones have different texts.
func literal(argument any) string { return fmt.Sprintf("%#v", argument) }

// A copyable is an aggregate that can be copied.
type copyable[A any] interface {
	flags.Aggregate
	Clone() A
}

// Find is a copy of the aggregate at key, always the same one; nil when it does not exist.
func Find[A copyable[A]](tx *Tx, key flags.Key) (none A) {
	if given, known := tx.copies[key]; known {
		return given.(A)
	}
	tx.Load(key)
	stored, exists := tx.round.view[key].(A)
	if !exists {
		return none
	}
	given := stored.Clone()
	tx.copies[key] = given
	return given
}

// Was is an aggregate as it is stored, before the function changed its copy. It must not be changed. A new one is nil.
func Was[A flags.Aggregate](tx *Tx, a A) (stored A) {
	if tx.hasRead(a) {
		stored, _ = tx.round.view[a.Key()].(A)
	}
	return stored
}

// hasRead reports whether an aggregate is a copy of what is stored, or of what an earlier step has created. Others are new.
func (tx *Tx) hasRead(a flags.Aggregate) bool {
	return flags.VersionOf(a) != 0 || tx.copies[a.Key()] == a
}

// Save writes aggregates with the event that records the change when the operation commits. An aggregate of version 0, which was
// never stored, is created. Further calls add aggregates and events to the same transaction. Unchanged aggregates are not written, and
// without a changed aggregate no event is stored.
func (tx *Tx) Save(e flags.Event, aggregates ...flags.Aggregate) {
	for _, after := range aggregates {
		tx.change.Writes = append(tx.change.Writes, flags.Write{Before: tx.storedFor(after), After: after})
	}
	tx.events = append(tx.events, e)
}

// SaveFavorites stores the favorites of the caller when the operation commits. They are no change that others see, so there is no event.
func (tx *Tx) SaveFavorites(after *flags.Favorites) {
	if tx.storedFor(after) == nil && len(after.Flags)+len(after.Projects) == 0 {
		return
	}
	tx.SaveUnlogged(after)
}

// SaveUnlogged stores an aggregate without an event when the operation commits.
func (tx *Tx) SaveUnlogged(after flags.Aggregate) {
	before := tx.storedFor(after)
	tx.After(func(ctx context.Context, store Store) error { return store.PutUnlogged(ctx, before, after) })
}

// Delete deletes an aggregate when the operation commits, and saves others in the same transaction.
func (tx *Tx) Delete(e flags.Event, gone flags.Aggregate, others ...flags.Aggregate) {
	tx.change.Writes = append(tx.change.Writes, flags.Write{Before: tx.storedFor(gone)})
	tx.Save(e, others...)
}

// AlsoDelete deletes another aggregate with the first one, unless it was never stored.
func (tx *Tx) AlsoDelete(gone flags.Aggregate) {
	if before := tx.storedFor(gone); before != nil {
		tx.change.Writes = append(tx.change.Writes, flags.Write{Before: before})
	}
}

// storedFor is what an aggregate replaces; nil for a new one.
func (tx *Tx) storedFor(a flags.Aggregate) flags.Aggregate {
	key := a.Key()
	stored := tx.round.view[key]
	if !tx.hasRead(a) {
		if _, changed := tx.round.changed[key]; changed && stored != nil {
			tx.Fail(flags.Errorf(flags.NameExists, "the %s %q exists already", key.Entity, key.ID))
		}
		return nil
	}
	if stored == nil && flags.VersionOf(a) != 0 {
		tx.Fail(flags.Errorf(flags.Internal, "internal error: an aggregate was written that this transaction did not load"))
	}
	return stored
}

// Assume has the change committed only if aggregates, which are stored, still are as they were read. Otherwise the function runs again.
func (tx *Tx) Assume(aggregates ...flags.Aggregate) {
	tx.change.Unchanged = append(tx.change.Unchanged, aggregates...)
}

// After runs do when the function has returned without an error and its change, if any, has been committed. Use it for effects that
// change no aggregates. A caller who gets no response may repeat the request, so do must be safe to run twice.
func (tx *Tx) After(do func(ctx context.Context, store Store) error) {
	tx.after = append(tx.after, do)
}

// RetryNameExists treats a name that is taken when the change is committed as a lost race: the operation runs again, and
// then chooses another name, or finds what has it.
func (tx *Tx) RetryNameExists() { tx.retry = true }

// Created tells the path at which what was created is read: below path, by name.
func (tx *Tx) Created(path, name string) { tx.location = path + "/" + url.PathEscape(name) }

// Download has a browser save the response as a file of that name.
func (tx *Tx) Download(name string) { tx.download = name }

// Redirect sends the browser to another URL. The status of the operation must be a redirect.
func (tx *Tx) Redirect(to string) { tx.location = to }

// SetHeader adds a header to the response. It is only sent if the operation succeeds.
func (tx *Tx) SetHeader(name, value string) {
	if tx.header == nil {
		tx.header = http.Header{}
	}
	tx.header.Set(name, value)
}

// SetCookie has the browser keep a cookie. It is only sent if the operation succeeds.
func (tx *Tx) SetCookie(cookie *http.Cookie) {
	tx.cookies = append(tx.cookies, cookie.String())
	tx.NoStore()
}

// Cookies are the cookies of the request.
func (tx *Tx) Cookies() []*http.Cookie { return tx.request.http.Cookies() }

// CheckSameOrigin returns Forbidden if the browser says that the request comes from a page of another origin.
func (tx *Tx) CheckSameOrigin() error { return tx.service.config.CheckSameOrigin(tx.request.http) }

// SignedIn is the user whose session the browser has; nil without one. It is for operations that need no token.
func (tx *Tx) SignedIn() *access.User {
	claim := tx.service.config.Of(tx.request.http)
	if claim == nil {
		return nil
	}
	tx.Load(claim.Keys()...)
	caller, err := claim.Caller(tx.round.view, tx.Now)
	if err != nil {
		return nil
	}
	return caller.User
}

// SignIn are the settings of the people who sign in.
func (tx *Tx) SignIn() session.Settings { return tx.service.config.Settings }

// Open reports whether every caller is an administrator, without a token or session (AUTH_TYPE=none).
func (tx *Tx) Open() bool { return tx.service.config.Open }

// PublicURL is the URL that people use, without a slash at its end: PUBLIC_URL, or that of the request.
func (tx *Tx) PublicURL() string {
	return cmp.Or(tx.service.config.PublicURL, "https://"+tx.request.http.Host)
}

// CheckWebhook returns the reason why events cannot be sent to a URL, see Config.
func (tx *Tx) CheckWebhook(url string) error {
	if check := tx.service.config.CheckWebhook; check != nil {
		return check(url)
	}
	return nil
}

// Warn writes a line to the log after the operation. It must not have names.
func (tx *Tx) Warn(message string, attrs ...slog.Attr) {
	tx.After(func(ctx context.Context, _ Store) error {
		if logger := tx.service.config.Logger; logger != nil {
			logger.LogAttrs(ctx, slog.LevelWarn, message, attrs...)
		}
		return nil
	})
}

// NoStore forbids clients and proxies to store the response, because it may hold a secret. It then has no ETag.
func (tx *Tx) NoStore() { tx.secret = true }
