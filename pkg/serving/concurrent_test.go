package serving

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A movingSource has the newest of several states.
type movingSource struct {
	fixedSource
	newest atomic.Pointer[State]
}

func (s *movingSource) Read(_ context.Context, hash string) (Reading, error) {
	return Reading{Token: s.tokens[hash], State: s.newest.Load()}, nil
}

// TestConcurrentEvaluations has requests while flags change. A request must see every change before it.
func TestConcurrentEvaluations(t *testing.T) {
	f := newFixture()
	f.add("default", "counter", nil)
	source := &movingSource{fixedSource: fixedSource{tokens: f.store.tokens}}
	source.newest.Store(f.state)
	config := httpapi.Config{}
	h := httpapi.New(nil, FrontendGroup(source, nil, config), config)
	var changes sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		changes.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				least := source.newest.Load().Number
				answer := decoded[answers.FrontendAnswer](t, call(h, "GET", "/api/frontend", "", "Authorization: frontend"), 200)
				got, err := strconv.ParseInt(answer.Toggles[0].Variant.Name, 10, 64)
				if len(answer.Toggles) != 1 || err == nil && got < least {
					t.Errorf("got %+v, want number %d or higher", answer, least)
					return
				}
			}
		})
	}
	for range 200 {
		f.add("default", "counter", func(_ *flags.Feature, fe *flags.FeatureEnvironment) {
			fe.Strategies = []flags.Strategy{{Name: "default"}}
			fe.Variants = []flags.Variant{{Name: strconv.FormatInt(f.state.Number+1, 10), Weight: 1000}}
		})
		source.newest.Store(f.state)
		time.Sleep(100 * time.Microsecond)
	}
	close(stop)
	changes.Wait()
}
