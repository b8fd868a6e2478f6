// Package bootstrap puts what every deployment begins with into the store: the environments, the project "default",
// the roles, the first user, the tag type "simple", the context fields that every SDK knows and the first API tokens.
//
// It adds what is absent and changes nothing that is there, so it may run at every start, and by several processes at
// once.
package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Options say what else to put there.
type Options struct {
	Tokens []Token
	Sealer flags.Sealer     // keeps the secrets of those tokens; nil keeps their hashes alone, and lists show no secret
	Now    func() time.Time // nil for the clock
}

// author is who the events of a seeding name.
const author = "bootstrap"

// Seed puts there what is absent. Its errors are the store's.
func Seed(ctx context.Context, store flags.Store, o Options) error {
	s := &seeding{store: store, sealer: o.Sealer, now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	environments, err := s.environments(ctx)
	if err != nil {
		return err
	}
	if err := s.project(ctx, environments); err != nil {
		return err
	}
	if err := s.users(ctx); err != nil {
		return err
	}
	if err := s.tagTypes(ctx); err != nil {
		return err
	}
	if err := s.contextFields(ctx); err != nil {
		return err
	}
	for _, t := range o.Tokens {
		if err := s.token(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

type seeding struct {
	store  flags.Store
	sealer flags.Sealer
	now    func() time.Time
}

// environments are those that the service has, made if there are none. "default" is disabled: it is there for clients
// that know no other, and new projects do not get it.
func (s *seeding) environments(ctx context.Context) (*flags.Environments, error) {
	at := s.time()
	seed := &flags.Environments{List: []flags.Environment{
		{Name: "default", Type: "production", Protected: true, SortOrder: 1},
		{Name: "development", Type: "development", Enabled: true, SortOrder: 2},
		{Name: "production", Type: "production", Enabled: true, SortOrder: 3},
	}}
	for i := range seed.List {
		seed.List[i].UID, seed.List[i].CreatedAt = flags.ShortID(uuid.NewString()), at
	}
	return ensure(ctx, s, seed, events.EnvironmentsSeeded(seed))
}

// project makes the project "default", with the environments that are enabled from the start.
func (s *seeding) project(ctx context.Context, environments *flags.Environments) error {
	p := &flags.Project{ID: flags.DefaultProject, UID: flags.ProjectUID(uuid.NewString()), Name: "Default", Description: "Default project", CreatedAt: s.time()}
	for _, name := range []string{"development", "production"} {
		env := environments.Find(name)
		if env == nil {
			continue // somebody has deleted it since
		}
		if err := p.Attach(*env, flags.ShortID(uuid.NewString())); err != nil {
			return err
		}
	}
	_, err := ensure(ctx, s, p, events.ProjectCreated(p, environments))
	return err
}

// users makes the registry of roles, empty beside those that are built in, and the first user, the administrator, who
// cannot be deleted. The id is taken from the counter like any other, so that the next user gets the next.
func (s *seeding) users(ctx context.Context) error {
	roles := &flags.Roles{}
	if _, err := ensure(ctx, s, roles, events.RolesSeeded(roles)); err != nil {
		return err
	}
	key := flags.UserKey(flags.FirstUserID)
	view, err := s.store.Load(ctx, []flags.Key{key})
	if err != nil {
		return fmt.Errorf("seeding the users: %w", err)
	}
	if _, there := view[key]; there {
		return nil
	}
	if _, err := s.store.NextID(ctx, flags.EntityUser); err != nil {
		return fmt.Errorf("seeding the users: %w", err)
	}
	admin := &flags.User{ID: flags.FirstUserID, Username: "admin", RootRole: flags.RoleAdmin, CreatedAt: s.time()}
	_, err = ensure(ctx, s, admin, events.UserCreated(admin))
	return err
}

// tagTypes makes the registry of tag types, with the one that is there from the start.
func (s *seeding) tagTypes(ctx context.Context) error {
	_, err := ensure(ctx, s, &flags.TagTypes{List: []flags.TagType{flags.SimpleTagType}}, events.TagTypeCreated(flags.SimpleTagType))
	return err
}

// contextFields makes the registry of context fields, with those that every SDK knows.
func (s *seeding) contextFields(ctx context.Context) error {
	registry := &flags.ContextFields{}
	for _, field := range flags.StandardContextFields(s.time()) {
		if err := registry.Add(field, flags.DefaultLimits()); err != nil {
			return err
		}
	}
	_, err := ensure(ctx, s, registry, events.ContextFieldsSeeded(registry))
	return err
}

// ensure is the aggregate that the store has at the key of made, which it stores if there is none.
func ensure[A flags.Aggregate](ctx context.Context, s *seeding, made A, event flags.Event) (A, error) {
	var none A
	key := made.Key()
	for {
		view, err := s.store.Load(ctx, []flags.Key{key})
		if err != nil {
			return none, fmt.Errorf("seeding the %s: %w", key.Entity, err)
		}
		if _, there := view[key]; there {
			return flags.Find[A](view, key), nil
		}
		event.ID, event.CreatedAt, event.CreatedBy = newEventID(), s.time(), author
		err = s.store.Commit(ctx, flags.Change{Writes: []flags.Write{{After: made}}, Event: event})
		switch flags.KindOf(err) {
		case flags.NameExists, flags.VersionConflict: // another process was first: what it made counts
			if ctx.Err() != nil {
				return none, ctx.Err()
			}
			continue
		}
		if err != nil {
			return none, fmt.Errorf("seeding the %s: %w", key.Entity, err)
		}
		return made, nil
	}
}

func (s *seeding) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// newEventID sorts by time.
func newEventID() string { return uuid.Must(uuid.NewV7()).String() }
