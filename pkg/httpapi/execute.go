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
	if c.caller, err = e.identify(ctx, r, op, view, c.now); err != nil {
		return decision{}, err
	}
	if err := c.authorize(op, view); err != nil {
		return decision{}, err
	}
	if err := in.read(e.config.Limits); err != nil {
		return decision{}, err
	}
	if err := c.find(op.Reads, view); err != nil {
		return decision{}, err
	}
	if err := e.loadMore(ctx, c, op, in); err != nil {
		return decision{}, err
	}
	d, err := op.Decide.decide(c, in.value)
	if err != nil || len(d.change.Writes) == 0 {
		return d, err
	}
	return d, e.store.Commit(ctx, d.change)
}

// loadMore brings what could not be named before the first load: lists, counts, an id, and what the operation asks for.
func (e *executor) loadMore(ctx context.Context, c *call, op Operation, in *input) (err error) {
	d := op.Decide
	if op.Reads.has(activeRows | archivedRows) {
		if c.summaries, err = e.store.Summaries(ctx, c.project.UID, op.Reads.has(archivedRows)); err != nil {
			return err
		}
	}
	if len(d.lists) > 0 {
		c.lists = make(map[flags.Entity][]flags.Aggregate, len(d.lists))
	}
	for _, entity := range d.lists {
		if c.lists[entity], err = e.store.List(ctx, entity); err != nil {
			return err
		}
	}
	if d.counts {
		if err := e.count(ctx, c); err != nil {
			return err
		}
	}
	if d.loads != nil {
		if c.more, err = e.store.Load(ctx, d.loads(c, in.value)); err != nil {
			return err
		}
	}
	if d.allocates != "" && in.id == 0 { // one id a request, whatever the number of rounds
		if in.id, err = e.store.NextID(ctx, d.allocates); err != nil {
			return err
		}
	}
	c.id = in.id
	return nil
}

func (e *executor) count(ctx context.Context, c *call) error {
	c.count = map[string]counts{}
	for _, a := range c.lists[flags.EntityProject] {
		p := a.(*flags.Project)
		active, stale, err := e.store.Counts(ctx, p.UID)
		if err != nil {
			return err
		}
		c.count[p.UID] = counts{active, stale}
	}
	return nil
}

// load brings the caller's token and what the operation reads, in one call.
func (e *executor) load(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key) (flags.View, error) {
	wanted := keys(r)
	if secret := secretOf(r); secret != "" && e.needsToken(op) {
		hash := flags.HashSecret(secret)
		wanted = append(wanted, flags.TokenKey(hash), flags.SeenKey(hash))
	}
	if len(wanted) == 0 || (e.needsToken(op) && secretOf(r) == "") {
		return nil, nil
	}
	return e.store.Load(ctx, wanted)
}

func (e *executor) needsToken(op Operation) bool { return op.Permission != "" && !e.config.Open }

// identify tells who calls. A personal token costs one more call, for the user and the roles.
func (e *executor) identify(ctx context.Context, r *http.Request, op Operation, view flags.View, now time.Time) (flags.Caller, error) {
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
	e.touch(ctx, flags.Find[*flags.Seen](view, flags.SeenKey(token.Hash)), &flags.Seen{Hash: token.Hash, At: now})
	if token.Type != flags.PersonalToken {
		return caller, nil
	}
	person, err := e.store.Load(ctx, []flags.Key{flags.UserKey(token.User), flags.RolesKey()})
	if err != nil {
		return caller, err
	}
	return flags.AuthenticateUser(token,
		flags.Find[*flags.User](person, flags.UserKey(token.User)), flags.Find[*flags.Roles](person, flags.RolesKey()))
}

// touchEvery is how exact the last use of a token is, and touchTimeout how long a call is held up for it.
const (
	touchEvery   = time.Hour
	touchTimeout = 500 * time.Millisecond
)

// touch notes that a token was used, at most once in touchEvery. It is no reason for a call to fail.
func (e *executor) touch(ctx context.Context, last, now *flags.Seen) {
	if last == nil || now.At.Sub(last.At) >= touchEvery {
		ctx, cancel := context.WithTimeout(ctx, touchTimeout)
		defer cancel()
		if err := e.store.Touch(ctx, now); err != nil && e.config.Logger != nil {
			e.config.Logger.WarnContext(ctx, "the last use of a token could not be noted", "cause", err)
		}
	}
}

// authorize checks that the caller may do this where the path says: in its project and environment.
func (c *call) authorize(op Operation, view flags.View) error {
	if op.Permission == "" {
		return nil
	}
	return c.caller.Authorize(op.Permission, c.projectOf(op.Reads, view), c.param(environmentParam))
}

// projectOf is the project that a permission is asked in, nil when there is none: the answer to a person who may not
// see a project is the same whether it is there or not.
func (c *call) projectOf(reads Reads, view flags.View) *flags.Project {
	if reads.has(theProject) {
		return flags.Find[*flags.Project](view, flags.ProjectKey(c.param(projectParam)))
	}
	return nil
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
