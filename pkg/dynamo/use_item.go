package dynamo

import (
	"errors"
	"strconv"
	"strings"

	"guidon/pkg/flags"
)

// useEntity is what a flag uses of segments and context fields. It is written with the flag, see planUse.
var useEntity = entity{
	name:  flags.EntityUse,
	key:   useKey,
	title: useTitle,
	codec: codec{
		encode: func(a flags.Aggregate) (string, error) { return encode(useDocument{format, a.(flags.FeatureUse)}) },
		decode: func(e envelope) (flags.Aggregate, error) { return readUse(e.Document) },
	},
	list: useList,
}

const useList = "USES"

func useKey(feature string) itemKey { return itemKey{useList, feature} }

func useTitle(feature string) string {
	return "the segments and context fields that the strategies of " + featureTitle(feature) + " use"
}

// useCountEntity is the part of a segment's guard that is read. Guards are written by segment_guard.go.
var useCountEntity = entity{
	name:  flags.EntityUseCount,
	key:   func(id string) itemKey { return itemKey{segmentPrefix + id, segmentGuardSortKey} },
	title: func(id string) string { return "the count of uses of the segment " + id },
	codec: codec{
		encode: func(flags.Aggregate) (string, error) {
			return "", errors.New("dynamo: a count of uses has no document; it changes with the flags and projects that use the segment")
		},
		decode: func(e envelope) (flags.Aggregate, error) {
			id, err := strconv.ParseInt(strings.TrimPrefix(e.PK, segmentPrefix), 10, 64)
			return &flags.UseCount{Segment: id, Count: e.Begun, Flags: e.Uses}, err
		},
	},
}

// A useDocument is the stored form of what a flag uses.
type useDocument struct {
	Format int `json:"format"`
	flags.FeatureUse
}

// readUse decodes what a flag uses.
func readUse(document string) (use flags.FeatureUse, err error) {
	err = decode(document, &use)
	return use, err
}
