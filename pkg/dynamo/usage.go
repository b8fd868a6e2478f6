package dynamo

import (
	"context"
	"time"

	"guidon/pkg/flags"
)

// Usage returns the sums of a flag.
func (s *Store) Usage(context.Context, string, flags.UsageUnit, time.Time) ([]flags.UsageSum, error) {
	return nil, nil
}

// PutPost stores a post.
func (s *Store) PutPost(context.Context, *flags.UsagePost) error { return nil }
