package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
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
	begun := false // whether a part was made of a change of several
	for round := 1; ; round++ {
		d, err := e.round(ctx, r, op, keys, &in)
		switch kind := flags.KindOf(err); {
		case err == nil && d.unfinished:
			begun = true
		case err == nil:
			return d, round, nil
		case kind == flags.Outdated:
			if !pause(ctx, round) {
				return decision{}, round, outrun(err, begun)
			}
		case kind == flags.Internal && round > 1 && ctx.Err() != nil:
			return decision{}, round, outrun(err, begun) // time was up in the middle of another round, not for want of a store
		case kind == flags.Unavailable && begun:
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
		message = "only a part of this could be done in time; try again, and the rest is done"
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: message}
}

func (e *executor) round(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key, in *input) (decision, error) {
	c := &call{
		now: e.config.Now().UTC().Truncate(time.Millisecond), newID: uuid.NewString, random: randomDigits, limits: e.config.Limits,
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
	if err := e.allow(ctx, c, op); err != nil {
		return decision{}, err
	}
	if err := in.read(e.config.Limits); err != nil {
		return decision{}, err
	}
	c.findRegistries(view)
	if review := op.Decide.review; review != nil {
		if err := review(c, in.value); err != nil {
			return decision{}, err
		}
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
	err = e.store.Commit(ctx, d.change)
	if d.derived && flags.KindOf(err) == flags.NameExists {
		err = flags.Errorf(flags.Outdated, "the id that was derived has been taken in the meantime")
	}
	return d, err
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
	if d.seals {
		if e.config.Sealer == nil {
			return flags.Errorf(flags.Internal, "this process was given no key for the tokens' secrets")
		}
		c.sealer, err = e.config.Sealer(ctx)
	}
	return err
}

// allow asks the operation whether the caller may do this anywhere at all. If need be it first brings the projects that
// a person, who is no admin, has a role in.
func (e *executor) allow(ctx context.Context, c *call, op Operation) error {
	if op.Decide.allows == nil {
		return nil
	}
	if user := c.caller.User; op.Decide.knowsMine && user != nil && !c.caller.Admin && len(user.Projects) > 0 {
		keys := each(user.Projects, flags.ProjectKey)
		view, err := e.store.Load(ctx, keys)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if p := flags.Find[*flags.Project](view, key); p != nil {
				c.mine = append(c.mine, p)
			}
		}
	}
	return op.Decide.allows(c)
}

// countsAtOnce is how many projects are counted at the same time.
const countsAtOnce = 16

func (e *executor) count(ctx context.Context, c *call) error {
	projects := c.lists[flags.EntityProject]
	found, failures := make([]counts, len(projects)), make([]error, len(projects))
	places := make(chan struct{}, countsAtOnce)
	var wg sync.WaitGroup
	for i, a := range projects {
		places <- struct{}{}
		wg.Go(func() {
			found[i].active, found[i].stale, failures[i] = e.store.Counts(ctx, a.(*flags.Project).UID)
			<-places
		})
	}
	wg.Wait()
	c.count = make(map[string]counts, len(projects))
	for i, a := range projects {
		if failures[i] != nil {
			return failures[i]
		}
		c.count[a.(*flags.Project).UID] = found[i]
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

// identify tells who calls. A personal token costs one more call: for the user, the roles, and the project of a flag that
// the path names without one.
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
	keys := []flags.Key{flags.UserKey(token.User), flags.RolesKey()}
	if f := featureAlone(op.Reads, r.PathValue, view); f != nil {
		keys = append(keys, flags.ProjectKey(f.Project))
	}
	person, err := e.store.Load(ctx, keys)
	if err != nil {
		return caller, err
	}
	for _, key := range keys[2:] {
		view[key] = person[key]
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
	permission := op.Permission
	if op.Reads.has(theFeature) && !op.Reads.has(theProject) && featureAlone(op.Reads, c.param, view) == nil {
		permission = flags.Read // there is no project to ask in, and that there is no such flag, readers may know
	}
	return c.caller.Authorize(permission, c.projectOf(op.Reads, view), c.param(environmentParam))
}

// projectOf is the project that a permission is asked in, nil when there is none: the answer to a person who may not
// see a project is the same whether it is there or not.
func (c *call) projectOf(reads Reads, view flags.View) *flags.Project {
	if reads.has(theProject) {
		return flags.Find[*flags.Project](view, flags.ProjectKey(c.param(projectParam)))
	}
	if f := featureAlone(reads, c.param, view); f != nil {
		if p := flags.Find[*flags.Project](view, flags.ProjectKey(f.Project)); p != nil && p.UID == f.ProjectUID {
			return p
		}
	}
	return nil
}

// featureAlone is the flag of a path that names no project: permission is asked in the flag's own, which identify loads
// for those whom it matters to. nil for other paths, and without a flag.
func featureAlone(reads Reads, param func(string) string, view flags.View) *flags.Feature {
	if reads.has(theProject) || !reads.has(theFeature) {
		return nil
	}
	return flags.Find[*flags.Feature](view, flags.FeatureKey(param(featureParam)))
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
	timer := time.NewTimer(rand.N(ceiling)) //nolint:gosec // spreading load is no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
