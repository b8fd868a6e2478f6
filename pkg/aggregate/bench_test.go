package aggregate_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/usage"
)

// TestLargeAggregation adds the posts of 10,000 instances that each report 50 flags, and prints what it takes. `make test` adds
// those of 300.
func TestLargeAggregation(t *testing.T) {
	instances := dynamotest.Times(300, 10_000)
	const many = 50
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("checkout-with-a-name-of-some-length-%d", i))
	}
	e := newExpected(t, names...)
	e.now = noon.Add(20 * time.Second)
	e.run()
	queue := make(chan int)
	var posting sync.WaitGroup
	for range 16 {
		posting.Go(func() {
			for i := range queue {
				var counts []usage.Count
				for n, name := range names {
					counts = append(counts, usage.Count{
						Feature: name, Application: fmt.Sprint("service-", i%20), Environment: "development", Yes: int64(n), No: 1,
					})
				}
				post := newPost(noon.Add(time.Duration(i%60_000)*time.Millisecond), counts...)
				post.Instances[0].Instance = fmt.Sprintf("pod-%08x", i)
				if err := e.store.PutPost(t.Context(), post); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range instances {
		queue <- i
	}
	close(queue)
	posting.Wait()

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	faults := &dynamotest.Faults{}
	started := time.Now()
	r, err := aggregate.New(e.faulty(faults), aggregate.Settings{Now: func() time.Time { return noon.Add(2 * time.Minute) }}).Run(t.Context())
	took := time.Since(started)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d posts of %d flags in %d batches: %s, %v, %d MB allocated, %d MB taken from the system",
		r.Posts, many, r.Batches, took.Round(time.Millisecond), faults.Calls(), (after.TotalAlloc-before.TotalAlloc)>>20, after.Sys>>20)
	for n, name := range names {
		e.want[name] = int64(n * instances)
	}
	e.check()
	if took > time.Minute {
		t.Errorf("it took %s, want at most a minute: the function runs every minute", took)
	}
}
