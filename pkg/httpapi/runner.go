package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// A Runner runs functions as users, without a request: what a user has planned for a later time.
type Runner struct{ service *service }

// NewRunner returns a runner over a store.
func NewRunner(store Store, config Config) *Runner { return &Runner{newService(store, config)} }

// As runs a function in one transaction as a user, with the permissions that the user has now. It returns access.ErrNoUser if the user no
// longer exists. ahead is what to load with the user: a hint, see Tx.Load. The function runs again when another writer was first, as that of
// an operation does. User 0 is any caller of a service that needs no token (AUTH_TYPE=none), and only exists there.
func (r *Runner) As(ctx context.Context, user int64, ahead []flags.Key, do func(tx *Tx) error) error {
	return r.run(ctx, append(ahead, access.UserKey(user), access.RolesKey()), func(tx *Tx) (err error) {
		if user != 0 || !r.service.config.Open {
			tx.Caller, err = access.AsUser(tx.FindUser(user), tx.Roles())
		}
		if err != nil {
			return err
		}
		return do(tx)
	})
}

// AsSystem does the same as Guidon itself, which has no permissions: the function decides what it may change.
func (r *Runner) AsSystem(ctx context.Context, ahead []flags.Key, do func(tx *Tx) error) error {
	return r.run(ctx, ahead, func(tx *Tx) error {
		tx.Caller = access.Guidon()
		return do(tx)
	})
}

func (r *Runner) run(ctx context.Context, ahead []flags.Key, do func(tx *Tx) error) error {
	op := Operation{Ahead: ahead, Handle: Do(func(tx *Tx, _ InService) error { return do(tx) })}
	req := &request{
		http: &http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{}, Body: http.NoBody},
		op:   &op, place: op.Handle.newPlace(), values: map[value]any{}, done: map[any]any{},
	}
	ctx, cancel := context.WithDeadline(ctx, r.service.deadline(ctx))
	defer cancel()
	_, _, err := r.service.run(ctx, req)
	return err
}
