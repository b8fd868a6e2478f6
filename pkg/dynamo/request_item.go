package dynamo

import (
	"cmp"
	"context"
	"fmt"
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
		return document, itemKey{projectPartition(r.ProjectUID), fmt.Sprintf("%s%012d", requestRowPrefixOf(r), r.ID)}, err
	},
	unique: func(a flags.Aggregate) []uniqueName {
		return unique("draft", a.(*review.Request).DraftName(), flags.Errorf(flags.NameExists, "there is already a draft of a change request in this environment"))
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*review.Request)
		r, _ := after.(*review.Request)
		if err := s.planDue(tx, old, r); err != nil {
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

// requestRowPrefixOf is the prefix of the list row of a request. Lists leave out discarded drafts, which only their authors could see: so they
// do not take the places of others.
func requestRowPrefixOf(r *review.Request) string {
	if !r.Open() && r.Private() {
		return "REQUEST#DISCARDED#"
	}
	return requestRowPrefix(r.Open())
}

// requestRowPrefix is the prefix of the sort keys of the list rows of change requests.
func requestRowPrefix(open bool) string {
	if open {
		return "REQUEST#OPEN#"
	}
	return "REQUEST#CLOSED#"
}

// Requests lists the open or the other change requests of a project, newest first: one call per MB of rows.
func (s *Store) Requests(ctx context.Context, projectUID string, open bool) ([]*review.Request, error) {
	list := []*review.Request{}
	q := itemQuery{pk: projectPartition(projectUID), prefix: requestRowPrefix(open), attributes: documentAttributes, descending: true}
	err := query(ctx, s, q, func(e envelope) (bool, error) {
		a, err := requestCodec.decode(e)
		if err == nil {
			list = append(list, a.(*review.Request))
		}
		return len(list) < review.MaxListed, err
	})
	return list, err
}

// Items counts the items that a change would write: no call.
func (s *Store) Items(change flags.Change) (int, error) {
	tx, err := s.plan(change)
	if tx == nil || err != nil {
		return 0, err
	}
	return len(tx.errors), nil
}
