package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// Load reads aggregates: one call for up to 100 keys.
func (s *Store) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	view := make(flags.View, len(keys))
	keyOfItem := make(map[itemKey]flags.Key, len(keys))
	var request []itemKey
	for _, key := range flags.Distinct(keys) { // the engine rejects a batch with the same key twice
		at := keyOf(key)
		keyOfItem[at] = key
		request = append(request, at)
	}
	err := batchGet(ctx, s, request, true, func(e envelope) (err error) {
		key, requested := keyOfItem[itemKey{e.PK, e.SK}]
		if !requested {
			return errors.New("dynamo: the response has an item that was not requested")
		}
		view[key], err = entityOf(key.Entity).decode(e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return view, nil
}

// Summaries lists a project's active or archived flags: one call per MB of rows.
func (s *Store) Summaries(ctx context.Context, projectUID string, archived bool) ([]flags.FeatureSummary, error) {
	list := []flags.FeatureSummary{}
	err := s.documents(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
		row, err := readRow(e.Document)
		list = append(list, row)
		return err
	})
	return list, err
}

// Tags lists the tags of a project's flags. It reads their list rows: one call per MB for the active flags, and the same
// for the archived ones.
func (s *Store) Tags(ctx context.Context, projectUID string) ([]flags.Tag, error) {
	found := map[flags.Tag]bool{}
	for _, archived := range []bool{false, true} {
		err := s.documents(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
			var row struct {
				Tags []flags.Tag `json:"g"` // of a rowDocument
			}
			err := decode(e.Document, &row)
			for _, tag := range row.Tags {
				found[tag] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return flags.DistinctTags(slices.Collect(maps.Keys(found))), nil
}

// List reads all aggregates of an entity: one call per MB. Projects and tokens come from list rows, which have no version,
// so they cannot be changed.
func (s *Store) List(ctx context.Context, name flags.Entity) ([]flags.Aggregate, error) {
	entity := entityOf(name)
	if entity.list == "" {
		return nil, internalError(fmt.Errorf("dynamo: the entity %s has no list", name))
	}
	list := []flags.Aggregate{}
	err := s.documents(ctx, entity.list, "", func(e envelope) error {
		a, err := entity.decode(e)
		list = append(list, a)
		return err
	})
	return list, err
}

// Events lists the history of an aggregate, oldest first: one call per MB of events, and of their bodies.
func (s *Store) Events(ctx context.Context, of flags.Aggregate) ([]flags.Event, error) {
	list, bodies := []flags.Event{}, map[string]string{} // by event ID
	err := s.documents(ctx, historyOf(of), bodyPrefix, func(e envelope) error {
		var body eventBody
		err := decode(e.Document, &body)
		bodies[body.ID] = e.Document
		return err
	})
	if err != nil {
		return list, err
	}
	err = s.documents(ctx, historyOf(of), eventPrefix, func(e envelope) error {
		var doc eventDocument
		if err := decode(e.Document, &doc); err != nil {
			return err
		}
		event, err := doc.event(bodies[doc.ID])
		list = append(list, event)
		return err
	})
	return list, err
}

// documents calls each with the documents and versions of the items of a partition whose sort keys begin with prefix, in order:
// one call per MB.
func (s *Store) documents(ctx context.Context, pk, prefix string, each func(e envelope) error) error {
	return query(ctx, s, itemQuery{pk: pk, prefix: prefix, attributes: documentAttributes}, func(e envelope) (bool, error) { return true, each(e) })
}

// documentAttributes are the attributes of an envelope that lists read.
var documentAttributes = []string{"doc", "version"}

// A documentItem is the document of an item. Reading it as an envelope would take twice as long, of which a search notices a tenth.
type documentItem string

// UnmarshalDynamoDBAttributeValue reads the document.
func (d *documentItem) UnmarshalDynamoDBAttributeValue(item types.AttributeValue) error {
	attributes, _ := item.(*types.AttributeValueMemberM)
	document, is := attributes.Value["doc"].(*types.AttributeValueMemberS)
	if !is {
		return errors.New("dynamo: an item of a list has no document")
	}
	*d = documentItem(document.Value)
	return nil
}

// eachDocument calls visit with what decode makes of the documents that a query selects, until visit returns false or an error,
// which it returns.
func eachDocument[A any](ctx context.Context, s *Store, q itemQuery, decode func(document string) (A, error), visit func(A) (goOn bool, err error)) error {
	var stopped error
	q.attributes = []string{"doc"}
	err := query(ctx, s, q, func(item documentItem) (goOn bool, err error) {
		decoded, err := decode(string(item))
		if err == nil {
			goOn, stopped = visit(decoded)
		}
		return goOn && stopped == nil, err
	})
	if stopped != nil {
		return stopped
	}
	return err
}
