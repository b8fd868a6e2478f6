package dynamo

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// How many transactions of CommitAll are under way at the same time, and how many more are planned and wait. Each may hold
// a megabyte.
const (
	commitsAtOnce  = 8
	commitsPlanned = 16
)

// CommitAll applies changes, each by itself, several at the same time. Two that write the same item, such as the guard of
// a project or of a segment, are sent one after the other: DynamoDB cancels a transaction that meets another one on an item.
func (s *Store) CommitAll(ctx context.Context, changes []flags.Change) []error {
	type commit struct {
		i      int
		tx     *transaction
		places []place
	}
	errs := make([]error, len(changes))
	var (
		planned  []commit
		next     int // the first change that is not planned
		underWay int
		held     = map[place]bool{} // what the transactions under way write
		ended    = make(chan commit)
	)
	for {
		for ; next < len(changes) && len(planned) < commitsPlanned; next++ {
			tx, err := s.plan(changes[next])
			if errs[next] = err; tx != nil {
				planned = append(planned, commit{next, tx, tx.places()})
			}
		}
		if len(planned) == 0 && underWay == 0 {
			return errs
		}
		free := slices.IndexFunc(planned, func(c commit) bool {
			return !slices.ContainsFunc(c.places, func(p place) bool { return held[p] })
		})
		if free < 0 || underWay == commitsAtOnce {
			c := <-ended
			underWay--
			for _, p := range c.places {
				delete(held, p)
			}
			continue
		}
		c := planned[free]
		planned = slices.Delete(planned, free, free+1)
		underWay++
		for _, p := range c.places {
			held[p] = true
		}
		go func() {
			defer func() { ended <- c }()
			errs[c.i] = s.sendInTime(ctx, c.tx)
		}()
	}
}

// sendInTime sends a transaction, unless time is up. A panic, which would end the process, is an error.
func (s *Store) sendInTime(ctx context.Context, tx *transaction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = broken(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if ctx.Err() != nil {
		return flags.Errorf(flags.Unavailable, "there was no time left for it, and it was not changed; try again")
	}
	return s.send(ctx, tx)
}

// places are where the items of a transaction lie.
func (tx *transaction) places() []place {
	list := make([]place, 0, len(tx.input.TransactItems))
	for _, item := range tx.input.TransactItems {
		key := keyOf(item)
		pk, _ := key["pk"].(*types.AttributeValueMemberS)
		sk, _ := key["sk"].(*types.AttributeValueMemberS)
		list = append(list, place{pk.Value, sk.Value})
	}
	return list
}

// keyOf are attributes that the key of an action's item is among.
func keyOf(item types.TransactWriteItem) map[string]types.AttributeValue {
	switch {
	case item.Put != nil:
		return item.Put.Item
	case item.Update != nil:
		return item.Update.Key
	case item.Delete != nil:
		return item.Delete.Key
	}
	return item.ConditionCheck.Key
}
