package dynamo

import (
	"fmt"

	"guidon/pkg/flags"
)

// The feed's entries are written with every transaction, see plan.go, and the head of the snapshots by WriteSnapshot. Both
// are only loaded as aggregates.
var (
	feedEntity = entity{
		name:  flags.EntityFeed,
		key:   func(string) itemKey { return itemKey{feedPartition, "FEED"} },
		title: func(string) string { return "the feed" },
		codec: codec{encode: cannotEncode, decode: func(e envelope) (flags.Aggregate, error) { return nil, fmt.Errorf("dynamo: not implemented") }},
	}
	snapshotEntity = entity{
		name:  flags.EntitySnapshot,
		key:   func(string) itemKey { return itemKey{feedPartition, "SNAPSHOT"} },
		title: func(string) string { return "the head of the snapshots" },
		codec: codec{encode: cannotEncode, decode: func(e envelope) (flags.Aggregate, error) { return nil, fmt.Errorf("dynamo: not implemented") }},
	}
)

const feedPartition = "FEED"

func cannotEncode(a flags.Aggregate) (string, error) {
	return "", fmt.Errorf("dynamo: the entity %s is only loaded", a.Key().Entity)
}
