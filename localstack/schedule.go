package localstack

import (
	"context"
	"fmt"
	"os"
	"time"
)

// scheduledEvent is what EventBridge sends to a function, as far as Guidon's functions need it.
const scheduledEvent = `{"version":"0","source":"aws.events","detail-type":"Scheduled Event","detail":{}}`

// runSchedule does what EventBridge does on AWS: it calls the function Snapshot at the rate of the template. The function
// returned stops it, and waits until it has stopped. The probe, the other function with a schedule, has nothing to call.
func (g *gateway) runSchedule(ctx context.Context) (stop func()) {
	if g.snapshotEvery <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(g.snapshotEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if err := g.writeSnapshot(ctx); err != nil && ctx.Err() == nil {
					fmt.Fprintln(os.Stderr, "guidon: the snapshot was not written:", err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// writeSnapshot writes a snapshot if one is due: in this process, or in that of the function.
func (g *gateway) writeSnapshot(ctx context.Context) error {
	if g.processes != nil {
		_, err := g.processes.functions["SnapshotFunction"].Invoke(ctx, []byte(scheduledEvent))
		return err
	}
	_, err := g.reader.WriteSnapshot(ctx)
	return err
}
