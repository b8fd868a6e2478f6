package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// requestEntity is the change requests. They are never deleted. A list row in the partition of the project has what lists show, apart for
// the open ones, and the item REQUESTS counts these.
var requestEntity = entity{
	name:  review.EntityRequest,
	key:   func(id string) itemKey { return itemKey{requestPrefix + id, "REQUEST"} },
	title: func(id string) string { return "change request " + id },
	codec: requestCodec,
	row: func(a flags.Aggregate) (string, itemKey, error) {
		r := a.(*review.Request)
		document, err := requestCodec.encode(r.Listed())
		return document, itemKey{projectPartition(r.ProjectUID), fmt.Sprintf("%s%012d", requestRowsOf(r), r.ID)}, err
	},
	unique: func(a flags.Aggregate) []uniqueName {
		return unique("draft", a.(*review.Request).DraftName(), flags.Errorf(flags.NameExists, "there is already a draft of a change request in this environment"))
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*review.Request)
		r, _ := after.(*review.Request)
		if err := s.planDue(tx, dueRequest(old), dueRequest(r)); err != nil {
			return err
		}
		was, is := old != nil && old.Open(), r != nil && r.Open()
		if was == is {
			return nil
		}
		open, count := expression.Name("open"), tx.guardUpdate(itemKey{projectPartition(cmp.Or(r, old).ProjectUID), "REQUESTS"})
		if was {
			count.counts["open"]--
		} else {
			count.counts["open"]++
		}
		count.holds, count.failed = nil, retryable(tooManyRequests)
		if count.counts["open"] > 0 { // not if one is opened and another one closed
			count.holds = append(count.holds, open.AttributeNotExists().Or(open.LessThan(expression.Value(review.MaxOpen))))
		}
		return nil
	},
}

var tooManyRequests = flags.Errorf(flags.Conflict, "the project has %d open change requests, which is the limit; apply or cancel some first", review.MaxOpen)

var requestCodec = jsonCodec(func(a *review.Request) *int64 { return &a.Version })

// commentEntity is the comments on change requests, beside them. Each is written with its request, whose history has the event.
var commentEntity = entity{
	name: review.EntityComment,
	key: func(id string) itemKey {
		request, number, _ := strings.Cut(id, "#")
		return itemKey{requestPrefix + request, "COMMENT#" + number}
	},
	title: func(id string) string { return "the comment " + strconv.Quote(id) },
	codec: jsonCodec(func(a *review.Comment) *int64 { return &a.Version }),
}

const requestPrefix = "REQUEST#"

// The prefixes of the sort keys of list rows. Those of applied requests are apart from the others that are closed, and those of discarded
// drafts, which only their authors could see, are in no list: so whoever sends requests and cancels them hides no applied ones.
const (
	openRows      = "REQUEST#OPEN#"
	appliedRows   = "REQUEST#CLOSED#"
	unappliedRows = "REQUEST#UNAPPLIED#"
	discardedRows = "REQUEST#DISCARDED#"
)

func requestRowsOf(r *review.Request) string {
	switch {
	case r.Open():
		return openRows
	case r.Private():
		return discardedRows
	case r.State == review.Applied:
		return appliedRows
	}
	return unappliedRows
}

// Requests lists the open or the other change requests of a project, newest first: one call per MB of rows, two for the others, of which at
// most 1 MB is read each.
func (s *Store) Requests(ctx context.Context, projectUID string, open bool) ([]*review.Request, error) {
	if open {
		list := []*review.Request{}
		err := query(ctx, s, requestQuery(projectUID, openRows), func(e envelope) (bool, error) {
			r, err := listedRequest(e)
			list = append(list, r)
			return len(list) < review.MaxListed, err
		})
		return list, err
	}
	unapplied, err := s.closedRequests(ctx, projectUID, unappliedRows)
	if err != nil {
		return nil, err
	}
	applied, err := s.closedRequests(ctx, projectUID, appliedRows)
	list := slices.Concat(unapplied, applied)
	slices.SortFunc(list, func(a, b *review.Request) int { return cmp.Compare(b.ID, a.ID) })
	return list, err
}

// closedRequests are the newest requests with such rows that one call returns.
func (s *Store) closedRequests(ctx context.Context, projectUID, prefix string) (list []*review.Request, err error) {
	q := requestQuery(projectUID, prefix)
	q.limit = review.MaxListed
	rows, _, err := queryPage[envelope](ctx, s, q)
	for _, e := range rows {
		r, err := listedRequest(e)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, err
}

func requestQuery(projectUID, prefix string) itemQuery {
	return itemQuery{pk: projectPartition(projectUID), prefix: prefix, attributes: documentAttributes, descending: true}
}

// listedRequest decodes a list row.
func listedRequest(e envelope) (*review.Request, error) {
	a, err := requestCodec.decode(e)
	if err != nil {
		return nil, err
	}
	return a.(*review.Request), nil
}

// Items counts the items that a change would write: no call.
func (s *Store) Items(change flags.Change) (int, error) {
	tx, err := s.plan(change)
	if tx == nil || err != nil {
		return 0, err
	}
	return len(tx.errors), nil
}
