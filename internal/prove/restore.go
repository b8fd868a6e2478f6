package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// restore restores the table to a moment between two changes with the commands of docs/operations/restore.md.
func (p *proof) restore(ctx context.Context) ([]string, error) {
	blocks, stop, err := p.restoreBlocks()
	if err != nil {
		return nil, err
	}
	if _, err := p.newFlag(ctx, "proof-kept"); err != nil {
		return nil, err
	}
	sleep(ctx, 2*time.Second)
	moment := time.Now().UTC()
	sleep(ctx, 2*time.Second)
	if _, err := p.newFlag(ctx, "proof-lost"); err != nil {
		return nil, err
	}
	if p.Emulator == nil {
		sleep(ctx, 10*time.Minute) // the last five minutes cannot be restored
	}
	const list = "\necho; cat lost-events.json"
	restored := p.Stack + "-Table-restored-" + moment.Format("20060102-1504")
	if p.Emulator != nil {
		// MiniStack's CloudFormation sets neither recovery nor time to live nor caps, and it pauses no versions of functions, as below.
		stop[0] = `infra/restore "$TABLE"; aws dynamodb update-table --table-name "$TABLE" --on-demand-throughput MaxReadRequestUnits=12000`
	}
	for _, block := range []string{blocks[1] + list, stop[0], blocks[2], blocks[3]} {
		script := strings.NewReplacer("infra/restore", `"$ROOT/infra/restore"`, "<a flag>", "proof-kept").Replace(block)
		out, err := p.Shell(ctx, `export TABLE="$(resource Table)" RESTORED="$1" MOMENT="$2"`+"\n"+script, restored, moment.Format(time.RFC3339))
		if err == nil && strings.HasSuffix(block, list) && (!strings.Contains(out, "proof-lost") || strings.Contains(out, "proof-kept")) {
			err = fmt.Errorf("lost-events.json should have the events of proof-lost, and none of proof-kept: %s", out)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.Emulator == nil { // MiniStack pauses no versions of functions
		if err := p.Deploy(ctx, "RestoredTable="+restored, "Deployment=AllAtOnce", "Alarms=off", "Paused=on"); err != nil {
			return nil, err
		}
	}
	if err := p.Deploy(ctx, "RestoredTable="+restored, "Paused=off"); err != nil {
		return nil, err
	}
	if p.Emulator == nil {
		if _, err := p.Shell(ctx, stop[1]); err != nil {
			return nil, err
		}
	}
	client, err := p.newToken(ctx, "proof-restore")
	if err != nil {
		return nil, err
	}
	if _, err := p.want(ctx, 200, "POST", project+"/features/proof-kept/environments/development/off", p.token, ""); err != nil {
		return nil, err
	}
	_, err = p.want(ctx, 200, "GET", "/api/client/features?namePrefix=proof-kept", client, "", `"enabled":false`)
	return nil, err
}

// restoreBlocks returns the commands of docs/operations/restore.md, and those that stop callers and let them in again.
func (p *proof) restoreBlocks() (restore, stop []string, err error) {
	restore, err = p.Blocks("docs/operations/restore.md", "# Back up and restore")
	stop, failed := p.Blocks("docs/operations/incidents.md", "## Stop all callers")
	if err := errors.Join(err, failed); err != nil {
		return nil, nil, err
	}
	if len(restore) != 4 || len(stop) != 2 {
		return nil, nil, fmt.Errorf("restore.md has %d blocks of commands, want four: the names, and those of steps 1, 3 and 4; incidents.md has %d, want two", len(restore), len(stop))
	}
	return restore, stop, nil
}
