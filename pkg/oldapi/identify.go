package oldapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// identify tells who calls. A personal token costs one more call: for the user, the roles, and the project of a flag that
// the path names without one.
func (e *executor) identify(ctx context.Context, r *http.Request, op Operation, view flags.View, now time.Time) (flags.Caller, error) {
	if !e.needsToken(op) {
		return flags.Caller{Name: "admin", Admin: true}, nil
	}
	var token *flags.Token
	if secret := secretOf(r); secret != "" {
		hash := flags.HashSecret(secret)
		if token = flags.Find[*flags.Token](view, flags.TokenKey(hash)); token != nil && !token.HasHash(hash) {
			token = nil // found under a hash that is not its own: whoever can write such an item shall not get in by it
		}
	}
	caller, err := flags.Authenticate(token, now)
	if err != nil {
		return caller, err
	}
	e.touch(ctx, flags.Find[*flags.TokenUse](view, flags.TokenUseKey(token.Hash)), &flags.TokenUse{Hash: token.Hash, At: now})
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

// How exact the last use of a token is, how long a request waits for it to be written, and how long no request tries
// again after that failed.
const (
	touchEvery   = time.Hour
	touchTimeout = 200 * time.Millisecond
	touchPause   = time.Minute
)

// touch notes that a token was used, at most once in touchEvery. If that fails, the request goes on, and for touchPause no
// other request of this process tries: a store that throttles writes must not slow down reads.
func (e *executor) touch(ctx context.Context, last, now *flags.TokenUse) {
	if last != nil && now.At.Sub(last.At) < touchEvery || now.At.UnixMilli() < e.touchAgain.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, touchTimeout)
	defer cancel()
	err := e.store.Touch(ctx, now)
	if err == nil {
		return
	}
	e.touchAgain.Store(now.At.Add(touchPause).UnixMilli())
	if e.config.Logger != nil {
		e.config.Logger.WarnContext(ctx, "the last use of a token could not be noted", "cause", err)
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

func (e *executor) needsToken(op Operation) bool { return op.Permission != "" && !e.config.Open }

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
