package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// An executor does the I/O of every operation.
type executor struct {
	store  flags.Store
	config Config
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
		d, rounds, err := e.execute(r, op, keys)
		e.respond(w, r, outcome{route: op.Route, decision: d, err: err, rounds: rounds, took: time.Since(started)})
	})
}

// execute is a request from start to end: load, decide, commit. When another writer was first, all of it is done again
// on the new state, authorisation included, until the deadline; so no change is lost and none is refused by mistake.
func (e *executor) execute(r *http.Request, op Operation, keys func(*http.Request) []flags.Key) (decision, int, error) {
	ctx, cancel := context.WithDeadline(r.Context(), e.deadline(r.Context()))
	defer cancel()
	in := input{op: op, request: r}
	for round := 1; ; round++ {
		d, err := e.round(ctx, r, op, keys, &in)
		if flags.KindOf(err) != flags.Outdated || err == nil {
			return d, round, err
		}
		if !pause(ctx, round) {
			return decision{}, round, &flags.Error{Kind: flags.Unavailable, Err: err,
				Message: "too many others changed this at the same time, and nothing was changed; try again"}
		}
	}
}

func (e *executor) round(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key, in *input) (decision, error) {
	c := &call{
		now: e.config.Now().UTC().Truncate(time.Millisecond), newID: uuid.NewString, limits: e.config.Limits,
		param: r.PathValue, query: r.URL.Query(),
	}
	view, err := e.load(ctx, r, op, keys)
	if err != nil {
		return decision{}, err
	}
	if c.caller, err = e.authorize(r, op, view, c.now); err != nil {
		return decision{}, err
	}
	if err := in.read(e.config.Limits); err != nil {
		return decision{}, err
	}
	if err := c.find(op.Reads, view); err != nil {
		return decision{}, err
	}
	if op.Reads.has(activeRows | archivedRows) {
		if c.summaries, err = e.store.Summaries(ctx, c.project.UID, op.Reads.has(archivedRows)); err != nil {
			return decision{}, err
		}
	}
	d, err := op.Decide.decide(c, in.value)
	if err != nil || len(d.change.Writes) == 0 {
		return d, err
	}
	return d, e.store.Commit(ctx, d.change)
}

// load brings the caller's token and what the operation reads, in one call.
func (e *executor) load(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key) (flags.View, error) {
	wanted := keys(r)
	if secret := secretOf(r); secret != "" && e.needsToken(op) {
		wanted = append(wanted, flags.TokenKey(flags.HashSecret(secret)))
	}
	if len(wanted) == 0 || (e.needsToken(op) && secretOf(r) == "") {
		return nil, nil
	}
	return e.store.Load(ctx, wanted)
}

func (e *executor) needsToken(op Operation) bool { return op.Permission != "" && !e.config.Open }

// authorize tells who calls, and that the caller may do this.
func (e *executor) authorize(r *http.Request, op Operation, view flags.View, now time.Time) (flags.Caller, error) {
	if !e.needsToken(op) {
		return flags.Caller{Name: "admin", Admin: true}, nil
	}
	var token *flags.Token
	if secret := secretOf(r); secret != "" {
		token = flags.Find[*flags.Token](view, flags.TokenKey(flags.HashSecret(secret)))
	}
	caller, err := flags.Authenticate(token, now)
	if err != nil {
		return caller, err
	}
	return caller, caller.Authorize(op.Permission)
}

// secretOf is the API token that the request carries, with or without "Bearer".
func secretOf(r *http.Request) string {
	header := strings.TrimSpace(r.Header.Get("Authorization"))
	if scheme, rest, found := strings.Cut(header, " "); found && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(rest)
	}
	return header
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
	timer := time.NewTimer(rand.N(ceiling))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
