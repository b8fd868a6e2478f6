package dynamo

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// What follows from an aggregate is written with it, in one transaction: the rows that lists read, the names that it
// takes, and the counts of its project.

// planFollowers keeps what follows from an aggregate in step with it. before is nil for a new one, after for a deleted one.
func (s *Store) planFollowers(tx *transaction, before, after flags.Aggregate) error {
	if err := s.planRows(tx, before, after); err != nil {
		return err
	}
	if err := s.planNames(tx, namesOf(before), namesOf(after)); err != nil {
		return err
	}
	_, was := before.(*flags.Feature)
	_, is := after.(*flags.Feature)
	if was || is {
		f, _ := before.(*flags.Feature)
		g, _ := after.(*flags.Feature)
		tx.count(f, g)
		tx.countSegments(f, g)
		return s.planUse(tx, f, g)
	}
	own, _ := before.(*flags.Segment)
	now, _ := after.(*flags.Segment)
	tx.countOwnSegments(own, now)
	project, _ := before.(*flags.Project)
	changed, _ := after.(*flags.Project)
	tx.countDefaults(project, changed)
	return s.planOwner(tx, own, now)
}

// planRows writes the list row that changed, and takes away the one that is no longer right.
func (s *Store) planRows(tx *transaction, before, after flags.Aggregate) error {
	old, from, err := rowOf(before)
	if err != nil {
		return broken(err)
	}
	row, to, err := rowOf(after)
	if err != nil {
		return broken(err)
	}
	if row != old || from != to {
		tx.replaces(old, row)
	}
	if old != "" && from != to {
		s.add(tx, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: from.attributes()}}, outdated)
	}
	if row == "" || row == old && from == to {
		return nil
	}
	item, err := envelope{PK: to.pk, SK: to.sk, Document: row}.attributes()
	if err != nil {
		return broken(err)
	}
	s.add(tx, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: item}}, outdated)
	return nil
}

// rowOf is the list row of an aggregate and where it lies; "" for one without.
func rowOf(a flags.Aggregate) (document string, at place, err error) {
	switch a := a.(type) {
	case *flags.Feature:
		document, err = encode(storeRow(a.Summary()))
		return document, rowPlace(a), err
	case *flags.Project:
		document, err = stored(a)
		return document, place{listPartition(flags.EntityProject), a.ID}, err
	case *flags.Token:
		if a.Deleted || a.Type == flags.PersonalToken {
			return "", place{}, nil
		}
		document, err = stored(a)
		return document, place{listPartition(flags.EntityToken), a.Hash}, err
	}
	return "", place{}, nil
}

// A name is something that only one aggregate may have, and what to say when another has it.
type name struct {
	at      place
	refusal refusal
}

// namesOf are the names that an aggregate takes beside its key.
func namesOf(a flags.Aggregate) map[place]name {
	names := map[place]name{}
	take := func(kind, value string, taken *flags.Error) {
		if value != "" {
			at := place{"UNIQUE#" + kind + "#" + value, "UNIQUE"}
			names[at] = name{at, passing(taken)}
		}
	}
	switch a := a.(type) {
	case *flags.Token:
		if !a.Deleted && a.Type != flags.PersonalToken {
			take("token", a.Name, flags.Errorf(flags.NameExists, "an API token named %s exists already", strconv.Quote(a.Name)))
		}
	case *flags.Segment:
		take("segment", a.Name, flags.Errorf(flags.NameExists, "a segment named %s exists already", strconv.Quote(a.Name)))
	case *flags.User:
		take("username", a.Username, flags.Errorf(flags.Invalid, "the username %s is taken", strconv.Quote(a.Username)))
		take("email", strings.ToLower(a.Email), flags.Errorf(flags.Invalid, "the email %s is taken", strconv.Quote(a.Email)))
	}
	return names
}

// planNames takes the names that are new, each on the condition that nobody has it, and frees those that are gone.
func (s *Store) planNames(tx *transaction, old, now map[place]name) error {
	for _, at := range slices.SortedFunc(maps.Keys(now), byPlace) {
		if _, had := old[at]; had {
			continue
		}
		if err := s.put(tx, envelope{PK: at.pk, SK: at.sk}, notThere(), now[at].refusal); err != nil {
			return err
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(old), byPlace) {
		if _, still := now[at]; !still {
			s.add(tx, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: at.attributes()}}, outdated)
		}
	}
	return nil
}

func byPlace(a, b place) int { return strings.Compare(a.pk, b.pk) }

// planClose closes every guard of a project that is deleted. A guard that still counts active flags, or segments of the
// project's own, forbids it.
func (s *Store) planClose(tx *transaction, p *flags.Project) error {
	none := func(count string) expression.ConditionBuilder {
		return expression.Name(count).AttributeNotExists().Or(expression.Name(count).LessThanEqual(expression.Value(0)))
	}
	expr, err := expression.NewBuilder().WithUpdate(expression.Set(expression.Name("closed"), expression.Value(true))).
		WithCondition(none("active").And(none("segments"))).Build()
	if err != nil {
		return broken(err)
	}
	inUse := passing(flags.Errorf(flags.Conflict, "project %q still has active flags, or segments of its own; archive the flags and delete the segments first", p.ID))
	for i := range guards {
		s.add(tx, types.TransactWriteItem{Update: &types.Update{
			TableName: &s.table, Key: guardAt(p.UID, uint32(i)).attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
			ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
		}}, inUse)
	}
	return nil
}
