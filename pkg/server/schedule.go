package server

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// scheduledEvent is what EventBridge sends to a function, as far as Guidon's functions need it.
const scheduledEvent = `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`

// The local server adds usage to the sums more often than on AWS, and sooner after it was reported: its runs cost nothing, and
// a request that stores a report takes milliseconds.
const (
	aggregateEvery = 5 * time.Second
	settle         = time.Second
)

// The local server looks for events to deliver all the time, so that a webhook has them about two seconds after a change.
const deliverEvery = time.Second

// The local server looks for scheduled change requests every second, so that they are applied at their time.
const dueEvery = time.Second

// runSchedule does what EventBridge does on AWS: it calls the functions Snapshot, Aggregate, Deliver and Transfer, the first at the rate of
// the template. The function returned stops it, and waits until it has stopped.
func (g *gateway) runSchedule(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var clocks sync.WaitGroup
	for _, job := range []struct {
		every  time.Duration
		failed string
		run    func(context.Context) error
	}{
		{g.snapshotEvery, "the snapshot was not written", g.writeSnapshot},
		{g.aggregateEvery, "usage was not added to the sums", g.aggregate},
		{g.deliverEvery, "events were not delivered", g.deliver},
		{dueEvery, "scheduled change requests were not applied", g.applyDue},
	} {
		if job.every <= 0 {
			continue
		}
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

// writeSnapshot writes a snapshot if one is due: in this process, or in that of the function.
func (g *gateway) writeSnapshot(ctx context.Context) error {
	if g.processes != nil {
		return g.invokeScheduled(ctx, "SnapshotFunction")
	}
	_, err := g.reader.WriteSnapshot(ctx)
	return err
}

// aggregate adds usage to the sums: in this process, or in that of the function.
func (g *gateway) aggregate(ctx context.Context) error {
	if g.processes != nil {
		return g.invokeScheduled(ctx, "AggregateFunction")
	}
	_, err := g.aggregator.Run(ctx)
	return err
}

// deliver sends events to webhooks: in this process, or in that of the function.
func (g *gateway) deliver(ctx context.Context) error {
	if g.processes != nil {
		return g.invokeScheduled(ctx, "DeliverFunction")
	}
	const atMost = 30 * time.Second
	_, err := g.deliverer.Run(ctx, time.Now().Add(atMost))
	return err
}

// applyDue applies the change requests that are due: in this process, or in that of the function.
func (g *gateway) applyDue(ctx context.Context) error {
	if g.processes != nil {
		return g.invokeScheduled(ctx, "TransferFunction")
	}
	return g.scheduler.Run(ctx)
}

func (g *gateway) invokeScheduled(ctx context.Context, id string) error {
	_, err := g.processes.functions[id].Invoke(ctx, []byte(scheduledEvent))
	return err
}
