package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// What is to happen at a time has an item in one partition, sorted by the time. It is written and deleted in the transaction of its
// aggregate, so there is one exactly as long as the aggregate waits for that time. Whoever does what is due asks for all items up to now: there
// is no cursor, so nothing is missed, however long nobody asked.

// dueLayout has the same length for every time, so that sort keys are in the order of time.
const dueLayout = "2006-01-02T15:04:05.000Z"

const duePartition = "DUE"

// dueKey is the key of the item of what is due. A plan is moved on without its flag, so its item names the run for which it was made: only
// items of the present run count, and who finds another one deletes it.
func dueKey(d flags.Due) itemKey {
	at := d.At.UTC().Format(dueLayout)
	switch {
	case d.Plan == "":
		return itemKey{duePartition, at + "#request#" + d.Key.ID}
	case d.Safeguard != "":
		return itemKey{duePartition, strings.Join([]string{at, "watch", d.Attachment, d.Key.ID, d.Plan, d.Safeguard, d.Signal}, "#")}
	}
	sk := fmt.Sprintf("%s#plan#%s#%s#%d", at, d.Key.ID, d.Plan, d.Run)
	if d.Frozen {
		sk += "#frozen"
	}
	return itemKey{duePartition, sk}
}

// dueOf is what is due by an item.
func dueOf(sk string) (d flags.Due, err error) {
	parts := strings.SplitN(sk, "#", 7) // the name of an alarm can have a #
	if d.At, err = time.Parse(dueLayout, parts[0]); err != nil {
		return d, internalError(err)
	}
	switch {
	case len(parts) == 3 && parts[1] == "request":
		d.Key = flags.Key{Entity: review.EntityRequest, ID: parts[2]}
	case len(parts) == 7 && parts[1] == "watch":
		d.Attachment, d.Key, d.Plan, d.Safeguard, d.Signal = parts[2], flags.FeatureKey(parts[3]), parts[4], parts[5], parts[6]
	case len(parts) >= 5 && parts[1] == "plan":
		d.Key, d.Plan, d.Frozen = flags.FeatureKey(parts[2]), parts[3], len(parts) == 6
		d.Run, err = strconv.ParseInt(parts[4], 10, 64)
	default:
		err = fmt.Errorf("the item %q is due, and of no known kind", sk)
	}
	if err != nil {
		return d, internalError(err)
	}
	return d, nil
}

// dueRequest is when a change request is due: in a list, which is empty if it is not scheduled.
func dueRequest(r *review.Request) []flags.Due {
	if r != nil {
		if at, scheduled := r.Due(); scheduled {
			return []flags.Due{{Key: r.Key(), At: at}}
		}
	}
	return nil
}

// planDue writes the items of what has become due with a change, and deletes those of what is no longer.
func (s *Store) planDue(tx *transaction, before, after []flags.Due) error {
	for _, d := range before {
		if !slices.Contains(after, d) {
			s.deleteAlways(tx, dueKey(d))
		}
	}
	for _, d := range after {
		if slices.Contains(before, d) {
			continue
		}
		at := dueKey(d)
		if err := s.put(tx, envelope{PK: at.pk, SK: at.sk}, always, versionConflict); err != nil {
			return err
		}
	}
	return nil
}

// Due calls visit with what is due at a time, the longest due first, until it returns false: one call per MB of items.
func (s *Store) Due(ctx context.Context, at time.Time, visit func(flags.Due) (goOn bool)) error {
	q := itemQuery{pk: duePartition, first: "0", last: at.UTC().Format(dueLayout) + "$", attributes: []string{"sk"}} // "$" comes after "#"
	return query(ctx, s, q, func(e envelope) (bool, error) {
		d, err := dueOf(e.SK)
		return err == nil && visit(d), err
	})
}

// Watched returns the safeguards of plans under an attachment of an environment, those that are looked at first: two calls.
func (s *Store) Watched(ctx context.Context, attachment string) (list []flags.Due, err error) {
	for _, at := range []time.Time{flags.WatchAlways, flags.WatchNever} {
		first := at.Format(dueLayout) + "#watch#" + attachment
		q := itemQuery{pk: duePartition, first: first + "#", last: first + "$", attributes: []string{"sk"}}
		err := query(ctx, s, q, func(e envelope) (bool, error) {
			d, err := dueOf(e.SK)
			list = append(list, d)
			return err == nil, err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// MoveDue moves what is due of a plan to another time, or with nil deletes it: one call. What has a new run in the meantime is in an item of its own.
func (s *Store) MoveDue(ctx context.Context, from flags.Due, to *flags.Due) error {
	items := []types.TransactWriteItem{{Delete: &types.Delete{TableName: &s.table, Key: dueKey(from).attributes()}}}
	if to != nil {
		at := dueKey(*to)
		put, err := s.putOf(envelope{PK: at.pk, SK: at.sk}, expression.ConditionBuilder{})
		if err != nil {
			return err
		}
		items = append(items, types.TransactWriteItem{Put: put})
	}
	_, err := s.transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return err
}
