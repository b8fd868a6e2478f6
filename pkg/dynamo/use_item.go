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
	codec: jsonCodec(storeUse, useDocument.use),
	list:  useList,
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

// A useDocument is the stored form of what a flag uses. Its field names are short because there is one for each strategy.
type useDocument struct {
	Format     int                   `json:"format"`
	Feature    string                `json:"feature"`
	Project    string                `json:"project"`
	ProjectUID string                `json:"projectUid,omitzero"`
	Archived   bool                  `json:"archived,omitzero"`
	Strategies []strategyUseDocument `json:"strategies"`
}

type strategyUseDocument struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Environment    string   `json:"env"`
	EnvironmentUID string   `json:"envUid"`
	Segments       []int64  `json:"segments,omitempty"`
	ContextFields  []string `json:"fields,omitempty"`
}

func storeUse(u flags.FeatureUse) useDocument {
	return useDocument{format, u.Feature, u.Project, u.ProjectUID, u.Archived,
		convert(u.Strategies, func(s flags.StrategyUse) strategyUseDocument { return strategyUseDocument(s) })}
}

func (doc useDocument) use(int64) flags.FeatureUse {
	return flags.FeatureUse{Feature: doc.Feature, Project: doc.Project, ProjectUID: doc.ProjectUID, Archived: doc.Archived,
		Strategies: convert(doc.Strategies, func(s strategyUseDocument) flags.StrategyUse { return flags.StrategyUse(s) })}
}

// readUse decodes what a flag uses.
func readUse(document string) (flags.FeatureUse, error) {
	var doc useDocument
	err := decode(document, &doc)
	return doc.use(0), err
}
