package dynamo

import (
	"context"
	"time"

	"guidon/pkg/flags"
)

// favoritesEntity is the favorites of a caller. Its item is written without an event, and stays when the caller is deleted.
var favoritesEntity = entity{
	name:  flags.EntityFavorites,
	key:   func(owner string) itemKey { return itemKey{"FAVORITES#" + owner, "FAVORITES"} },
	title: func(string) string { return "your favorites" },
	codec: jsonCodec(func(a *flags.Favorites) *int64 { return &a.Version }),
}

// PutUnlogged stores favorites, signals or code references: one call, none if nothing has changed.
func (s *Store) PutUnlogged(ctx context.Context, before, after flags.Aggregate) error {
	return s.PutReport(ctx, before, after, time.Time{})
}
