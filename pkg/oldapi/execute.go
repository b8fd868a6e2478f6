package oldapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// An executor does the I/O of every operation.
type executor struct {
	store      flags.Store
	config     Config
	warm       atomic.Bool  // whether a request was served
	conflicts  atomic.Int64 // how often another writer was first, since the last line of the log
	touchAgain atomic.Int64 // when the last use of a token may be noted again after that failed, in Unix milliseconds
}

// What a request may take: the function's own deadline less what it needs to answer, or maxDuration where there is none.
const (
	maxDuration = 15 * time.Second
	toAnswer    = time.Second
)

func (e *executor) handler(op Operation) http.Handler {
	keys := keysOf(op.Reads)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		execute := e.execute
		if op.Decide.batch != nil {
			execute = e.executeBatch
		}
		d, rounds, err := execute(r, op, keys)
		e.respond(w, r, outcome{route: op.Route, decision: d, err: err, rounds: rounds, took: time.Since(started)})
	})
}

// execute is a request from start to end: load, decide, commit. When another writer was first, all of it is done again
// on the new state, authorisation included, until the deadline; so no change is lost and none is refused by mistake.
func (e *executor) execute(r *http.Request, op Operation, keys func(*http.Request) []flags.Key) (decision, int, error) {
	ctx, cancel := context.WithDeadline(r.Context(), e.deadline(r.Context()))
	defer cancel()
	in := input{op: op, request: r}
	begun := false // whether a part was made of a change of several
	for round := 1; ; round++ {
		d, err := e.round(ctx, r, op, keys, &in)
		switch kind := flags.KindOf(err); {
		case err == nil && d.unfinished:
			begun = true
		case err == nil:
			return d, round, nil
		case kind == flags.VersionConflict:
			if !pause(ctx, round) {
				return decision{}, round, outrun(err, begun)
			}
		case begun: // whatever it is, a part was made, and the caller must know
			return decision{}, round, outrun(err, begun)
		default:
			return decision{}, round, err
		}
	}
}

// outrun says that others were first until time was up.
func outrun(err error, begun bool) *flags.Error {
	message := "too many others changed this at the same time, and nothing was changed; try again"
	if begun {
		message = "only a part of this was done; try again, and the rest is done or refused"
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: message}
}

func (e *executor) round(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key, in *input) (decision, error) {
	c, err := e.prepare(ctx, r, op, keys, in)
	if err != nil {
		return decision{}, err
	}
	d, err := op.Decide.decide(c, in.value)
	if err != nil {
		return d, err
	}
	d.secret = op.Decide.seals
	return d, e.commit(ctx, d)
}

// prepare loads what a decision takes, and sees to all that can be wrong before it: who calls, what they may, what they
// sent, what the path names.
func (e *executor) prepare(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key, in *input) (*call, error) {
	c := &call{
		now: e.config.Now().UTC().Truncate(time.Millisecond), newID: uuid.NewString, limits: e.config.Limits,
		param: r.PathValue, query: r.URL.Query(), late: func() bool { return ctx.Err() != nil },
		load:       func(keys []flags.Key) (flags.View, error) { return e.store.Load(ctx, keys) },
		compressed: acceptsGzip(r),
	}
	view, err := e.load(ctx, r, op, keys)
	if err != nil {
		return nil, err
	}
	if c.caller, err = e.identify(ctx, r, op, view, c.now); err != nil {
		return nil, err
	}
	if err := c.authorize(op, view); err != nil {
		return nil, err
	}
	if err := e.allow(ctx, c, op); err != nil {
		return nil, err
	}
	if err := in.read(e.config.Limits); err != nil {
		return nil, err
	}
	c.findRegistries(view)
	if review := op.Decide.review; review != nil {
		if err := review(c, in.value); err != nil {
			return nil, err
		}
	}
	if err := c.find(op.Reads, view); err != nil {
		return nil, err
	}
	return c, e.loadMore(ctx, c, op, in)
}

// commit makes the change of a decision, if there is one.
func (e *executor) commit(ctx context.Context, d decision) error {
	if len(d.change.Writes) == 0 {
		return nil
	}
	return e.committed(d, e.store.Commit(ctx, d.change))
}

// committed is the error of a decision whose change was committed with err.
func (e *executor) committed(d decision, err error) error {
	if d.derived && flags.KindOf(err) == flags.NameExists {
		err = flags.Errorf(flags.VersionConflict, "the name has been taken in the meantime")
	}
	if flags.KindOf(err) == flags.VersionConflict {
		e.conflicts.Add(1)
	}
	return err
}

func (e *executor) deadline(ctx context.Context) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Add(-toAnswer)
	}
	return time.Now().Add(maxDuration)
}

// pause waits before another round, longer each time and never in step with others; false when time is up.
func pause(ctx context.Context, round int) bool {
	ceiling := min(200*time.Millisecond, 2*time.Millisecond<<min(round, 8))
	timer := time.NewTimer(rand.N(ceiling)) //nolint:gosec // spreading load is no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
