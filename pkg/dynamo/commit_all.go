package dynamo

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// How many transactions CommitAll sends at the same time, and how many more it plans ahead. Each may need several MB of
// memory.
const (
	maxConcurrent = 8
	maxPlanned    = 16
)

// CommitAll applies changes, each in its own transaction, several at the same time. Two transactions that write the same
// item, such as the feed or the guard of a project, are sent one after the other: DynamoDB would cancel one of them. So all
// changes that applications see are, because they add to the feed.
func (s *Store) CommitAll(ctx context.Context, changes []flags.Change) []error {
	type commit struct {
		i    int
		tx   *transaction
		keys []itemKey
	}
	errs := make([]error, len(changes))
	var (
		planned []commit
		next    int // the first change that is not planned
		running int
		written = map[itemKey]bool{} // by the running transactions
		done    = make(chan commit)
		feed    = s.newFeedReads(changes)
	)
	for {
		for ; next < len(changes) && len(planned) < maxPlanned; next++ {
			change := changes[next]
			change.Feed = feed.next(ctx)
			tx, err := s.plan(change)
			if errs[next] = err; tx != nil {
				feed.planned(tx)
				planned = append(planned, commit{next, tx, tx.keys()})
			}
		}
		if len(planned) == 0 && running == 0 {
			return errs
		}
		free := slices.IndexFunc(planned, func(c commit) bool {
			return !slices.ContainsFunc(c.keys, func(key itemKey) bool { return written[key] })
		})
		if free < 0 || running == maxConcurrent {
			c := <-done
			running--
			for _, key := range c.keys {
				delete(written, key)
			}
			continue
		}
		c := planned[free]
		planned = slices.Delete(planned, free, free+1)
		running++
		for _, key := range c.keys {
			written[key] = true
		}
		go func() {
			defer func() { done <- c }()
			errs[c.i] = s.sendInTime(ctx, c.tx)
		}()
	}
}

// feedReads gives the feed to the changes of CommitAll. Only one of them can turn the feed as it was read. So the feed is
// read again after every feedEvery entries; otherwise many changes at once would make it long. By then the change that turned
// it was sent, because fewer than feedEvery changes are planned or running.
type feedReads struct {
	store   *Store
	read    *flags.Feed // nil if it was turned since
	entries int         // that were planned since it was read
}

const feedEvery = 32

func (s *Store) newFeedReads(changes []flags.Change) *feedReads {
	f := &feedReads{store: s}
	if len(changes) > 0 {
		f.read = changes[0].Feed
	}
	return f
}

// next returns the feed for the next change. If it cannot be read, no change turns it.
func (f *feedReads) next(ctx context.Context) *flags.Feed {
	if f.entries >= feedEvery {
		view, _ := f.store.Load(ctx, []flags.Key{flags.FeedKey()})
		f.read, f.entries = flags.Find[*flags.Feed](view, flags.FeedKey()), 0
	}
	return f.read
}

func (f *feedReads) planned(tx *transaction) {
	if len(tx.served) > 0 {
		f.entries++
	}
	if tx.turns {
		f.read = nil
	}
}

// sendInTime sends a transaction, unless the context has ended. It returns a panic, which would end the process, as an
// error.
func (s *Store) sendInTime(ctx context.Context, tx *transaction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = internalError(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if ctx.Err() != nil {
		return flags.Errorf(flags.Unavailable, "the request ran out of time first, so it was not changed; try again")
	}
	return s.send(ctx, tx)
}

// keys lists the keys of a transaction's items.
func (tx *transaction) keys() []itemKey {
	list := make([]itemKey, 0, len(tx.input.TransactItems))
	for _, item := range tx.input.TransactItems {
		attributes := attributesOf(item)
		pk, _ := attributes["pk"].(*types.AttributeValueMemberS)
		sk, _ := attributes["sk"].(*types.AttributeValueMemberS)
		list = append(list, itemKey{pk.Value, sk.Value})
	}
	return list
}

// attributesOf is the item of a put, or the key of another action.
func attributesOf(item types.TransactWriteItem) map[string]types.AttributeValue {
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
