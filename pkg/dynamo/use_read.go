package dynamo

import (
	"context"
	"slices"
	"strings"

	"guidon/pkg/flags"
)

// EachUse calls visit with what each flag uses, one after the other: one call per MB, until visit returns false or an error. Only
// that MB is in memory.
func (s *Store) EachUse(ctx context.Context, visit func(flags.FeatureUse) (goOn bool, err error)) error {
	return eachDocument(ctx, s, itemQuery{pk: useList}, readUse, visit)
}

// UsesAfter reads what the next flags use: one call.
func (s *Store) UsesAfter(ctx context.Context, after string, limit int) (page []flags.FeatureUse, more bool, err error) {
	return s.usePage(ctx, after+beforeNames, afterNames, limit)
}

// usePage reads what the flags from a name to another use: one call.
func (s *Store) usePage(ctx context.Context, first, last string, limit int) (page []flags.FeatureUse, more bool, err error) {
	items, more, err := queryPage[envelope](ctx, s, itemQuery{pk: useList, first: first, last: last, attributes: documentAttributes, limit: limit})
	if err != nil {
		return nil, false, err
	}
	for _, e := range items {
		use, err := readUse(e.Document)
		if err != nil {
			return nil, false, internalError(err)
		}
		page = append(page, use)
	}
	return page, more, nil
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
		var others []itemKey
		for _, name := range chunk {
			if name > read {
				others = append(others, useKey(name))
			}
		}
		uses = append(uses, found...)
		err = batchGet(ctx, s, others, true, func(e envelope) error {
			use, err := readUse(e.Document)
			uses = append(uses, use)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(uses, func(a, b flags.FeatureUse) int { return strings.Compare(a.Feature, b.Feature) })
	return uses, nil
}

// usesBetween reads what flags use, by one query from the first name to the last. It returns the name up to which all were
// read.
func (s *Store) usesBetween(ctx context.Context, names []string) (found []flags.FeatureUse, read string, err error) {
	found, more, err := s.usePage(ctx, names[0], names[len(names)-1], usesPerName*len(names))
	if err != nil {
		return nil, "", err
	}
	read = names[len(names)-1]
	if more {
		read = found[len(found)-1].Feature
	}
	found = slices.DeleteFunc(found, func(u flags.FeatureUse) bool {
		_, wanted := slices.BinarySearch(names, u.Feature)
		return !wanted
	})
	return found, read, nil
}
