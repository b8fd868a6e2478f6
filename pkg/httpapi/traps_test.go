package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/usage"
)

var development = flags.ProjectEnvironment{Environment: flags.Environment{Name: "development"}}

// TestFailingVisits has functions that are called for each row end the attempt, as reads and other functions do.
func TestFailingVisits(t *testing.T) {
	conflict := flags.Errorf(flags.Conflict, "the visited flag is in the way")
	for _, tt := range []struct {
		name string
		do   func(tx *httpapi.Tx)
	}{
		{"an error of a summary", func(tx *httpapi.Tx) {
			tx.EachSummary(tx.Projects(), false, nil, func(*flags.Project, flags.SummaryRow) error { return conflict })
		}},
		{"Fail in a summary", func(tx *httpapi.Tx) {
			tx.EachSummary(tx.Projects(), false, nil, func(*flags.Project, flags.SummaryRow) error { tx.Fail(conflict); return nil })
		}},
		{"a read in a summary", func(tx *httpapi.Tx) {
			tx.EachSummary(tx.Projects(), false, nil, func(*flags.Project, flags.SummaryRow) error { tx.Project("the visited flag is in the way"); return nil })
		}},
		{"Fail in a use", func(tx *httpapi.Tx) {
			tx.EachUse(func(flags.FeatureUse) bool { tx.Fail(conflict); return true })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := seeded(t)
			f := flags.NewFeature(project(t, store), "f", flags.Metadata{Type: flags.Release}, "admin", time.Now())
			s := flags.Strategy{ID: "s", Name: "default", Constraints: []flags.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"1"}}}}
			if err := f.AddStrategy(development, s, flags.DefaultLimits()); err != nil {
				t.Fatal(err)
			}
			if err := store.Commit(t.Context(), flags.Change{Writes: []flags.Write{{After: f}}, Event: (&httpapi.Tx{}).Sign(events.FeatureCreated(f))}); err != nil {
				t.Fatal(err)
			}
			op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.Do(func(tx *httpapi.Tx, _ httpapi.InService) error {
				tt.do(tx)
				return errors.New("nothing was visited")
			})}
			w := call(t, store, op, httpapi.Config{}, "")
			if w.Code/100 != 4 || !strings.Contains(w.Body.String(), conflict.Message) {
				t.Errorf("%d %s, want the error of the visit", w.Code, w.Body)
			}
		})
	}
}

// An asked store counts the queries that it gets.
type asked struct {
	httpapi.Store
	queries int
}

func (s *asked) Deliveries(context.Context, int64, flags.WhichDeliveries, int) ([]flags.Delivery, error) {
	s.queries++
	return nil, nil
}

func (s *asked) Parked(context.Context, int64, int) ([]flags.OutboxEntry, bool, error) {
	s.queries++
	return nil, false, nil
}

func (s *asked) OutboxEvents(context.Context, []flags.OutboxEntry) (map[string]flags.Event, error) {
	s.queries++
	return nil, nil
}

func (s *asked) Log(context.Context, flags.LogQuery) (flags.LogPage, error) {
	s.queries++
	return flags.LogPage{}, nil
}

func (s *asked) Usage(context.Context, string, usage.Unit, time.Time) ([]usage.Sum, error) {
	s.queries++
	return nil, nil
}

func (s *asked) SummaryPage(context.Context, string, flags.SummaryQuery) ([]flags.FeatureSummary, bool, error) {
	s.queries++
	return nil, false, nil
}

func (s *asked) Uses(context.Context, []string) ([]flags.FeatureUse, error) {
	s.queries++
	return nil, nil
}

