// Package bootstrap creates the initial data of a service: the environments, the project "default", the roles, the first
// user, the tag type "simple", the standard context fields and the first API tokens.
//
// It creates what is missing, and changes nothing else than that secrets with an old key get the current one. So it may run at every
// start, and in several processes at once.
package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// Options configure Seed.
type Options struct {
	Tokens []Token
	Sealer flags.Sealer     // encrypts the secrets of tokens; if nil, only hashes are stored and lists show no secrets
	Now    func() time.Time // nil for time.Now
}

// A Store is what Seed needs.
type Store interface {
	flags.Store

	// StartFeed begins the feed of a new table, and refuses a table whose data this version cannot read.
	StartFeed(ctx context.Context) error
}

// author is the author of the events.
const author = "bootstrap"

// Seed creates the initial data that is missing, and encrypts secrets again that have an older key of the Sealer. Its errors are those of the store.
func Seed(ctx context.Context, store Store, o Options) error {
	if err := store.StartFeed(ctx); err != nil {
		return fmt.Errorf("opening the table: %w", err)
	}
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
	return s.reseal(ctx)
}

type seeding struct {
	store  flags.Store
	sealer flags.Sealer
	now    func() time.Time
}

// environments returns the environments of the service, and creates them if there are none. "default" is for clients that
// know no other environment; it is disabled, and new projects do not get it.
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

// project creates the project "default" with the environments that are enabled at first.
func (s *seeding) project(ctx context.Context, environments *flags.Environments) error {
	p := &flags.Project{ID: flags.DefaultProject, UID: flags.ProjectUID(uuid.NewString()), Name: "Default", Description: "Default project", CreatedAt: s.time()}
	for _, name := range []string{"development", "production"} {
		env := environments.Find(name)
		if env == nil {
			continue // it was deleted
		}
		if err := p.Attach(*env, flags.ShortID(uuid.NewString())); err != nil {
			return err
		}
	}
	_, err := ensure(ctx, s, p, events.ProjectCreated(p, environments))
	return err
}

// users creates the list of custom roles, which is empty, and the first user, an administrator who cannot be deleted. The
// counter of user ids provides its id, so that the next user gets the next id.
func (s *seeding) users(ctx context.Context) error {
	roles := &access.Roles{}
	if _, err := ensure(ctx, s, roles, events.RolesSeeded(roles)); err != nil {
		return err
	}
	key := access.UserKey(access.FirstUserID)
	view, err := s.store.Load(ctx, []flags.Key{key})
	if err != nil {
		return fmt.Errorf("seeding the users: %w", err)
	}
	if _, found := view[key]; found {
		return nil
	}
	if _, err := s.store.NextID(ctx, access.EntityUser); err != nil {
		return fmt.Errorf("seeding the users: %w", err)
	}
	admin := &access.User{ID: access.FirstUserID, Username: "admin", RootRole: access.RoleAdmin, CreatedAt: s.time()}
	_, err = ensure(ctx, s, admin, events.UserCreated(admin))
	return err
}

// tagTypes creates the list of tag types with "simple".
func (s *seeding) tagTypes(ctx context.Context) error {
	_, err := ensure(ctx, s, &flags.TagTypes{List: []flags.TagType{flags.SimpleTagType}}, events.TagType.Created(flags.SimpleTagType))
	return err
}

// contextFields creates the list of context fields with those that every SDK knows.
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

// ensure returns the aggregate that is stored with the key of initial, and stores initial if there is none.
func ensure[A flags.Aggregate](ctx context.Context, s *seeding, initial A, event flags.Event) (A, error) {
	var none A
	key := initial.Key()
	for {
		view, err := s.store.Load(ctx, []flags.Key{key})
		if err != nil {
			return none, fmt.Errorf("seeding the %s: %w", key.Entity, err)
		}
		if _, found := view[key]; found {
			return flags.Find[A](view, key), nil
		}
		event.ID, event.CreatedAt, event.CreatedBy = newEventID(), s.time(), author
		err = s.store.Commit(ctx, flags.Change{Writes: []flags.Write{{After: initial}}, Event: event})
		switch flags.KindOf(err) {
		case flags.NameExists, flags.VersionConflict: // another process was first: load what it stored
			if ctx.Err() != nil {
				return none, ctx.Err()
			}
			continue
		}
		if err != nil {
			return none, fmt.Errorf("seeding the %s: %w", key.Entity, err)
		}
		return initial, nil
	}
}

func (s *seeding) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// newEventID returns an id that sorts by time.
func newEventID() string { return uuid.Must(uuid.NewV7()).String() }
