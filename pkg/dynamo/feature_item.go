package dynamo

import (
	"strconv"

	"guidon/pkg/flags"
)

var featureEntity = entity{
	name:  flags.EntityFeature,
	key:   func(name string) itemKey { return itemKey{"FLAG#" + name, "FLAG"} },
	title: featureTitle,
	codec: featureCodec,
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
		if large := f.WithLargestMilestones(); large != f {
			document, err := featureCodec.encode(large)
			if err != nil {
				return internalError(err)
			}
			if err := checkSize(featureTitle(f.Name)+" with the largest milestone of its release plan", document); err != nil {
				return err
			}
		}
		tx.countFeature(old, f)
		tx.countSegments(old, f)
		if err := s.planDue(tx, old.Due(), f.Due()); err != nil {
			return err
		}
		return s.planUse(tx, old, f)
	},
}

var featureCodec = jsonCodec(func(a *flags.Feature) *int64 { return &a.Version })

func featureTitle(name string) string { return "the flag " + strconv.Quote(name) }