// TestRepeatedQueries makes each query once for each of several arguments, however often an operation asks in a round.
func TestRepeatedQueries(t *testing.T) {
	at := time.Now()
	tags := func(values ...string) flags.SummaryQuery {
		return flags.SummaryQuery{Tags: httpapi.Each(values, func(v string) flags.Tag { return flags.Tag{Type: "simple", Value: v} })}
	}
	for name, queries := range map[string][]func(tx *httpapi.Tx){
		"deliveries": {
			func(tx *httpapi.Tx) { tx.Deliveries(1, flags.AllDeliveries, 1) },
			func(tx *httpapi.Tx) { tx.Deliveries(1, flags.AllDeliveries, 2) },
			func(tx *httpapi.Tx) { tx.Deliveries(1, flags.SentDeliveries, 1) },
			func(tx *httpapi.Tx) { tx.Deliveries(2, flags.AllDeliveries, 1) },
		},
		"parked": {
			func(tx *httpapi.Tx) { tx.Parked(1, 1) }, func(tx *httpapi.Tx) { tx.Parked(1, 2) }, func(tx *httpapi.Tx) { tx.Parked(2, 1) },
		},
		"events of entries": {
			func(tx *httpapi.Tx) { tx.OutboxEvents([]flags.OutboxEntry{{ID: "a"}}) },
			func(tx *httpapi.Tx) { tx.OutboxEvents([]flags.OutboxEntry{{ID: "b"}}) },
			func(tx *httpapi.Tx) { tx.OutboxEvents([]flags.OutboxEntry{{ID: "a"}, {ID: "b"}}) },
		},
		"log": {
			func(tx *httpapi.Tx) { tx.Log(flags.LogQuery{Limit: 1}) },
			func(tx *httpapi.Tx) { tx.Log(flags.LogQuery{Limit: 2}) },
			func(tx *httpapi.Tx) { tx.Log(flags.LogQuery{Limit: 1, Features: []string{"a b"}}) },
			func(tx *httpapi.Tx) { tx.Log(flags.LogQuery{Limit: 1, Features: []string{"a", "b"}}) },
			func(tx *httpapi.Tx) { tx.Log(flags.LogQuery{Limit: 1, From: at}) },
		},
		"usage": {
			func(tx *httpapi.Tx) { tx.Usage("f", usage.Hour, at) },
			func(tx *httpapi.Tx) { tx.Usage("f", usage.Hour, at.Add(time.Hour)) },
			func(tx *httpapi.Tx) { tx.Usage("f", usage.Day, at) },
		},
		"pages of summaries": {
			func(tx *httpapi.Tx) {
				tx.SummaryPage([]*flags.Project{tx.Project("default")}, flags.SummaryQuery{Limit: 1})
			},
			func(tx *httpapi.Tx) {
				tx.SummaryPage([]*flags.Project{tx.Project("default")}, flags.SummaryQuery{Limit: 2})
			},
			func(tx *httpapi.Tx) { tx.SummaryPage([]*flags.Project{tx.Project("default")}, tags("a", "b")) },
			func(tx *httpapi.Tx) { tx.SummaryPage([]*flags.Project{tx.Project("default")}, tags("a} {simple b")) },
		},
		"uses": {
			func(tx *httpapi.Tx) { tx.UsesOf([]string{"a", "b"}) }, func(tx *httpapi.Tx) { tx.UsesOf([]string{"a b"}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &asked{Store: seeded(t)}
			op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.Do(func(tx *httpapi.Tx, _ httpapi.InService) error {
				for _, query := range slices.Concat(queries, queries) {
					query(tx)
				}
				return nil
			})}
			if w := call(t, store, op, httpapi.Config{}, ""); w.Code != http.StatusOK || store.queries != len(queries) {
				t.Errorf("%d %s, %d queries; want %d", w.Code, w.Body, store.queries, len(queries))
			}
		})
	}
}

// A shared store remembers how the aggregates were that it returned.
type shared struct {
	httpapi.Store
	loaded map[flags.Aggregate]string
}

func (s *shared) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	view, err := s.Store.Load(ctx, keys)
	for _, a := range view {
		s.loaded[a] = printed(a)
	}
	return view, err
}

func printed(a flags.Aggregate) string {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestLoadedAggregatesAreShared changes a segment with the number of its uses: not the one that other requests may have, too.
func TestLoadedAggregatesAreShared(t *testing.T) {
	db := seeded(t)
	segment := &flags.Segment{ID: 1, Name: "s", CreatedBy: "admin", CreatedAt: time.Now()}
	f := flags.NewFeature(project(t, db), "f", flags.Metadata{Type: flags.Release}, "admin", time.Now())
	if err := f.AddStrategy(development, flags.Strategy{ID: "s", Name: "default", Segments: []int64{1}}, flags.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	for _, a := range []flags.Aggregate{segment, f} {
		if err := db.Commit(t.Context(), flags.Change{Writes: []flags.Write{{After: a}}, Event: (&httpapi.Tx{}).Sign(flags.Event{Type: "test"})}); err != nil {
			t.Fatal(err)
		}
	}
	store := &shared{db, map[flags.Aggregate]string{}}
	op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.Do(func(tx *httpapi.Tx, _ httpapi.InService) error {
		if s := tx.SegmentForChange(1); s.UseCount != 1 || httpapi.Was(tx, s).UseCount != 1 {
			t.Errorf("%d uses, before %d; want 1", s.UseCount, httpapi.Was(tx, s).UseCount)
		}
		return nil
	})}
	if w := call(t, store, op, httpapi.Config{}, ""); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for a, before := range store.loaded {
		if after := printed(a); after != before {
			t.Errorf("%v was %s, and is %s", a.Key(), before, after)
		}
	}
}

// TestIDsOfSeveralTransactions takes integer ids in several transactions of one operation: each has ids of its own, and those of a
// dry run stay in it.
func TestIDsOfSeveralTransactions(t *testing.T) {
	var ids []int64
	take := func(tx *httpapi.Tx) { ids = append(ids, tx.NextID(flags.EntitySegment)) }
	op := httpapi.Operation{Route: "POST /test", Permission: access.Read, Handle: httpapi.DoMany(func(m *httpapi.Many, _ httpapi.InService) error {
		_, err := m.DryRun(access.Caller{Name: "admin", Admin: true}, 2, nil, func(tx *httpapi.Tx, _ int) error { take(tx); return nil })
		for range 2 {
			err = errors.Join(append(m.Each(2, nil, func(tx *httpapi.Tx, _ int) error { take(tx); return nil }), err)...)
		}
		return errors.Join(err, m.Until(func(tx *httpapi.Tx) (last bool, err error) {
			take(tx)
			return len(ids) >= 8, nil
		}))
	})}
	if w := call(t, seeded(t), op, httpapi.Config{}, ""); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if want := []int64{-1, -2, 1, 2, 3, 4, 5, 6}; !slices.Equal(ids, want) {
		t.Errorf("the ids %v, want %v", ids, want)
	}
}
