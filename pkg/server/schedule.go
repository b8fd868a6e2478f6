package server

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// snapshotEvery is how often the local server looks whether a snapshot is due: the rate of the template.
const snapshotEvery = 5 * time.Minute

// The local server adds usage to the sums more often than on AWS, and sooner after it was reported: its runs cost nothing, and
// a request that stores a report takes milliseconds.
const (
	aggregateEvery = 5 * time.Second
	settle         = time.Second
)

// The local server looks for events to deliver all the time, so that a webhook has them about two seconds after a change.
const (
	deliverEvery = time.Second
	deliverFor   = 30 * time.Second // the longest run
)

// The local server looks for scheduled change requests every second, so that they are applied at their time.
const dueEvery = time.Second

// A job is what EventBridge calls at times on AWS.
type job struct {
	every  time.Duration
	failed string
	run    func(context.Context) error
}

// jobs lists what the functions snapshot, aggregate and deliver do, and what transfer does when EventBridge calls it.
func (a *app) jobs() []job {
	return []job{
		{snapshotEvery, "the snapshot was not written", func(ctx context.Context) error {
			_, err := a.reader.WriteSnapshot(ctx)
			return err
		}},
		{aggregateEvery, "usage was not added to the sums", func(ctx context.Context) error {
			_, err := a.aggregator.Run(ctx)
			return err
		}},
		{deliverEvery, "events were not delivered", func(ctx context.Context) error {
			_, err := a.deliverer.Run(ctx, time.Now().Add(deliverFor))
			return err
		}},
		{dueEvery, "scheduled change requests were not applied", a.scheduler.Run},
	}
}

// run runs the jobs. The function returned stops them, and waits until they have stopped.
func run(ctx context.Context, jobs []job) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var clocks sync.WaitGroup
	for _, job := range jobs {
		clocks.Go(func() {
			ticker := time.NewTicker(job.every)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					if err := job.run(ctx); err != nil && ctx.Err() == nil {
						fmt.Fprintf(os.Stderr, "guidon: %s: %v\n", job.failed, err)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return func() {
		cancel()
		clocks.Wait()
	}
}
