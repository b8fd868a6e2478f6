package dynamo

import (
	"time"

	"guidon/pkg/flags"
)

// A rowDocument is the stored form of a flag's list row. Its field names are short because a list reads thousands of rows.
type rowDocument struct {
	rowHead
	Environments map[string]rowStanding `json:"e,omitempty"`
}

// A rowHead is a row without its environments, which are the larger part of it, and which most searches do not compare.
type rowHead struct {
	Format         int               `json:"f"`
	Name           string            `json:"n"`
	Project        string            `json:"p"`
	Type           flags.FeatureType `json:"t"`
	Description    *string           `json:"d,omitzero"`
	Stale          bool              `json:"s,omitzero"`
	ImpressionData bool              `json:"i,omitzero"`
	Archived       bool              `json:"a,omitzero"`
	CreatedAt      time.Time         `json:"c"`
	ArchivedAt     time.Time         `json:"ca,omitzero"`
	LastSeenAt     time.Time         `json:"l,omitzero"`
	Tags           []flags.Tag       `json:"g,omitempty"`
	Favorites      []string          `json:"fa,omitempty"`
	Relation       flags.Relation    `json:"r,omitzero"`
	Entered        flags.Phase       `json:"y,omitzero"`
}

type rowStanding struct {
	Environment       string    `json:"u"`
	EnabledIn         string    `json:"on,omitzero"`
	Strategies        int       `json:"s,omitzero"`
	EnabledStrategies int       `json:"es,omitzero"`
	Variants          int       `json:"v,omitzero"`
	LastSeenAt        time.Time `json:"l,omitzero"`
}

func storeRow(s flags.FeatureSummary) rowDocument {
	doc := rowDocument{rowHead: rowHead{
		Format: format, Name: s.Name, Project: s.Project, Type: s.Type, Description: s.Description, Stale: s.Stale,
		ImpressionData: s.ImpressionData, Archived: s.Archived,
		CreatedAt: s.CreatedAt, ArchivedAt: s.ArchivedAt, LastSeenAt: s.LastSeenAt,
		Tags: s.Tags, Favorites: s.Favorites, Relation: s.Relation, Entered: s.LastPhase,
	}, Environments: make(map[string]rowStanding, len(s.Environments))}
	for name, e := range s.Environments {
		doc.Environments[name] = rowStanding{
			Environment: e.EnvironmentUID, EnabledIn: e.EnabledIn, Strategies: e.Strategies,
			EnabledStrategies: e.EnabledStrategies, Variants: e.Variants, LastSeenAt: e.LastSeenAt,
		}
	}
	return doc
}

func (doc rowDocument) summary() flags.FeatureSummary {
	s := flags.FeatureSummary{
		Name: doc.Name, Project: doc.Project,
		Metadata: flags.Metadata{Type: doc.Type, Description: doc.Description, Stale: doc.Stale, ImpressionData: doc.ImpressionData},
		Archived: doc.Archived, CreatedAt: doc.CreatedAt, ArchivedAt: doc.ArchivedAt, LastSeenAt: doc.LastSeenAt,
		Tags: doc.Tags, Favorites: doc.Favorites, Relation: doc.Relation, LastPhase: doc.Entered,
		Environments: make(map[string]flags.EnvironmentSummary, len(doc.Environments)),
	}
	for name, e := range doc.Environments {
		s.Environments[name] = e.summary()
	}
	return s
}

func (e rowStanding) summary() flags.EnvironmentSummary {
	return flags.EnvironmentSummary{
		EnvironmentState: flags.EnvironmentState{EnvironmentUID: e.Environment, EnabledIn: e.EnabledIn},
		Strategies:       e.Strategies, EnabledStrategies: e.EnabledStrategies, Variants: e.Variants, LastSeenAt: e.LastSeenAt,
	}
}

// readRow decodes a list row.
func readRow(document string) (flags.FeatureSummary, error) {
	var doc rowDocument
	err := decode(document, &doc)
	return doc.summary(), err
}
