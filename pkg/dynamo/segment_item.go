package dynamo

import (
	"strconv"

	"guidon/pkg/flags"
)

var segmentEntity = entity{
	name:    flags.EntitySegment,
	key:     func(id string) itemKey { return itemKey{segmentList, id} },
	title:   func(id string) string { return "the segment " + id },
	codec:   jsonCodec(func(a *flags.Segment) *int64 { return &a.Version }),
	list:    segmentList,
	history: func(a flags.Aggregate) string { return segmentPartition(a.(*flags.Segment).ID) },
	unique: func(a flags.Aggregate) []uniqueName {
		name := a.(*flags.Segment).Name
		return unique("segment", name, flags.Errorf(flags.NameExists, "a segment named %s already exists", strconv.Quote(name)))
	},
	dependents: func(_ *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*flags.Segment)
		segment, _ := after.(*flags.Segment)
		tx.countOwnSegments(old, segment)
		if segment == nil {
			tx.closeSegment(old)
		} else {
			tx.setOwner(old, segment)
		}
		return nil
	},
}

const segmentList = "SEGMENTS"
