package dynamo

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// EachUse calls visit with what each flag uses, one after the other: one call per MB, until visit returns false. Only that MB is in
// memory.
func (s *Store) EachUse(ctx context.Context, visit func(flags.FeatureUse) (goOn bool)) error {
	return s.queryEnvelopes(ctx, envelopeQuery{pk: useList}, func(e envelope) (goOn bool, err error) {
		use, err := readUse(e.Document)
		return err == nil && visit(use), err
	})
}

// UsesAfter reads what the next flags use: one call.
func (s *Store) UsesAfter(ctx context.Context, after string, limit int) (page []flags.FeatureUse, more bool, err error) {
	found, err := s.queryPage(ctx, envelopeQuery{pk: useList, first: after + beforeNames, last: afterNames, limit: limit}, itemKey{})
	if err != nil {
		return nil, false, err
	}
	for _, e := range found.items {
		use, err := readUse(e.Document)
		if err != nil {
			return nil, false, internalError(err)
		}
		page = append(page, use)
	}
	return page, found.more, nil
}

// usesPerName is how many uses Uses reads at most for each name before it reads the others by their keys.
const usesPerName = 4

// Uses reads what flags use: for every hundred names one query, and one BatchGetItem if other flags are between them. The
// names of a page in the order of names are next to each other, and 4 KB of uses are a unit, while a key is one each.
func (s *Store) Uses(ctx context.Context, features []string) (uses []flags.FeatureUse, err error) {
	names := slices.Compact(slices.Sorted(slices.Values(features)))
	for chunk := range slices.Chunk(names, maxBatch) {
		found, read, err := s.usesBetween(ctx, chunk)
		if err != nil {
			return nil, err
		}
		var keys []map[string]types.AttributeValue
		for _, name := range chunk {
			if name > read {
				keys = append(keys, useKey(name).attributes())
			}
		}
		err = batchGet(ctx, s, keys, true, func(e envelope) error {
			use, err := readUse(e.Document)
			found = append(found, use)
			return err
		})
		if err != nil {
			return nil, err
		}
		uses = append(uses, found...)
	}
	slices.SortFunc(uses, func(a, b flags.FeatureUse) int { return strings.Compare(a.Feature, b.Feature) })
	return uses, nil
}

// usesBetween reads what flags use, by one query from the first name to the last. It returns the name up to which all were
// read.
func (s *Store) usesBetween(ctx context.Context, names []string) (found []flags.FeatureUse, read string, err error) {
	last := names[len(names)-1]
	page, err := s.queryPage(ctx, envelopeQuery{pk: useList, first: names[0], last: last, limit: usesPerName * len(names)}, itemKey{})
	if err != nil {
		return nil, "", err
	}
	for _, e := range page.items {
		use, err := readUse(e.Document)
		if err != nil {
			return nil, "", internalError(err)
		}
		if _, wanted := slices.BinarySearch(names, use.Feature); wanted {
			found = append(found, use)
		}
	}
	if page.more {
		return found, page.last.sk, nil
	}
	return found, last, nil
}
