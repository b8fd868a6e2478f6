package httpapi

import "guidon/pkg/flags"

// A Store is what operations read and change.
type Store interface {
	flags.Store
	flags.SummaryStore
	flags.UseStore
	flags.EventStore
	flags.DeliveryStore
	flags.TokenUseStore
	flags.UsageReader
}
