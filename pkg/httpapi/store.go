package httpapi

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/review"
	"guidon/pkg/usage"
)

// A Store is what operations read and change.
type Store interface {
	flags.Store
	flags.SummaryStore
	flags.UseStore
	flags.EventStore
	flags.DeliveryStore
	flags.UnloggedStore
	flags.WatchStore
	access.TokenUseStore
	usage.UsageReader
	review.Store
}
