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
	var stopped error
	err := s.queryEnvelopes(ctx, envelopeQuery{pk: useList}, func(e envelope) (goOn bool, err error) {
		use, err := readUse(e.Document)
		if err == nil {
			goOn, stopped = visit(use)
		}
		return goOn && stopped == nil, err
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// UsesAfter reads what the next flags use: one call.
func (s *Store) UsesAfter(ctx context.Context, after string, limit int) (page []flags.FeatureUse, more bool, err error) {
	found, err := s.queryPage(ctx, envelopeQuery{pk: useList, first: after + beforeNames, last: afterNames, limit: limit}, itemKey{})
	if err != nil {
		return nil, false, err
	}
	page, err = readUses(found.items)
	return page, found.more, err
}

func readUses(items []envelope) (uses []flags.FeatureUse, err error) {
	for _, e := range items {
		use, err := readUse(e.Document)
		if err != nil {
			return nil, internalError(err)
		}
		uses = append(uses, use)
	}
	return uses, nil
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
		items, err := s.loadEnvelopes(ctx, others)
		if err != nil {
			return nil, err
		}
		rest, err := readUses(items)
		if err != nil {
			return nil, err
		}
		uses = append(append(uses, found...), rest...)
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
	found, err = readUses(page.items)
	found = slices.DeleteFunc(found, func(u flags.FeatureUse) bool {
		_, wanted := slices.BinarySearch(names, u.Feature)
		return !wanted
	})
	if page.more {
		last = page.last.sk
	}
	return found, last, err
}
