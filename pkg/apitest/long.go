package apitest

import (
	"context"
	"fmt"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A LongStore has a project with more flags than one response can hold.
type LongStore struct {
	httpapi.Store
	Flags int
}

func (l LongStore) SummaryPage(_ context.Context, _ string, q flags.SummaryQuery) ([]flags.FeatureSummary, bool, error) {
	list := make([]flags.FeatureSummary, min(l.Flags, q.Limit))
	for i := range list {
		list[i] = flags.FeatureSummary{Name: fmt.Sprintf("team-%d.service.flag-%06d", i%17, i), Metadata: flags.Metadata{Type: "release"},
			CreatedAt: time.Unix(1_700_000_000+int64(i)*997, 0), Tags: []flags.Tag{{Type: "simple", Value: fmt.Sprintf("team-%d", i%17)}}}
	}
	return list, l.Flags > q.Limit, nil
}

func (l LongStore) Summaries(ctx context.Context, uid string, _ bool) ([]flags.FeatureSummary, error) {
	list, _, err := l.SummaryPage(ctx, uid, flags.SummaryQuery{Limit: l.Flags})
	return list, err
}
