package bootstrap

import (
	"context"
	"fmt"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// A resealer is a Sealer with several keys, such as a seal.Box.
type resealer interface {
	flags.Sealer
	IsCurrent(sealed string) bool // whether the key that encrypts now has encrypted it
}

// reseal encrypts the secrets of tokens and addons again that have an older key, so that this key can be removed. A secret whose key
// is missing stays as it is. What another process changes at the same time, and what exceeds maxReseals, is for the next Seed.
func (s *seeding) reseal(ctx context.Context) error {
	box, ok := s.sealer.(resealer)
	if !ok {
		return nil
	}
	again := func(sealed, boundTo string) string {
		if sealed == "" || box.IsCurrent(sealed) {
			return sealed
		}
		secret, err := box.Open(sealed, boundTo)
		if err != nil {
			return sealed
		}
		return box.Seal(secret, boundTo)
	}
	keys := []flags.Key{flags.AddonsKey()}
	for _, entity := range []flags.Entity{access.EntityToken, access.EntitySignupToken} {
		list, err := s.store.List(ctx, entity)
		if err != nil {
			return err
		}
		for _, a := range list {
			switch a := a.(type) {
			case *access.Token:
				if again(a.Sealed, a.Hash) != a.Sealed {
					keys = append(keys, a.Key())
				}
			case *access.SignupToken:
				if again(a.Sealed, a.Hash) != a.Sealed {
					keys = append(keys, a.Key())
				}
			}
		}
	}
	for some := range slices.Chunk(keys[:min(len(keys), maxReseals)], maxLoad) {
		view, err := s.store.Load(ctx, some)
		if err != nil {
			return err
		}
		for _, key := range some {
			if err := s.resealOne(ctx, view[key], again); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	maxLoad    = 100   // aggregates that are loaded at once
	maxReseals = 1_000 // aggregates that one Seed writes: a function has a minute for all of it
)

func (s *seeding) resealOne(ctx context.Context, stored flags.Aggregate, again func(sealed, boundTo string) string) error {
	var write flags.Write
	var event flags.Event
	switch before := stored.(type) {
	case *access.Token:
		after := before.Clone()
		after.Sealed = again(after.Sealed, after.Hash)
		write, event = flags.Write{Before: before, After: after}, events.TokenUpdated(before, after)
	case *access.SignupToken:
		after := before.Clone()
		after.Sealed = again(after.Sealed, after.Hash)
		write, event = flags.Write{Before: before, After: after}, events.SignupTokenUpdated(before, after, s.time())
	case *flags.Addons:
		after := before.Clone()
		for i, addon := range after.List {
			for name, sealed := range addon.Sealed {
				if addon.Sealed[name] = again(sealed, flags.AddonSecret(addon.ID, name)); addon.Sealed[name] != sealed {
					write, event = flags.Write{Before: before, After: after}, events.Addon.Updated(before.List[i], addon)
				}
			}
		}
	}
	if write.After == nil {
		return nil
	}
	event.ID, event.CreatedAt, event.CreatedBy = newEventID(), s.time(), author
	err := s.store.Commit(ctx, flags.Change{Writes: []flags.Write{write}, Event: event})
	if err != nil && flags.KindOf(err) != flags.VersionConflict {
		return fmt.Errorf("encrypting secrets again: %w", err)
	}
	return nil
}
