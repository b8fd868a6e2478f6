package dynamo

import (
	"strconv"

	"guidon/pkg/flags"
)

var featureEntity = entity{
	name:  flags.EntityFeature,
	key:   func(name string) itemKey { return itemKey{"FLAG#" + name, "FLAG"} },
	title: featureTitle,
	codec: jsonCodec(func(a *flags.Feature) *int64 { return &a.Version }),
	exists: func(name string) conditionError {
		return permanent(flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name", name))
	},
	row: func(a flags.Aggregate) (string, itemKey, error) {
		f := a.(*flags.Feature)
		document, err := encode(storeRow(f.Summary()))
		return document, rowKey(f), err
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*flags.Feature)
		f, _ := after.(*flags.Feature)
		tx.countFeature(old, f)
		tx.countSegments(old, f)
		return s.planUse(tx, old, f)
	},
}

func featureTitle(name string) string { return "the flag " + strconv.Quote(name) }
